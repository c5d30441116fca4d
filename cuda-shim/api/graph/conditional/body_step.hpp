// A node of a conditional node's body, as a launch has found it.
#pragma once

#include <memory>

#include "cuda-shim/api/graph/conditional/conductor.hpp"
#include "cuda-shim/api/graph/step.hpp"

namespace fairgv::cuda {

struct BodyStep {
  NodeWork work;
  FoundPlaces places;
  Detour detour;
  std::shared_ptr<const ConditionalPlan> conditional;  // a nested one; null: other work
};

}  // namespace fairgv::cuda
