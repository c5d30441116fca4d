// The common part of both ways to instantiate a graph.
#pragma once

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

/// `result` is filled in on success, too.
CUresult instantiate(CUgraphExec* handle, CUgraph graph, unsigned long long flags,
                     CUDA_GRAPH_INSTANTIATE_PARAMS& result);

}  // namespace fairgv::cuda
