// A storm over sessions that move: tenants' programs begin and end, their sessions are migrated, parked and
// resumed at random, devices are drained, clients and workers are killed, and the daemon is replaced. Each
// program that was not hit ends with right results, and nothing is left behind.
//
// FAIRGV_STORM_SECONDS: how long each storm is (default 10).
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/support/load/holdings.hpp"
#include "tests/harness/seed.hpp"
#include "tests/integration/system/moves/moving.hpp"
#include "tests/moves/plan/random.hpp"
#include "tests/moves/storm/log.hpp"
#include "tests/moves/storm/orders.hpp"
#include "tests/moves/storm/patience.hpp"
#include "tests/moves/storm/slots.hpp"

namespace fairgv::integration {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::seconds length_of_storm() {
  const char* const value = std::getenv("FAIRGV_STORM_SECONDS");
  return std::chrono::seconds(value != nullptr ? std::stoul(value) : 10);
}

struct MovingStorm : System {
  static constexpr std::size_t kTenants = 5;
  static constexpr std::uint64_t kRandomPrograms = 2;

  void SetUp() override {
    std::filesystem::create_directory(folder_ / "parked");
    auto started =
        harness::Tenancy::start({}, environment(),
                                "memory = \"2GiB\"\n[device.1]\nsame_as = 1\n[session]\n"
                                "parked_folder = \"" +
                                    (folder_ / "parked").string() + "\"\nparked_memory = \"8MiB\"\n");
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
    daemon_ = ps()["daemon"]["pid"].get<pid_t>();
  }

  static harness::Environment environment() {
    harness::Environment all = bench::holdings_mark();
    all.emplace_back("POCL_DEVICES", "pthread pthread");
    return all;
  }

  /// The daemon's holdings when no program runs, after it has had programs that moved and has been replaced.
  bench::Holdings idle_holdings() {
    for (std::uint64_t seed = 1; seed <= kRandomPrograms; ++seed) slots_.expect(tenancy.value(), seed);
    EXPECT_EQ(fairgv({"restart"}).status, 0);
    bench::Holdings now;
    EXPECT_TRUE(storm::comes_true([&] {
      const bench::Holdings last = std::exchange(now, bench::Holdings::of(daemon_));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // connections that have ended are gone
      return now == last && now.children == 0 && now.processes == 0;
    })) << bench::shown(now);
    return now;
  }

  /// Kills a worker, or the second one of a session that moves. If the daemon says that a session was lost by
  /// that, the session's program may fail, and no other.
  void kill_worker() {
    const auto children = children_of(daemon_);
    if (children.empty()) return;
    const pid_t victim = *std::next(children.begin(), static_cast<long>(random_.below(children.size())));
    log_.add("kill worker " + std::to_string(victim));
    ::kill(victim, SIGKILL);
    ++kills_;
    // The daemon waits for a worker when it has booked its end.
    ASSERT_TRUE(storm::comes_true([&] { return ::kill(victim, 0) != 0; })) << victim << " does not end";
    const nlohmann::json report = ps();
    for (const auto& lost : report["kills"]) {
      if (lost["reason"].get<std::string>().find("was killed by signal 9") == std::string::npos) continue;
      if (lost_sessions_.insert(lost["session"].get<std::uint64_t>()).second)
        slots_.hit(lost["pid"].get<pid_t>());
    }
    EXPECT_LE(lost_sessions_.size(), kills_);
  }

  void do_something() {
    const std::string tenant = slots_.any_tenant(random_);
    switch (random_.below(36)) {
      case 0:
        return slots_.kill_client(tenant);
      case 1:
        return kill_worker();
      case 2:
        return orders_.give({"restart"});
      case 3:
        if (drains_) orders_.give({"drain", "0"});  // new programs have the other device
        return;
      case 4:
      case 5:
      case 6:
        return orders_.give({"undrain", "0"});
      case 7:
      case 8:
      case 9:
      case 10:
      case 11:
      case 12: {
        std::vector<std::string> park{"park", tenant};
        if (random_.one_in(2)) park.emplace_back("--wake");
        if (random_.one_in(2)) park.emplace_back("--to-file");
        return orders_.give(std::move(park));
      }
      case 13:
      case 14:
      case 15:
      case 16:
      case 17:
      case 18:
      case 19:
        return orders_.give({"resume", tenant});
      default: {
        std::vector<std::string> migrate{"migrate", tenant};
        if (!random_.one_in(3)) migrate.insert(migrate.end(), {"--device", std::to_string(random_.below(2))});
        return orders_.give(std::move(migrate));
      }
    }
  }

  /// No faults any more; running programs come to their end.
  void calm_down() {
    orders_.wait();
    orders_.give({"undrain", "0"});
    orders_.wait();
    slots_.stop();
    EXPECT_TRUE(storm::comes_true([&] {
      for (const std::string& tenant : slots_.tenants()) {
        orders_.give({"resume", tenant});
        orders_.wait();
      }
      return slots_.reap();
    })) << "programs do not end: "
        << ps().dump(1);
  }

  void check_holdings(const bench::Holdings& before) {
    bench::Holdings now;
    EXPECT_TRUE(storm::comes_true([&] { return (now = bench::Holdings::of(daemon_)) == before; }))
        << "before: " << bench::shown(before) << ", after: " << bench::shown(now);
    const nlohmann::json report = ps();
    EXPECT_EQ(report["daemon"]["pid"], daemon_) << "it is the same process";
    for (const auto& device : report["devices"]) EXPECT_EQ(device["memory_used"], 0) << device;
    for (const auto& tenant : report["tenants"]) {
      EXPECT_TRUE(tenant["sessions"].empty()) << tenant;
      for (const auto& used : tenant["memory_used"]) EXPECT_EQ(used, 0) << tenant;
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "parked"));
  }

  void print_logs() {
    std::cout << log_.text() << "The daemon's log:\n";
    std::ifstream log(std::filesystem::path(tenancy->socket()).replace_extension("log"));
    for (std::string line; std::getline(log, line);) std::cout << "| " << line << '\n';
  }

  void weather() {
    const bench::Holdings before = idle_holdings();
    ASSERT_FALSE(HasFailure());
    const auto end = Clock::now() + length_of_storm();
    while (Clock::now() < end && !HasFailure()) {
      slots_.look_after(tenancy.value(), random_);
      orders_.look_after();
      do_something();
      std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(120)));
    }
    calm_down();
    check_holdings(before);
    if (HasFailure()) print_logs();
    slots_.print(std::cout);
    orders_.print(std::cout);
    EXPECT_GT(orders_.done("migrate") + orders_.done("park"), 0U);
  }

  const harness::TemporaryFolder folder_;
  const std::uint64_t seed_ = harness::printed_seed();
  moves::Random random_{seed_};
  storm::Log log_;
  storm::Slots slots_{log_, folder_.path(), kTenants, kRandomPrograms};
  storm::Orders orders_{log_, [this] { return tenancy->socket(); }};
  bool drains_ = false;
  std::size_t kills_ = 0;                  // of workers
  std::set<std::uint64_t> lost_sessions_;  // by them
  pid_t daemon_ = 0;
};

TEST_F(MovingStorm, WithKernelsThatCrashLosesNothingAndLeavesNothing) {
  slots_.add_crashes();
  weather();
}

// A program that begins again after a crash asks for the device that it had, which is perhaps drained by
// then.
TEST_F(MovingStorm, WithDrainsLosesNothingAndLeavesNothing) {
  drains_ = true;
  weather();
}

}  // namespace
}  // namespace fairgv::integration
