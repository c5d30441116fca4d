// Random programs whose output follows from their seeds alone, and that must not notice when their sessions
// move.
//
// FAIRGV_MOVES_PROGRAMS: how many programs a test runs; FAIRGV_MOVES_FIRST: the seed of the first (default
// 1). The programs follow from their own seeds; when and how they are moved, from FAIRGV_TEST_SEED.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/harness/seed.hpp"
#include "tests/integration/system/fixture.hpp"
#include "tests/moves/plan/random.hpp"

namespace fairgv::integration {

struct MovedPrograms : System {
  using Lines = std::vector<std::string>;

  /// How long a program takes at least that is to be moved.
  static constexpr std::chrono::milliseconds kStretch{1500};
  static constexpr std::chrono::milliseconds kLongestStretch{24'000};
  static constexpr std::uint64_t kMostMoves = 5;

  /// `program`: the name of the program, beside the tests. `programs`: how many a test runs by default.
  MovedPrograms(std::string program, std::uint64_t programs)
      : program_(std::move(program)), programs_(programs) {}

  /// Calls `check` with the seed of each program, until one fails.
  template <class Check>
  void for_each_program(const Check& check) const {
    const std::uint64_t first = number_of("FAIRGV_MOVES_FIRST", 1);
    const std::uint64_t count = number_of("FAIRGV_MOVES_PROGRAMS", programs_);
    for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
      SCOPED_TRACE(program_ + " " + std::to_string(seed));
      check(seed);
    }
  }

  static std::string tenant_of(std::uint64_t seed) { return "program-" + std::to_string(seed); }

  std::vector<std::string> program(std::uint64_t seed, std::chrono::milliseconds stretch = {}) const {
    return {harness::beside(program_), std::to_string(seed), "--stretch", std::to_string(stretch.count())};
  }

  harness::CommandLine as_tenant(std::uint64_t seed, const std::string& slice,
                                 std::chrono::milliseconds stretch = {}) {
    auto command = tenancy->tenant(tenant_of(seed), 1, program(seed, stretch));
    command.environment.emplace_back("FAIRGV_SLICE", slice);
    return command;
  }

  /// The lines that the program prints.
  static Lines lines_of(const harness::CommandLine& command) {
    const auto finished = harness::run(command);
    EXPECT_TRUE(finished);
    if (!finished) return {};
    EXPECT_EQ(finished->status, 0) << joined(finished.value());
    return sorted(finished->lines);
  }

  /// A move of the running program's session: whether it was moved. A failure is told, and is none of the
  /// test's if the program has ended.
  using Move = std::function<bool()>;

  /// The lines that the program prints while its session is moved at random moments, some of `slice` and of
  /// the moves being the caller's.
  Lines lines_of_moved(std::uint64_t seed, const std::string& slice, const Move& move) {
    // A machine that is busy may not get to a move before the program has ended.
    std::chrono::milliseconds stretch = kStretch;
    Lines lines = lines_of_moved(seed, slice, move, stretch);
    for (; moves_ == 0 && !HasFailure() && stretch < kLongestStretch; stretch *= 4)
      lines = lines_of_moved(seed, slice, move, stretch * 4);
    EXPECT_GT(moves_, 0U) << "the program has ended before its session was moved";
    return lines;
  }

  static std::string text_of(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += "| " + line + '\n';
    return text;
  }

  moves::Random random_{0};
  std::uint64_t moves_ = 0;  // of the program that runs

 private:
  Lines lines_of_moved(std::uint64_t seed, const std::string& slice, const Move& move,
                       std::chrono::milliseconds stretch) {
    moves_ = 0;
    auto started = harness::Child::start(as_tenant(seed, slice, stretch));
    EXPECT_TRUE(started);
    if (!started) return {};
    harness::Child child = std::move(started).value();
    Lines printed;
    EXPECT_TRUE(eventually([&] { return sessions_of(tenant_of(seed)) == 1; }));
    std::vector<std::chrono::milliseconds> moments;
    for (std::uint64_t more = random_.between(1, kMostMoves); more > 0; --more)
      moments.emplace_back(random_.below(static_cast<std::uint64_t>(stretch.count())));
    std::sort(moments.begin(), moments.end());
    // Soon enough that each program is moved.
    moments.front() = std::min(moments.front(), stretch / 4);
    const auto start = std::chrono::steady_clock::now();
    for (const std::chrono::milliseconds moment : moments) {
      while (!child.ended() && std::chrono::steady_clock::now() < start + moment) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        take_lines(child, printed);
      }
      if (child.ended()) break;
      if (move()) {
        ++moves_;
        continue;
      }
      EXPECT_TRUE(eventually([&] {
        take_lines(child, printed);
        return child.ended();
      })) << "the program goes on, and is not moved";
    }
    const auto finished = harness::finish(std::move(child));
    printed.insert(printed.end(), finished.lines.begin(), finished.lines.end());
    EXPECT_EQ(finished.status, 0) << text_of(printed);
    return sorted(std::move(printed));
  }
  static std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
    const char* const value = std::getenv(variable);
    return value != nullptr ? std::stoull(value) : otherwise;
  }
  /// Its checks have numbers; what its kernels print may come in any order.
  static Lines sorted(Lines lines) {
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  static void take_lines(harness::Child& child, Lines& printed) {
    for (std::string& line : child.read_lines()) printed.push_back(std::move(line));
  }

  const std::string program_;
  const std::uint64_t programs_;
};

}  // namespace fairgv::integration
