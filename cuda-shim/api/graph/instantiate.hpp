// What both ways to instantiate a graph come to.
#pragma once

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

/// Without an error, `result` says so, too.
CUresult instantiate(CUgraphExec* handle, CUgraph graph, unsigned long long flags,
                     CUDA_GRAPH_INSTANTIATE_PARAMS& result);

}  // namespace fairgv::cuda
