// One node of a graph that is launched: the memory that its launch has found, and its way into a stream.
#pragma once

#include <memory>

#include "cuda-shim/api/graph/detour.hpp"
#include "cuda-shim/api/graph/graph.hpp"

namespace fairgv::cuda {

/// The meaning of addresses at one launch. Bodies of conditional nodes run later, when the memory may have
/// been freed in the stream's order, and nobody finds it any more.
struct FoundPlaces {
  Place to, from;  // of a copy
  Extent extent;
  std::shared_ptr<Allocation> filled;  // null: the fill is empty
};

/// Puts the node's work into the stream. Nothing for nodes that only contain others: their launch does that.
CUresult enqueue_step(Driver& driver, const std::shared_ptr<Stream>& stream, const NodeWork& work,
                      const FoundPlaces& places, const Detour& detour);

}  // namespace fairgv::cuda
