// Decides which launches of a session run in parts: from the configuration and the program's wish.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/session/wish/slicing_wish.hpp"
#include "slicing/planner.hpp"

namespace fairgv::vgpu {

struct SlicingSettings {
  enum class Mode {
    off,
    shared,  // launches longer than a slice, while another tenant has the device open
    always,  // the same without another tenant: for measurements
    random,  // every launch, at random: for tests
    blocks,  // every launch, into parts of `number` work-groups: for measurements
  };
  Mode mode = Mode::shared;
  std::uint64_t number = 0;  // of modes random (the seed) and blocks
  slicing::PlannerSettings planner;
};

/// `configured`: "time", "static" or "off"; `floor`: work-groups of the smallest part. A wish goes before it.
SlicingSettings slicing_settings(std::string_view configured, std::uint64_t floor,
                                 const session::SlicingWish& wish);

}  // namespace fairgv::vgpu
