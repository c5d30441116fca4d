// Plans by themselves, without OpenCL: what is ordered before what, and that each plan makes what it uses and
// releases what it makes.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/moves/deeds/generator.hpp"
#include "tests/moves/plan/order.hpp"

namespace fairgv::moves {
namespace {

using Scope = Order::Scope;

TEST(PlanOrder, ACommandOfAnInOrderQueueIsBehindAllBeforeIt) {
  Order order;
  const Number queue = order.add_queue(false);
  const Number first = order.add_command(queue, {}, Scope::kCommand);
  order.add_command(queue, {}, Scope::kCommand);
  EXPECT_TRUE(order.is_before(first, queue, {}));
}

TEST(PlanOrder, OnlyEventsOrderTheCommandsOfOtherQueues) {
  Order order;
  const Number queue = order.add_queue(false), other = order.add_queue(true);
  const Number first = order.add_command(queue, {}, Scope::kCommand);
  const Number second = order.add_command(queue, {}, Scope::kCommand);
  EXPECT_FALSE(order.is_before(first, other, {}));
  EXPECT_TRUE(order.is_before(first, other, {second}));
  const Number third = order.add_command(other, {second}, Scope::kCommand);
  EXPECT_FALSE(order.is_before(third, other, {}));
  EXPECT_TRUE(order.is_before(first, other, {third}));
}

TEST(PlanOrder, ABarrierIsBehindTheWholeQueueAndBeforeAllThatFollows) {
  Order order;
  const Number queue = order.add_queue(true);
  const Number first = order.add_command(queue, {}, Scope::kCommand);
  EXPECT_FALSE(order.is_before(first, queue, {}));
  order.add_command(queue, {}, Scope::kBarrier);
  EXPECT_TRUE(order.is_before(first, queue, {}));
}

TEST(PlanOrder, AMarkerIsBehindTheWholeQueueOrBehindItsWaitListAlone) {
  Order order;
  const Number queue = order.add_queue(true);
  const Number first = order.add_command(queue, {}, Scope::kCommand);
  const Number second = order.add_command(queue, {}, Scope::kCommand);
  const Number behind_second = order.add_command(queue, {second}, Scope::kMarker);
  EXPECT_FALSE(order.is_before(first, queue, {behind_second}));
  const Number behind_all = order.add_command(queue, {}, Scope::kMarker);
  EXPECT_TRUE(order.is_before(first, queue, {behind_all}));
  EXPECT_FALSE(order.is_before(first, queue, {}));
}

TEST(PlanOrder, AnEndIsTheEndOfAllThatWasBefore) {
  Order order;
  const Number queue = order.add_queue(true);
  const Number user_event = order.add_user_event();
  const Number first = order.add_command(queue, {user_event}, Scope::kCommand);
  const Number second = order.add_command(queue, {first}, Scope::kCommand);
  const Number other = order.add_command(queue, {}, Scope::kCommand);
  EXPECT_EQ(order.user_events_before({second}), std::vector<Number>{user_event});
  order.end(second);
  EXPECT_TRUE(order.has_ended(user_event));
  EXPECT_TRUE(order.has_ended(first));
  EXPECT_FALSE(order.has_ended(other));
  EXPECT_EQ(order.pending(queue), std::vector<Number>{other});
}

// ---- whole plans

constexpr std::size_t kDeeds = 150;
constexpr std::uint64_t kPlans = 300;
const Capabilities kAll{1, true, true, true, true, false, false};

/// The references that the program holds, by the kind and number of the object.
class References {
 public:
  void follow(const Step& step) {
    std::visit([this](const auto& each) { of(each); }, step);
  }
  std::map<std::pair<Kind, Number>, int> all;

 private:
  void made(Kind kind, Number number) {
    EXPECT_EQ((all[{kind, number}]), 0) << "made twice";
    all[{kind, number}] = 1;
  }
  void used(Kind kind, Number number) { EXPECT_GT((all[{kind, number}]), 0) << "used when it is not there"; }

