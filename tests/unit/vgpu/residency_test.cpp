// The blocks of one device whose memory is lent: which come in and which go out, by the plan and by the terms
// of the daemon, whom the test plays. Moves are made by the residency's own thread.
#include "runtime/vgpu/residency/residency.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fairgv::vgpu {
namespace {

/// All that happened, in its order.
class MoveLog {
 public:
  void add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    all_.push_back(what);
    added_.notify_all();
  }
  /// Waits until so much has happened. The bound only keeps a broken test from hanging.
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    added_.wait_for(lock, std::chrono::seconds(60), [&] { return all_.size() >= count; });
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::string> all_;
};

class LoggedBlock final : public Block {
 public:
  LoggedBlock(std::string name, std::uint64_t bytes, MoveLog& log)
      : Block(bytes), name_(std::move(name)), log_(log) {}

  std::atomic<std::int32_t> error{0};
  std::atomic<bool> is_current{false};

 private:
  std::int32_t bring_in(BlockMove& move) override {
    if (error != 0) return error;
    move.moved(bytes());
    log_.add("+" + name_);
    return 0;
  }
  std::int32_t take_out(BlockMove& move) override {
    if (error != 0) return error;
    move.moved(bytes());
    log_.add("-" + name_);
    return 0;
  }
  bool is_kept_outside() const override { return is_current; }

  const std::string name_;
  MoveLog& log_;
};

class UsingCommand final : public DeviceCommand {
 public:
  explicit UsingCommand(std::vector<Block*> uses)
      : DeviceCommand(std::make_shared<Lane>(true, 0, Clock::none), 0), uses_(std::move(uses)) {}
  std::int32_t issue() override { return 0; }
  void watch(CompletionSink&) override {}
  void flush() override {}
  const CommandTimes* times() const override { return nullptr; }
  sched::CommandKind kind() const override { return 1; }
  void blocks(std::vector<Block*>& to) const override { to.insert(to.end(), uses_.begin(), uses_.end()); }

 private:
  const std::vector<Block*> uses_;
};

using Commands = std::deque<std::shared_ptr<DeviceCommand>>;

struct ResidencyTest : ::testing::Test {
  ResidencyTest() {
    page.is_lent = 1;
    residency.emplace(Residency::Settings{page});
    for (const char* const name : {"a", "b", "c", "d"}) {
      blocks.push_back(std::make_unique<LoggedBlock>(name, 100, log));
      residency->add(*blocks.back());
    }
  }
  ~ResidencyTest() override {
    for (const auto& block : blocks) residency->remove(*block);
  }
  ResidencyTest(const ResidencyTest&) = delete;
  ResidencyTest& operator=(const ResidencyTest&) = delete;

  void allow(std::uint64_t bytes, std::uint64_t most = 400) {
    daemon.allow(bytes, most);
    EXPECT_TRUE(residency->changed());
    residency->look();
    EXPECT_FALSE(residency->changed());
  }
  std::shared_ptr<UsingCommand> command(const std::vector<std::size_t>& uses) {
    std::vector<Block*> named;
    for (const std::size_t use : uses) named.push_back(blocks[use].get());
    return std::make_shared<UsingCommand>(named);
  }
  /// Commands that use one block each.
  Commands each(const std::vector<std::size_t>& uses) {
    Commands commands;
    for (const std::size_t use : uses) commands.push_back(command({use}));
    return commands;
  }
  /// A block is there a little after its move has been logged.
  void wait_for_all(const Commands& commands) {
    for (const auto& command : commands) {
      while (residency->fit(*command) != Residency::Fit::there) std::this_thread::yield();
    }
  }
  /// Plans them, and waits until their blocks are there.
  void bring_in(const Commands& commands) {
    residency->plan(commands);
    wait_for_all(commands);
  }
  void use(const Commands& commands) {
    for (const auto& command : commands) EXPECT_TRUE(residency->use(*command));
  }

  MoveLog log;
  session::DeviceResidency page;
  session::ResidencyLender daemon{page};
  std::optional<Residency> residency;
  std::vector<std::unique_ptr<LoggedBlock>> blocks;
};

