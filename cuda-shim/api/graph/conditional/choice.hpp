// Which body of a conditional node runs (CUDA Driver API, "CUgraphConditionalNodeType"). Pure logic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

/// Whether such a node may have so many bodies.
constexpr bool is_body_count(CUgraphConditionalNodeType type, std::size_t bodies) {
  switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
      return bodies == 1 || bodies == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
      return bodies == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return bodies > 0;
    default:
      return false;
  }
}

/// The body that runs next. Nothing: none does.
constexpr std::optional<std::size_t> chosen_body(CUgraphConditionalNodeType type, std::size_t bodies,
                                                 std::uint32_t value) {
  std::size_t body = value;
  if (type == CU_GRAPH_COND_TYPE_IF) body = value != 0 ? 0 : 1;
  if (type == CU_GRAPH_COND_TYPE_WHILE) body = value != 0 ? 0 : bodies;
  if (body < bodies) return body;
  return std::nullopt;
}

}  // namespace fairgv::cuda
