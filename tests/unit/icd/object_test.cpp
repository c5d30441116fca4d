// Handles, references, and memory that stays readable.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "icd/objects/object.hpp"

namespace fairgv::icd {
namespace {

int destroyed = 0;

/// Any object will do; this class counts its ends.
class Thing : public Object<Thing> {
 public:
  using Handle = cl_sampler;
  static constexpr Kind kKind = Kind::kernel;
  static constexpr bool kSurvivesFork = false;
  ~Thing() { ++destroyed; }
};

TEST(Objects, BeginWithTheDispatchPointer) {
  const auto thing = Ref<Thing>::make();
  EXPECT_EQ(&dispatch_table(), *reinterpret_cast<const cl_icd_dispatch* const*>(thing->handle()));
}

TEST(Objects, LiveUntilTheLastHoldIsGone) {
  destroyed = 0;
  auto thing = Ref<Thing>::make();
  const cl_sampler handle = thing.publish();
  const Ref<Thing> held(*thing);
  thing = {};
  EXPECT_TRUE(held->release());
  EXPECT_EQ(0, destroyed);
  EXPECT_EQ(held.get(), downcast<Thing>(handle)) << "held by another object, the handle is still good";
  EXPECT_FALSE(held->release()) << "the application has no reference left";
}

TEST(Objects, CountTheApplicationsReferencesOnly) {
  const auto thing = Ref<Thing>::make();
  EXPECT_EQ(0U, thing->references());
  thing.publish();
  thing->retain();
  const Ref<Thing> held(*thing);
  EXPECT_EQ(2U, thing->references());
  EXPECT_TRUE(thing->release());
  EXPECT_TRUE(thing->release());
  EXPECT_EQ(0U, thing->references());
}

TEST(Objects, ThatWereReleasedAreNoObjectsButStillReadable) {
  destroyed = 0;
  const cl_sampler handle = Ref<Thing>::make().publish();
  ASSERT_TRUE(downcast<Thing>(handle)->release());
  EXPECT_EQ(1, destroyed);
  EXPECT_EQ(nullptr, downcast<Thing>(handle));
  EXPECT_EQ(&dispatch_table(), *reinterpret_cast<const cl_icd_dispatch* const*>(handle));
}

TEST(Objects, AreFoundOnlyWhereOneCanBe) {
  const auto thing = Ref<Thing>::make();
  auto* const inside = reinterpret_cast<cl_sampler>(reinterpret_cast<std::byte*>(thing.get()) + 1);
  EXPECT_EQ(thing.get(), find<Thing>(thing->handle()));
  EXPECT_EQ(nullptr, find<Thing>(inside));
  EXPECT_EQ(nullptr, find<Thing>(nullptr));
  EXPECT_EQ(nullptr, find<Thing>(reinterpret_cast<cl_sampler>(std::uintptr_t{0x1234})));
}

TEST(Objects, AreFoundAmongManyInWhateverBlockTheyLie) {
  std::vector<Ref<Thing>> things;
  for (int i = 0; i < 10'000; ++i) things.push_back(Ref<Thing>::make());
  for (const auto& thing : things) ASSERT_EQ(thing.get(), find<Thing>(thing->handle()));
  const int other = 0;
  EXPECT_FALSE(Thing::pool().contains(&other));
}

TEST(Objects, AreFoundWhileOthersAreMade) {
  const auto thing = Ref<Thing>::make();
  std::atomic<bool> done{false};
  std::thread maker([&] {
    std::vector<Ref<Thing>> things;
    for (int i = 0; i < 50'000; ++i) things.push_back(Ref<Thing>::make());
    done.store(true);
  });
  while (!done.load()) ASSERT_EQ(thing.get(), find<Thing>(thing->handle()));
  maker.join();
}

}  // namespace
}  // namespace fairgv::icd
