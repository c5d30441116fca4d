// The cores of a CPU device's threads: each thread has a core of its own; with [device] cores they use those
// cores only, and FairGV's own threads and the programs use the others.
#include <filesystem>
#include <map>

#include "runtime/base/core_set.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

using harness::Placement;
using harness::Tenancy;

/// By thread: its name and the cores that it may use ("0", "1-3").
std::multimap<std::string, std::string> cores_of_threads(pid_t process) {
  std::multimap<std::string, std::string> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::ifstream status(task.path() / "status");
    std::string name;
    for (std::string line; std::getline(status, line);) {
      const auto value = [&] { return line.substr(line.find('\t') + 1); };
      if (line.starts_with("Name:")) name = value();
      if (line.starts_with("Cpus_allowed_list:")) found.emplace(name, value());
    }
  }
  return found;
}

/// How many threads of alice's worker may use one core only, by core.
std::map<std::string, int> bound_threads(System& system) {
  harness::Child program = system.start_long_program("alice");
  EXPECT_TRUE(System::progresses(program));
  const nlohmann::json session = system.tenant("alice")["sessions"].at(0);
  std::map<std::string, int> bound;
  for (const auto& [name, cores] : cores_of_threads(session["worker_pid"].get<pid_t>())) {
    if (cores.find_first_of(",-") == std::string::npos) ++bound[cores];
  }
  return bound;
}

TEST_F(System, KeepsEachThreadOfTheDeviceOnACoreOfItsOwn) {
  const auto cores = cores_of_threads(::getpid()).begin()->second;
  if (cores.find_first_of(",-") == std::string::npos) GTEST_SKIP() << "there is one core only";
  const auto bound = bound_threads(*this);
#ifdef __SANITIZE_THREAD__
  // The sanitizer adds a thread to the driver's threads, which makes one too many: all stay where they are.
  EXPECT_TRUE(bound.empty());
#else
  const auto allowed = parse_core_set(cores);
  ASSERT_TRUE(allowed);
  EXPECT_EQ(bound.size(), static_cast<std::size_t>(CPU_COUNT(&allowed.value())));
  for (const auto& [core, threads] : bound) EXPECT_EQ(threads, 1) << "core " << core;
#endif
}

TEST_F(System, LeavesTheDevicesThreadsToTheKernelWhereTheConfigurationSaysSo) {
  start_daemon("core_per_thread = false");
  const auto cores = cores_of_threads(::getpid()).begin()->second;
  if (cores.find_first_of(",-") == std::string::npos) GTEST_SKIP() << "there is one core only";
  EXPECT_TRUE(bound_threads(*this).empty());
}

struct PlacedSystem : System {
  void SetUp() override {
    auto placement = Placement::device_on_first(1);
    if (!placement) GTEST_SKIP() << "needs two cores: " << placement.error().message;
    auto started = Tenancy::start(placement.value());
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }
};

TEST_F(PlacedSystem, KeepsTheDeviceAndEverythingElseApart) {
  harness::Child program = start_long_program("alice");
  ASSERT_TRUE(progresses(program));
  const nlohmann::json session = tenant("alice")["sessions"].at(0);
  const auto worker = cores_of_threads(session["worker_pid"].get<pid_t>());
  std::size_t device_threads = 0;
  std::size_t own_threads = 0;
  for (const auto& [name, cores] : worker) {
    // The driver starts its threads while a thread of the worker opens it, so its threads are on that
    // thread's core.
    if (cores == "0") {
      ++device_threads;
    } else {
      EXPECT_NE(cores.front(), '0') << "a thread '" << name << "' may run anywhere";
      ++own_threads;
    }
  }
  EXPECT_GE(device_threads, 1U);
  EXPECT_GE(own_threads, 1U);
  const auto daemon = cores_of_threads(ps()["daemon"]["pid"].get<pid_t>());
  const auto dispatcher = daemon.find("dispatcher");
  ASSERT_NE(dispatcher, daemon.end());
  EXPECT_NE(dispatcher->second.front(), '0');
  for (const auto& [name, cores] : cores_of_threads(program.pid())) EXPECT_NE(cores.front(), '0');
}

// GPU-centric coscheduling (FairGV, section 3.2.3) wakes the threads of such a program with its turns.
TEST_F(PlacedSystem, TellsAProgramThatWaitsForEveryKernelFromOneThatRarelyWaits) {
  const auto start = [&](const char* name, std::vector<std::string> options) {
    options.insert(options.begin(), {workload("computeLoop"), "--seconds", "60", "--progress-ms", "50"});
    auto child = harness::Child::start(tenancy->tenant(name, 1, std::move(options)));
    EXPECT_TRUE(child);
    return std::move(child).value();
  };
  harness::Child waits = start("alice", {"--iterations", "20", "--sync", "every"});
  const auto interactive = [&](const char* name) {
    const auto found = tenant(name);
    return !found.is_null() && !found["sessions"].empty() && found["sessions"][0]["interactive"].get<bool>();
  };
  EXPECT_TRUE(eventually([&] { return interactive("alice"); })) << "alone";
  harness::Child patient = start("bob", {"--iterations", "500", "--sync", "batch", "--batch", "50"});
  ASSERT_TRUE(progresses(patient));
  EXPECT_TRUE(progresses(waits));
  EXPECT_TRUE(eventually([&] { return interactive("alice"); })) << "beside another";
  EXPECT_TRUE(eventually([&] { return !interactive("bob"); }));
}

}  // namespace
}  // namespace fairgv::integration