TEST_F(ResidencyTest, WantedBlocksComeInAsFarAsTheTermsAllow) {
  allow(0);
  residency->plan(each({2, 0, 1}));
  EXPECT_EQ(page.wants.load(), 300U);
  EXPECT_EQ(page.lacks.load(), 100U) << "of the next command only";
  allow(250);
  EXPECT_EQ(log.wait_for(2), (std::vector<std::string>{"+c", "+a"})) << "in the order of the commands";
  wait_for_all(each({2, 0}));
  EXPECT_EQ(residency->fit(*command({1})), Residency::Fit::to_come);
  allow(300);
  EXPECT_EQ(log.wait_for(3).back(), "+b");
}

TEST_F(ResidencyTest, OutGoBlocksThatAreNotWantedBeforeOthers) {
  allow(400);
  bring_in(each({0, 1, 2, 3}));
  use(each({0, 1, 2, 3}));
  residency->rests();
  residency->turn_begins();
  residency->turn_begins();  // they were used long ago
  residency->plan(each({1}));
  allow(100);
  EXPECT_EQ(log.wait_for(7), (std::vector<std::string>{"+a", "+b", "+c", "+d", "-a", "-c", "-d"}));
}

TEST_F(ResidencyTest, OfWantedBlocksTheLastGoFirst) {
  allow(400);
  bring_in(each({3, 1, 0, 2}));
  allow(150);
  const auto moves = log.wait_for(7);
  EXPECT_EQ(std::vector(moves.begin() + 4, moves.end()), (std::vector<std::string>{"-c", "-a", "-b"}));
}

TEST_F(ResidencyTest, BlocksWhoseContentsAreOutsideGoBeforeOthers) {
  allow(400);
  bring_in(each({0, 1, 2, 3}));
  blocks[1]->is_current = true;
  allow(300);
  EXPECT_EQ(log.wait_for(5).back(), "-b") << "nothing has to be copied";
}

TEST_F(ResidencyTest, NothingGoesOutWhileCommandsMayBeUnderWay) {
  allow(200);
  bring_in(each({0, 1}));
  use(each({0}));
  allow(0);
  residency->plan(each({2}));
  EXPECT_EQ(page.agreed.load(), 200U) << "it is not given back yet";
  EXPECT_EQ(log.wait_for(0).size(), 2U);
  residency->rests();
  log.wait_for(4);
  daemon.look();
  EXPECT_TRUE(residency->fit(*command({0})) != Residency::Fit::there);
}

TEST_F(ResidencyTest, WhatIsGivenBackIsGoneBeforeTheDaemonHearsOfIt) {
  allow(200);
  bring_in(each({0, 1}));
  daemon.look();
  EXPECT_EQ(daemon.held(), 200U);
  daemon.allow(100, 400);
  daemon.look();
  EXPECT_EQ(daemon.held(), 200U) << "the worker has not answered";
  EXPECT_TRUE(daemon.shrinks());
  residency->look();
  log.wait_for(3);
  while (daemon.shrinks()) daemon.look();
  EXPECT_EQ(daemon.held(), 100U);
}

TEST_F(ResidencyTest, ACommandThatCanNeverFitIsToldSo) {
  allow(200, 250);
  EXPECT_EQ(residency->fit(*command({0, 1, 2})), Residency::Fit::never);
  EXPECT_EQ(residency->fit(*command({0, 1})), Residency::Fit::to_come);
  residency->set_others(100);
  EXPECT_EQ(residency->fit(*command({0, 1})), Residency::Fit::never) << "other memory stays there";
}

TEST_F(ResidencyTest, ABlockThatCannotComeInFailsOneCommand) {
  allow(200);
  blocks[0]->error = -4;
  const auto first = command({0, 1});
  residency->plan({first});
  EXPECT_EQ(log.wait_for(1), std::vector<std::string>{"+b"});
  while (residency->fit(*first) != Residency::Fit::there) residency->look();
  EXPECT_TRUE(residency->use(*first));
  EXPECT_EQ(first->memory_error, -4);
  blocks[0]->error = 0;
  const auto second = command({0});
  residency->plan({second});
  EXPECT_EQ(log.wait_for(2).back(), "+a");
  wait_for_all({second});
  EXPECT_TRUE(residency->use(*second));
  EXPECT_EQ(second->memory_error, 0);
}

