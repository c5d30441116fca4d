// Every fuzz target on its seeds, and on random changes of them: under every compiler and sanitizer that the
// test-suite is built with. tools/fuzz searches longer.
#include <gtest/gtest.h>

#include <string>

#include "tests/fuzz/target.hpp"
#include "tests/fuzz/worker_script.hpp"
#include "tests/fuzz/worker_session.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::fuzz {
namespace {

struct FuzzTarget : ::testing::TestWithParam<const Target*> {};

TEST_P(FuzzTarget, TakesItsSeeds) {
  for (const Bytes& seed : GetParam()->seeds()) GetParam()->run(seed);
}

TEST_P(FuzzTarget, TakesRandomChangesOfItsSeeds) {
  // A worker's inputs begin sessions on the real driver; tools/fuzz is the place to find that driver's own
  // crashes.
  const int rounds = GetParam() == &kWorker ? 8 : 40;
  Random random(harness::printed_seed());
  for (Bytes input : GetParam()->seeds()) {
    const Bytes seed = input;
    for (int round = 0; round < rounds; ++round) {
      if (round % 8 == 0) input = seed;
      GetParam()->mutate(input, random);
      GetParam()->run(input);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, FuzzTarget, ::testing::ValuesIn(kTargets),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(FuzzWorker, BeginsWithWhatAnHonestClientSays) {
  for (const auto& script : worker_scripts()) {
    WorkerSession session({});
    for (const Record& record : script) {
      const auto played = play(record, session);
      EXPECT_TRUE(played) << played.error().message;
    }
  }
}

}  // namespace
}  // namespace fairgv::fuzz
