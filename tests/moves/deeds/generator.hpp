// From a seed to a random program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/moves/plan/plan.hpp"

namespace fairgv::moves {

/// The same plan for the same arguments. It makes all that it uses and releases it. `deeds`: how long it is.
Plan make_plan(std::uint64_t seed, std::size_t deeds, const Capabilities& can);

}  // namespace fairgv::moves