TEST_F(ResidencyTest, ASetLargerThanTheTermsIsUsedPieceByPiece) {
  allow(200, 200);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 4; ++i) {
      const Commands next = each({i});
      bring_in(next);
      use(next);
      EXPECT_LE(page.resident.load(), 200U);
      residency->rests();
    }
  }
}

TEST_F(ResidencyTest, PinnedBlocksStay) {
  allow(200);
  bring_in(each({0, 1}));
  {
    const Residency::Pin pin(*residency, *blocks[0]);
    allow(0);
    EXPECT_EQ(log.wait_for(3).back(), "-b");
    while (page.agreed.load() != 100U) std::this_thread::yield();
  }
  EXPECT_EQ(log.wait_for(4).back(), "-a");
}

TEST_F(ResidencyTest, APinnedBlockComesInWhateverTheTermsAre) {
  allow(0);
  const Residency::Pin pin(*residency, *blocks[3]);
  EXPECT_EQ(residency->bring_in_now(*blocks[3]), 0);
  daemon.look();
  EXPECT_EQ(daemon.held(), 100U) << "the daemon counts it";
}

TEST_F(ResidencyTest, OnDemandOnlyTheNextCommandsBlocksAreWanted) {
  page.on_demand = 1;
  allow(400);
  residency->plan(each({1, 0}));
  EXPECT_EQ(page.wants.load(), 100U);
  EXPECT_EQ(log.wait_for(1), std::vector<std::string>{"+b"});
}

TEST_F(ResidencyTest, ASilentOneSaysAndMovesNothingBeforeItTakesOver) {
  session::DeviceResidency other;
  other.agreed = 700;  // by the worker that leaves
  session::ResidencyLender lender(other);
  lender.allow(700, 700);
  MoveLog moves;
  Residency next({.page = other, .is_silent = true});
  LoggedBlock block("x", 100, moves);
  next.add(block);
  const auto use = std::make_shared<UsingCommand>(std::vector<Block*>{&block});
  next.plan({use});
  EXPECT_EQ(other.agreed.load(), 700U);
  EXPECT_EQ(other.wants.load(), 0U);
  next.take_over();
  EXPECT_EQ(moves.wait_for(1).size(), 1U);
  next.remove(block);
}

/// Blocks are used, pinned, removed and made while the daemon changes its terms at random: a command's blocks
/// are always there, and never more than was agreed to.
TEST(ResidencyStorm, NeverHasMoreThanItAgreedTo) {
  const auto seed = static_cast<unsigned>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  };
  session::DeviceResidency page;
  session::ResidencyLender daemon(page);
  Residency residency({.page = page});
  MoveLog log;
  std::vector<std::unique_ptr<LoggedBlock>> blocks;
  daemon.allow(1'000, 1'000);
  residency.look();
  for (int step = 0; step < 3'000; ++step) {
    if (blocks.size() < 12) {
      blocks.push_back(std::make_unique<LoggedBlock>("x", 10 + below(90), log));
      residency.add(*blocks.back());
    }
    if (below(10) == 0) {
      const std::size_t gone = below(blocks.size());
      residency.remove(*blocks[gone]);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(gone));
      continue;
    }
    if (below(4) == 0) {
      const std::uint64_t most = 200 + below(800);
      daemon.allow(most, most);
    }
    residency.look();
    std::vector<Block*> named{blocks[below(blocks.size())].get(), blocks[below(blocks.size())].get()};
    const auto command = std::make_shared<UsingCommand>(named);
    residency.plan({command});
    while (residency.fit(*command) != Residency::Fit::there) std::this_thread::yield();
    ASSERT_TRUE(residency.use(*command));
    daemon.look();
    ASSERT_LE(page.resident.load(), daemon.held());
    if (below(3) != 0) residency.rests();
    residency.rests();
    if (below(5) == 0) residency.turn_begins();
  }
  for (const auto& block : blocks) residency.remove(*block);
}

}  // namespace
}  // namespace fairgv::vgpu
