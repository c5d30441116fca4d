// The dispatcher's thread with several devices: turns, books, policies and wake-up latency of each.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/daemon/dispatch/loop_member.hpp"
#include "tests/unit/daemon/dispatch/wake_latency_pipe.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

std::vector<std::optional<SessionId>> holders(DispatchLoop& loop) {
  std::vector<std::optional<SessionId>> list;
  for (const DeviceSharing& device : loop.looks().devices()) list.push_back(device.holder);
  return list;
}

TEST(DispatchLoop, TellsWhatASessionHasUsedOfEachDevice) {
  const auto loop = start_loop(2);
  Member a(1, 1);
  ASSERT_TRUE(loop->add_session(a.for_loop(1, 2)));
  EXPECT_FALSE(loop->looks().session(a.id).has_used_a_device);
  a.want(1);
  a.wait_while(State::wanting, 1);
  ASSERT_TRUE(a.move(State::held, State::busy, 1));
  a.turn(1).used_ns = 5'000'000;
  a.give_back(false, 1);
  while (loop->looks().devices().at(1).holder) std::this_thread::yield();
  EXPECT_EQ(loop->looks().session(a.id).used_ns, (std::vector<std::uint64_t>{0, 5'000'000}));
  EXPECT_TRUE(loop->looks().session(a.id).has_used_a_device);
  loop->remove_session(a.id);
}

TEST(DispatchLoop, GrantsTurnsOnEachDeviceSeparately) {
  const auto loop = start_loop(2);
  Member a(1, 1);
  Member b(2, 2);
  ASSERT_TRUE(loop->add_session(a.for_loop(1, 2)));
  ASSERT_TRUE(loop->add_session(b.for_loop(1, 2)));
  a.want(0);
  b.want(1);
  a.wait_while(State::wanting, 0);
  b.wait_while(State::wanting, 1);
  EXPECT_EQ(a.state(0), State::held);
  EXPECT_EQ(b.state(1), State::held);
  loop->remove_session(a.id);
  loop->remove_session(b.id);
}

TEST(DispatchLoop, ASessionHasNoTurnAndNoDueAtADeviceThatIsHiddenFromIt) {
  const auto loop = start_loop(2);
  Member a(1, 1);
  Member b(2, 2);
  DispatchedSession chosen = a.for_loop(3, 2);
  chosen.devices.hide(0b01);
  ASSERT_TRUE(loop->add_session(chosen));
  ASSERT_TRUE(loop->add_session(b.for_loop(1, 2)));
  a.want(0);  // its worker does as it likes
  b.want(0);
  b.wait_while(State::wanting, 0);
  EXPECT_EQ(b.state(0), State::held);
  EXPECT_EQ(a.state(0), State::wanting);
  a.want(1);
  a.wait_while(State::wanting, 1);
  EXPECT_EQ(a.state(1), State::held);
  auto usage = loop->looks().usage({a.tenant_id, b.tenant_id});
  EXPECT_EQ(usage[a.tenant_id].shares, (std::vector<double>{0, 0.75}));
  EXPECT_EQ(usage[b.tenant_id].shares, (std::vector<double>{1, 0.25}));
  loop->set_attributes(a.tenant_id, {1});
  usage = loop->looks().usage({a.tenant_id, b.tenant_id});
  EXPECT_EQ(usage[a.tenant_id].shares, (std::vector<double>{0, 0.5}));
  loop->set_suspended(a.id, true, {1});
  usage = loop->looks().usage({a.tenant_id, b.tenant_id});
  EXPECT_EQ(usage[a.tenant_id].shares, (std::vector<double>{0, 0}));
  EXPECT_EQ(usage[b.tenant_id].shares, (std::vector<double>{1, 1}));
  loop->remove_session(a.id);
  loop->remove_session(b.id);
}

TEST(DispatchLoop, DevicesThatAreTheSameHardwareHaveOneTurnAndOneBook) {
  const auto loop = start_loop(1);
  loop->add_device({}, 0);
  Member a(1, 1);
  Member b(2, 2);
  ASSERT_TRUE(loop->add_session(a.for_loop(1, 2)));
  ASSERT_TRUE(loop->add_session(b.for_loop(1, 2)));
  a.want(0);
  a.wait_while(State::wanting, 0);
  ASSERT_TRUE(a.move(State::held, State::busy, 0));
  b.want(1);
  // b's wish asks for a's turn, though b wants another device: both devices are the same hardware.
  a.yield_until_asked(0);
  EXPECT_EQ(holders(*loop), (std::vector<std::optional<SessionId>>{a.id, std::nullopt}));
  EXPECT_EQ(b.state(1), State::wanting);
  std::this_thread::sleep_for(5ms);
  a.turn(0).used_ns = 5'000'000;
  a.give_back(false, 0);
  b.wait_while(State::wanting, 1);
  EXPECT_EQ(holders(*loop), (std::vector<std::optional<SessionId>>{std::nullopt, b.id}));
  auto usage = loop->looks().usage({a.tenant_id, b.tenant_id});
  EXPECT_GE(usage[a.tenant_id].devices[0].device_time, 5ms);
  EXPECT_EQ(usage[a.tenant_id].devices[1].device_time, 0ns);
  EXPECT_EQ(usage[b.tenant_id].devices[0].waits.count(), 1u);
  EXPECT_EQ(usage[b.tenant_id].devices[1].waits.count(), 0u);
  // A session may want both devices at once: then it has one after the other.
  ASSERT_TRUE(b.move(State::held, State::busy, 1));
  b.want(0);
  b.yield_until_asked(1);
  b.turn(1).used_ns = 1'000'000;
  b.give_back(false, 1);
  b.wait_while(State::wanting, 0);
  EXPECT_EQ(b.state(0), State::held);
  const SessionBooks books = loop->looks().session_books(b.id);
  EXPECT_EQ(books.used_ns, (std::vector<std::uint64_t>{0, 1'000'000}));
  EXPECT_TRUE(books.turns[0]);
  EXPECT_FALSE(books.turns[1]);
  loop->remove_session(a.id);
  loop->remove_session(b.id);
  EXPECT_EQ(loop->looks().devices()[0].holder, std::nullopt);
}

