#include "tests/bench/support/text/command_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "runtime/base/near_word.hpp"
#include "runtime/control/command_line.hpp"
#include "sched/policies/registry.hpp"

namespace fairgv::bench {

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "{}: {}\n", app.get_name(), control::misuse_of(app, error));
    return 2;
  }
}

int exit_code(const CLI::App& app, const Result<void>& done) {
  if (done) return 0;
  fmt::print(stderr, "{}: {}\n", app.get_name(), done.error().message);
  return 1;
}

std::string known_policy(const std::string& name) {
  if (sched::find_policy(name) != nullptr) return {};
  return fmt::format("there is no policy '{}': {}", name, guess_and_list(name, sched::policy_names()));
}

std::string known_workload(const std::string& name) {
  const std::string folder = harness::beside("workloads");
  if (std::filesystem::is_regular_file(folder + "/" + name)) return {};
  std::string list;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.is_regular_file()) list += (list.empty() ? "" : ", ") + entry.path().filename().string();
  }
  return fmt::format("there is no workload '{}' in {}: {}", name, folder, guess_and_list(name, list));
}

void declare_device_cores(CLI::App& app, unsigned& cores) {
  app.add_option("--device-cores", cores,
                 "Give PoCL's device the first so many cores, and everything else the others (0: all share)")
      ->check(CLI::Range(0U, std::max(1U, std::thread::hardware_concurrency()) - 1));
}

Result<harness::Placement> placement_of(unsigned device_cores) {
  return device_cores == 0 ? harness::Placement() : harness::Placement::device_on_first(device_cores);
}

}  // namespace fairgv::bench
