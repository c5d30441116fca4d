// The pace of trials that mostly fail.
#include <gtest/gtest.h>

#include <vector>

#include "sched/probe_pace.hpp"

namespace fairgv::sched {
namespace {

/// The occasions between trials, all of which fail.
std::vector<std::uint32_t> pauses_between_trials(ProbePace& pace, std::size_t trials) {
  std::vector<std::uint32_t> pauses;
  for (std::uint32_t pause = 0; pauses.size() < trials; ++pause) {
    if (pace.due()) {
      pauses.push_back(pause);
      pause = UINT32_MAX;  // the trial itself does not count towards the next pause
    }
    pace.failed();
  }
  return pauses;
}

TEST(ProbePace, TrialsThatFailBecomeRare) {
  ProbePace pace;
  EXPECT_EQ(pauses_between_trials(pace, 5), (std::vector<std::uint32_t>{16, 32, 64, 64, 64}));
}

TEST(ProbePace, OneThatPaysMakesThemFrequentAgain) {
  ProbePace pace;
  pauses_between_trials(pace, 3);
  pace.paid();
  EXPECT_EQ(pauses_between_trials(pace, 2), (std::vector<std::uint32_t>{16, 32}));
}

TEST(ProbePace, IsHopelessFromTheFirstTrialThatFailsUntilSomethingPays) {
  ProbePace pace;
  for (std::uint32_t failure = 0; failure < ProbePace::kFirst; ++failure) {
    pace.failed();
    EXPECT_FALSE(pace.hopeless());
  }
  ASSERT_TRUE(pace.due());
  pace.failed();
  EXPECT_TRUE(pace.hopeless());
  pace.failed();
  EXPECT_TRUE(pace.hopeless());
  pace.paid();
  EXPECT_FALSE(pace.hopeless());
}

}  // namespace
}  // namespace fairgv::sched
