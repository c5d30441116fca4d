#include "tests/bench/moves/moved_run.hpp"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "runtime/base/handle.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

using Clock = std::chrono::steady_clock;

constexpr const char* kMoved = "moved";  // the tenant
constexpr std::chrono::milliseconds kUntilMove{500};
constexpr int kCopies = 5;

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// The daemon's refusal to move a program that has ended, perhaps while it was to move.
bool says_ended(const std::string& answer) {
  return answer.find("there is no tenant") != std::string::npos ||
         answer.find("has ended") != std::string::npos;
}

/// Nothing if the program ends before.
Result<std::optional<MoveTimes>> move_tenant(const Tenancy& tenancy) {
  const auto begun = Clock::now();
  FAIRGV_TRY(finished, run({{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", beside("fairgv"), "migrate", kMoved,
                             "--device", "1", "--json", "--socket", tenancy.socket()},
                            {}}));
  const double duration = milliseconds(Clock::now() - begun);
  std::string text;
  for (const std::string& line : finished->lines) text += line;
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  if (finished->status != 0 && says_ended(text)) return std::optional<MoveTimes>();
  if (finished->status != 0 || !answer.is_object() || answer["moves"].size() != 1)
    return Error{"the program was not moved: " + text};
  const auto& move = answer["moves"][0];
  return std::optional(MoveTimes{duration, move.value("held_ms", 0.0), move.value("bytes", 0.0)});
}

/// Memory of a file that is its owner's alone.
struct Mapping {
  Mapping(int file, std::size_t size)
      : bytes(size), at(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) {}
  ~Mapping() {
    if (at != MAP_FAILED) ::munmap(at, bytes);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const std::size_t bytes;
  void* const at;
};

}  // namespace

std::string Way::name() const {
  return fmt::format("{}, {}", copied ? "copied" : "shared", linked ? kLink : "no link");
}

Result<Tenancy> start_pair_of_devices(const Placement& placement, bool linked) {
  std::string rules = "[device.1]\nsame_as = 1\n";
  if (linked) rules += fmt::format("[session]\nmove_link = \"{}\"\n", kLink);
  return Tenancy::start(placement, {{"POCL_DEVICES", "pthread pthread"}}, rules);
}

Result<MovedRun> run_and_move(const Tenancy& tenancy, const Way& way, std::vector<std::string> program,
                              bool moves) {
  if (way.copied) program.insert(program.begin(), {"/usr/bin/env", "FAIRGV_DIRECT_MEMORY=off"});
  const CommandLine command = tenancy.tenant(kMoved, 1, std::move(program));
  auto child = Child::start(command);
  if (!child) return child.error();
  FAIRGV_CHECK(await_output(child.value(), kMoved));
  MovedRun outcome;
  if (moves) {
    std::this_thread::sleep_for(kUntilMove);
    FAIRGV_TRY(moved, move_tenant(tenancy));
    outcome.move = moved.value();
  }
  FAIRGV_TRY(result, result_of(command, finish(std::move(child).value())));
  outcome.result = std::move(result).value();
  return outcome;
}

Result<double> copy_bandwidth(std::size_t bytes) {
  const std::vector<std::byte> from(bytes, std::byte{1});
  std::vector<std::byte> to(bytes, std::byte{2});
  double fastest = 0;
  for (int i = 0; i < kCopies; ++i) {
    const UniqueFd file(::memfd_create("fairgv-bench-copy", MFD_CLOEXEC));
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
      return Error{"cannot make a memory file"};
    const auto begun = Clock::now();
    const Mapping between(file.get(), bytes);
    if (between.at == MAP_FAILED) return Error{"cannot map a memory file"};
    std::memcpy(between.at, from.data(), bytes);
    std::memcpy(to.data(), between.at, bytes);
    fastest = std::max(fastest, static_cast<double>(bytes) / milliseconds(Clock::now() - begun));
  }
  return fastest;
}

}  // namespace fairgv::bench
