// random_opencl SEED [--steps N] [--platform WORD] [--device D] [--devices N] [--portable 0|1] [--failing
// 0|1]
//               [--stretch MS] [--details 0|1]
//
// Makes a random OpenCL program of the seed, runs it and prints a hash of its results at each check, and of
// all at the end. The results follow from the seed alone, on every device of one kind: a program that prints
// something else under FairGV, or when its session is moved, was disturbed.
//
// --steps: the program's length. --platform: it runs on the first whose name has this word; default: the
// first.
// --portable 1: it makes nothing that only one driver can make again, and its results are the same on each.
// --failing 1: events fail more often, portable or not.
// --stretch: the least time that it takes. --details 1: its steps and results on standard error.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

#include "tests/moves/deeds/generator.hpp"
#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/run.hpp"

namespace {

struct Options {
  std::uint64_t seed = 0, steps = 150, device = 0, devices = 1, portable = 0, failing = 0, stretch = 0,
                details = 0;
  std::string_view platform;  // a part of its name
};

bool read(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Options> options_of(int argc, char** argv) {
  Options options;
  if (argc < 2 || argc % 2 != 0 || !read(argv[1], options.seed)) return std::nullopt;
  for (int i = 2; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--platform") {
      options.platform = argv[i + 1];
      continue;
    }
    std::uint64_t* const number = name == "--steps"      ? &options.steps
                                  : name == "--device"   ? &options.device
                                  : name == "--devices"  ? &options.devices
                                  : name == "--portable" ? &options.portable
                                  : name == "--failing"  ? &options.failing
                                  : name == "--stretch"  ? &options.stretch
                                  : name == "--details"  ? &options.details
                                                         : nullptr;
    if (number == nullptr || !read(argv[i + 1], *number)) return std::nullopt;
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fairgv::moves;
  const auto options = options_of(argc, argv);
  if (!options) {
    std::fputs(
        "usage: random_opencl SEED [--steps N] [--platform WORD] [--device D] [--devices N]\n"
        "                     [--portable 0|1] [--failing 0|1] [--stretch MS] [--details 0|1]\n",
        stderr);
    return 2;
  }
  try {
    const Devices devices = find_devices(options->platform, options->device, options->devices);
    Capabilities can = capabilities_of(devices);
    can.only_portable = options->portable != 0;
    can.failing_events = options->failing != 0;
    run(make_plan(options->seed, options->steps, can), devices,
        {std::chrono::milliseconds(options->stretch), options->details != 0});
  } catch (const Unexpected& problem) {
    std::fprintf(stderr, "random_opencl: seed %llu, %s\n", static_cast<unsigned long long>(options->seed),
                 problem.what());
    return 1;
  }
  return 0;
}
