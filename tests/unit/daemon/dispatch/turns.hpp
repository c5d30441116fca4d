// A dispatcher in simulated time, with sessions whose workers the test plays.
#pragma once

#include <gtest/gtest.h>

#include <deque>

#include "runtime/daemon/dispatch/device_use.hpp"
#include "sched/policies/registry.hpp"
#include "tests/unit/daemon/worker/fake_worker.hpp"

namespace fairgv::daemon {

struct Turns : ::testing::Test {
  using State = session::TurnState;

  explicit Turns(std::string_view policy = sched::kDefaultPolicy)
      : dispatcher(sched::make_policy(policy, std::chrono::milliseconds(6))) {}

  /// A session with a tenant of the same number unless told otherwise.
  FakeWorker& add(std::uint32_t session, std::uint32_t weight = 1, std::uint32_t tenant = 0) {
    return add_with(session, {weight}, tenant);
  }
  FakeWorker& add_with(std::uint32_t session, const sched::TenantAttributes& attributes,
                       std::uint32_t tenant = 0) {
    const TenantId owner{tenant == 0 ? session : tenant};
    FakeWorker& worker = workers.emplace_back();
    dispatcher.add_tenant(owner, attributes, now);
    dispatcher.add_session(SessionId{session}, owner, {worker.turn, &worker.promise, worker.header}, now);
    return worker;
  }
  void look(std::uint32_t session) { dispatcher.look(SessionId{session}, now); }
  void want(std::uint32_t session, FakeWorker& worker) {
    worker.want();
    look(session);
  }
  /// The holder uses the device for `time` and gives the turn back.
  void run(std::uint32_t session, FakeWorker& worker, std::chrono::nanoseconds time, bool more) {
    if (worker.state() == State::held) worker.begin();
    now += time;
    worker.use(time);
    worker.give_back(more);
    look(session);
  }
  /// The second worker has a measured turn in use, after a turn of the first, which waits.
  void take_over(FakeWorker& first, FakeWorker& second) {
    want(1, first);
    first.begin();
    want(2, second);
    run(1, first, std::chrono::milliseconds(6), true);
    ASSERT_EQ(second.state(), State::held);
    second.begin();
  }
  std::chrono::nanoseconds time_of(std::uint32_t tenant) {
    return dispatcher.device().charges.accounts().at(TenantId{tenant}).device_time;
  }

  Dispatcher dispatcher;
  Dispatcher::Time now{std::chrono::seconds(1'000)};
  std::deque<FakeWorker> workers;
};

}  // namespace fairgv::daemon