  void of(const MakeContext& step) { made(Kind::kContext, step.context); }
  void of(const MakeQueue& step) {
    used(Kind::kContext, step.context);
    made(Kind::kQueue, step.queue);
  }
  void of(const MakeBuffer& step) { made(Kind::kMemory, step.memory); }
  void of(const MakeSubBuffer& step) {
    used(Kind::kMemory, step.parent);
    made(Kind::kMemory, step.memory);
  }
  void of(const MakeImage& step) {
    if (step.buffer != kNone) used(Kind::kMemory, step.buffer);
    made(Kind::kMemory, step.memory);
  }
  void of(const MakeSampler& step) { made(Kind::kSampler, step.sampler); }
  void of(const MakeProgram& step) { made(Kind::kProgram, step.program); }
  void of(const MakeKernel& step) {
    used(Kind::kProgram, step.program);
    made(Kind::kKernel, step.kernel);
  }
  void of(const CloneKernel& step) {
    used(Kind::kKernel, step.from);
    made(Kind::kKernel, step.kernel);
  }
  void of(const SetArgument& step) {
    used(Kind::kKernel, step.kernel);
    if (const auto* memory = std::get_if<MemoryArgument>(&step.argument)) used(Kind::kMemory, memory->memory);
    if (const auto* sampler = std::get_if<SamplerArgument>(&step.argument))
      used(Kind::kSampler, sampler->sampler);
  }
  void of(const MakeUserEvent& step) { made(Kind::kEvent, step.event); }
  void of(const Enqueue& step) {
    used(Kind::kQueue, step.queue);
    for (const Number each : step.waits) used(Kind::kEvent, each);
    if (step.event != kNone) made(Kind::kEvent, step.event);
  }
  void of(const WaitForEvents& step) {
    for (const Number each : step.events) used(Kind::kEvent, each);
  }
  void of(const Record& step) { made(Kind::kRecording, step.recording); }
  void of(const Retain& step) {
    used(step.kind, step.number);
    ++all[{step.kind, step.number}];
  }
  void of(const Release& step) {
    used(step.kind, step.number);
    --all[{step.kind, step.number}];
  }
  template <class Other>
  void of(const Other&) {}
};

TEST(Plans, MakeWhatTheyUseAndReleaseAllThatTheyMake) {
  for (std::uint64_t seed = 0; seed < kPlans && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    References references;
    for (const Step& step : make_plan(seed, kDeeds, kAll).steps) references.follow(step);
    for (const auto& [object, count] : references.all)
      EXPECT_EQ(count, 0) << "kind " << static_cast<int>(object.first) << ", number " << object.second;
  }
}

TEST(Plans, AreTheSameForTheSameSeedAndOthersForAnother) {
  const auto kinds_of = [](std::uint64_t seed) {
    std::vector<std::size_t> kinds;
    for (const Step& step : make_plan(seed, kDeeds, kAll).steps) kinds.push_back(step.index());
    return kinds;
  };
  EXPECT_EQ(kinds_of(7), kinds_of(7));
  EXPECT_NE(kinds_of(7), kinds_of(8));
}

TEST(Plans, HaveAStepOfEachKindAndACommandOfEachKind) {
  std::vector<std::size_t> steps(std::variant_size_v<Step>), commands(std::variant_size_v<Action>);
  for (std::uint64_t seed = 0; seed < kPlans; ++seed) {
    for (const Step& step : make_plan(seed, kDeeds, kAll).steps) {
      ++steps[step.index()];
      if (const auto* enqueue = std::get_if<Enqueue>(&step)) ++commands[enqueue->action.index()];
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_GT(steps[i], 0U) << "no step of kind " << i;
  for (std::size_t i = 0; i < commands.size(); ++i) EXPECT_GT(commands[i], 0U) << "no command of kind " << i;
}

}  // namespace
}  // namespace fairgv::moves