TEST(DispatchLoop, AWorkersDeviceNumbersAreThoseOfTheDevicesThatItSees) {
  const auto loop = start_loop(1);
  Member before(1, 1);
  Member after(2, 2);
  ASSERT_TRUE(loop->add_session(before.for_loop(3)));
  before.want(0);
  before.wait_while(State::wanting, 0);
  loop->add_device();
  EXPECT_EQ(before.state(0), State::held) << "the others go on as they were";
  auto of_both = after.for_loop();
  of_both.devices = DeviceView({1, 0});
  ASSERT_TRUE(loop->add_session(of_both));
  after.want(0);
  after.wait_while(State::wanting, 0);
  EXPECT_EQ(holders(*loop), (std::vector<std::optional<SessionId>>{before.id, after.id}));
  after.want(1);
  after.wait_while(State::wanting, 1);
  EXPECT_EQ(before.state(0), State::idle) << "an unused turn is taken for the newcomer";
  EXPECT_EQ(holders(*loop), (std::vector<std::optional<SessionId>>{after.id, after.id}));
  EXPECT_EQ(loop->looks().usage({TenantId{1}})[TenantId{1}].devices.size(), 2U);
  loop->remove_session(before.id);
  loop->remove_session(after.id);
}

TEST(DispatchLoop, EachDeviceHasItsOwnPolicy) {
  DeviceRules rules;
  rules.by_index[1] = {"fifo", sched::kNonPreemptiveSlice};
  auto loop = DispatchLoop::start(rules);
  ASSERT_TRUE(loop);
  for (int i = 0; i < 3; ++i) loop.value()->add_device();
  const auto policies = [&] {
    std::vector<std::string> names;
    for (const DeviceSharing& device : loop.value()->looks().devices()) names.push_back(device.policy);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(policies(), (Names{"fair", "fifo", "fair"}));
  loop.value()->set_policy("credit-hs", 2);
  EXPECT_EQ(policies(), (Names{"fair", "fifo", "credit-hs"}));
  loop.value()->set_policy("round-robin", std::nullopt);
  EXPECT_EQ(policies(), (Names{"round-robin", "round-robin", "round-robin"}));
  loop.value()->set_rules(rules);  // the configuration was read again
  EXPECT_EQ(policies(), (Names{"fair", "fifo", "fair"}));
}

TEST(DispatchLoop, WakeLatencyIsBoundedWhileSeveralWantADeviceWithSuchALimit) {
  WakeLatencyPipe pipe;
  using Seen = WakeLatencyPipe::Seen;
  DeviceRules rules;
  rules.common.wake_latency_us = 7;
  auto loop = DispatchLoop::start(rules, pipe.path());
  ASSERT_TRUE(loop);
  loop.value()->add_device();
  Member holder(1, 1), waiter(2, 2);
  for (Member* member : {&holder, &waiter}) ASSERT_TRUE(loop.value()->add_session(member->for_loop()));
  holder.want();
  holder.wait_while(State::wanting);
  ASSERT_TRUE(holder.move(State::held, State::busy));
  EXPECT_EQ(pipe.look(), Seen(std::nullopt, false)) << "nobody else wants it";
  waiter.want();
  holder.yield_until_asked();
  // The bounds only prevent a broken loop from hanging the test.
  const auto wait_for = [&](const Seen& wanted) {
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    Seen seen;
    do {
      seen = pipe.look();
    } while (seen != wanted && std::chrono::steady_clock::now() < give_up);
    return seen;
  };
  EXPECT_EQ(wait_for(Seen(7, true)), Seen(7, true));
  loop.value()->remove_session(holder.id);
  waiter.wait_while(State::wanting);
  EXPECT_EQ(wait_for(Seen(std::nullopt, false)), Seen(std::nullopt, false)) << "the waiter has it alone";
  loop.value()->remove_session(waiter.id);
}

}  // namespace
}  // namespace fairgv::daemon
