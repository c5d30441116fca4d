// Runs a plan on the devices of a platform.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/moves/plan/plan.hpp"

namespace fairgv::moves {

/// A platform's devices as far as a program uses them.
struct Devices {
  cl_platform_id platform = nullptr;
  std::vector<cl_device_id> devices;
  bool is_bare_driver = false;
};

/// `count` devices, from the one with the index `first` on, of the first platform whose name has this word.
/// Throws Unexpected without them.
Devices find_devices(std::string_view platform, std::size_t first, std::size_t count);

/// The capabilities that all of them have.
Capabilities capabilities_of(const Devices& devices);

struct Manner {
  std::chrono::milliseconds stretch{0};  // the least time of all steps, with sleep between some of them
  bool details = false;                  // each step and each result is a line on standard error
};

/// Carries out all steps and prints the results. Throws Unexpected, which names the step.
void run(const Plan& plan, const Devices& devices, const Manner& manner);

}  // namespace fairgv::moves
