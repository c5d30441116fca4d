#include "tests/bench/support/load/holdings.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "runtime/daemon/worker/control_group.hpp"

namespace fairgv::bench {
namespace {

namespace fs = std::filesystem;

/// Not a FAIRGV_* name: workers do not inherit those.
constexpr const char* kMark = "STORM_OF_PROCESS";

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Processes and descriptors come and go while they are listed.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    found.push_back(at->path());
  }
  return found;
}

std::size_t memory_files(pid_t process) {
  std::istringstream maps(text_of(fmt::format("/proc/{}/maps", process)));
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:") != std::string::npos) ++count;
  return count;
}

std::size_t children_of(pid_t process) {
  std::istringstream list(text_of(fmt::format("/proc/{0}/task/{0}/children", process)));
  std::size_t count = 0;
  for (pid_t child = 0; list >> child;) ++count;
  return count;
}

std::size_t marked_processes(pid_t daemon) {
  const std::string mark = fmt::format("{}={}", kMark, ::getpid()) + '\0';
  std::size_t count = 0;
  for (const fs::path& process : entries("/proc")) {
    const std::string name = process.filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc() || pid == daemon)
      continue;
    if (text_of(process / "environ").find(mark) != std::string::npos) ++count;
  }
  return count;
}

std::size_t control_groups_of(pid_t daemon) {
  const auto folder = daemon::control_group_folder(text_of("/proc/self/mountinfo"),
                                                   text_of(fmt::format("/proc/{}/cgroup", daemon)));
  if (!folder) return 0;
  const std::string prefix = fmt::format("fairgv-{}-", daemon);
  const auto all = entries(*folder);
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const fs::path& each) {
    return each.filename().string().starts_with(prefix);
  }));
}

}  // namespace

harness::Environment holdings_mark() {
  return {{kMark, std::to_string(::getpid())}};
}

Holdings Holdings::of(pid_t daemon) {
  return {.descriptors = entries(fmt::format("/proc/{}/fd", daemon)).size(),
          .memory_files = bench::memory_files(daemon),
          .children = children_of(daemon),
          .processes = marked_processes(daemon),
          .control_groups = control_groups_of(daemon),
          .shared_memory = entries("/dev/shm").size()};
}

std::string shown(const Holdings& holdings) {
  return fmt::format(
      "{} descriptors, {} shared mappings, {} workers, {} of their processes, {} control groups, {} files in "
      "/dev/shm",
      holdings.descriptors, holdings.memory_files, holdings.children, holdings.processes,
      holdings.control_groups, holdings.shared_memory);
}

}  // namespace fairgv::bench
