// Every order in which a worker and the dispatcher can make their moves on a turn page: the real verbs of
// session/turn.hpp, on a real page, by two players that look and act in separate steps, as the two processes
// do.
//
// The players do the same as TurnClient and Dispatcher as far as the page is concerned. The search is
// exhaustive for two commands: it ends when no step leads to a state that was not seen.
#include <gtest/gtest.h>

#include <compare>
#include <deque>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/session/turn.hpp"

namespace fairgv::session {
namespace {

constexpr int kCommands = 2;

struct World {
  TurnState page = TurnState::idle;
  // The worker.
  int to_come = kCommands;  // commands that its program will send
  int ready = 0;
  bool in_flight = false;
  TurnState worker_saw = TurnState::idle;
  bool knocked = false;  // and the dispatcher has not looked since
  // The dispatcher.
  bool waits = false;    // the session is in its queue
  bool granted = false;  // the session has the turn
  bool asked = false;
  bool dispatcher_looked = false;  // and has not acted on it
  TurnState dispatcher_saw = TurnState::idle;

  auto operator<=>(const World&) const = default;

  bool is_over() const { return to_come == 0 && ready == 0 && !in_flight; }
};

std::ostream& operator<<(std::ostream& out, const World& w) {
  return out << "page " << static_cast<int>(w.page) << ", worker: to come " << w.to_come << ", ready "
             << w.ready << ", in flight " << w.in_flight << ", saw " << static_cast<int>(w.worker_saw)
             << ", knocked " << w.knocked << "; dispatcher: waits " << w.waits << ", granted " << w.granted
             << ", asked " << w.asked << ", saw " << static_cast<int>(w.dispatcher_saw);
}

enum class Side { worker, dispatcher };
using Transition = std::tuple<Side, TurnState, TurnState>;

/// The drawing in session/turn.hpp.
const std::set<Transition> kDrawn{
    {Side::worker, TurnState::idle, TurnState::wanting},
    {Side::dispatcher, TurnState::wanting, TurnState::held},
    {Side::worker, TurnState::held, TurnState::busy},
    {Side::worker, TurnState::busy, TurnState::held},
    {Side::worker, TurnState::busy, TurnState::idle},
    {Side::worker, TurnState::busy, TurnState::wanting},
    {Side::worker, TurnState::busy_asked, TurnState::idle},
    {Side::worker, TurnState::busy_asked, TurnState::wanting},
    {Side::dispatcher, TurnState::busy, TurnState::busy_asked},
    {Side::dispatcher, TurnState::held, TurnState::idle},
};

/// One run through all worlds.
class Model {
 public:
  /// Searches from the first world on.
  void explore() {
    visit(World{});
    while (!open_.empty()) {
      const World world = open_.front();
      open_.pop_front();
      worker_steps(world);
      dispatcher_steps(world);
    }
  }

  const std::map<World, std::set<World>>& worlds() const { return next_; }
  const std::set<Transition>& seen() const { return transitions_; }

  /// Worlds from which no goal can be reached.
  template <class Goal>
  std::vector<World> stuck(Goal goal) const {
    std::map<World, std::vector<World>> before;
    std::deque<World> open;
    std::set<World> good;
    for (const auto& [world, after] : next_) {
      for (const World& each : after) before[each].push_back(world);
      if (goal(world) && good.insert(world).second) open.push_back(world);
    }
    for (; !open.empty(); open.pop_front()) {
      for (const World& world : before[open.front()]) {
        if (good.insert(world).second) open.push_back(world);
      }
    }
    std::vector<World> bad;
    for (const auto& [world, after] : next_) {
      if (!good.contains(world)) bad.push_back(world);
    }
    return bad;
  }

 private:
  void visit(const World& world) {
    if (next_.try_emplace(world).second) open_.push_back(world);
  }

  /// Lets one side act on the page as it is in `from`; `act` gets its verbs and the world to change.
  template <class Verbs, class Act>
  void step(const World& from, Side side, Act act) {
    World to = from;
    page_.state.store(static_cast<std::uint32_t>(from.page));
    Verbs verbs(page_);
    act(verbs, to);
    to.page = static_cast<TurnState>(page_.state.load());
    if (to.page != from.page) transitions_.insert({side, from.page, to.page});
    check(from, to);
    next_[from].insert(to);
    visit(to);
  }
  template <class Act>
  void worker(const World& from, Act act) {
    step<WorkerTurn>(from, Side::worker, act);
  }
  template <class Act>
  void dispatcher(const World& from, Act act) {
    step<DispatcherTurn>(from, Side::dispatcher, act);
  }

  void worker_steps(const World& from) {
    if (from.to_come > 0) {
      worker(from, [](WorkerTurn&, World& w) {
        --w.to_come;
        ++w.ready;
      });
    }
    worker(from, [](WorkerTurn& turn, World& w) { w.worker_saw = turn.look(); });
    switch (from.worker_saw) {
      case TurnState::idle:
        if (from.ready > 0) worker(from, want);
        return;
      case TurnState::wanting:
        return;
      case TurnState::held:
        if (from.ready > 0) worker(from, begin);
        return;
      case TurnState::busy:
        if (from.ready > 0 && !from.in_flight) worker(from, issue);
        if (from.in_flight) worker(from, complete);
        if (!from.in_flight && from.ready == 0) worker(from, rest);
        if (!from.in_flight) worker(from, give_back);  // a measured turn is over
        return;
      case TurnState::busy_asked:
        if (from.in_flight) worker(from, complete);
        if (!from.in_flight) worker(from, give_back);
        return;
    }
  }

  static void want(WorkerTurn& turn, World& w) {
    turn.want();
    w.worker_saw = TurnState::wanting;
    w.knocked = true;
  }
  static void begin(WorkerTurn& turn, World& w) {
    w.worker_saw = turn.begin() ? TurnState::busy : turn.look();
  }
  static void issue(WorkerTurn&, World& w) {
    --w.ready;
    w.in_flight = true;
  }
  static void complete(WorkerTurn& turn, World& w) {
    w.in_flight = false;
    w.worker_saw = turn.look();
  }
  static void rest(WorkerTurn& turn, World& w) {
    if (turn.rest()) {
      w.worker_saw = TurnState::held;
    } else {
      give_back(turn, w);
    }
  }
  static void give_back(WorkerTurn& turn, World& w) {
    turn.give_back(w.ready > 0);
    w.worker_saw = w.ready > 0 ? TurnState::wanting : TurnState::idle;
    w.knocked = true;
  }

  void dispatcher_steps(const World& from) {
    // The dispatcher looks when the worker has knocked, and at the holder now and then.
    if (from.knocked || from.granted) {
      dispatcher(from, [](DispatcherTurn& turn, World& w) {
        w.dispatcher_saw = turn.look();
        w.dispatcher_looked = true;
        w.knocked = false;
      });
    }
    if (from.dispatcher_looked) act_on_look(from);
    if (from.waits && !from.granted) {
      dispatcher(from, [](DispatcherTurn& turn, World& w) {
        EXPECT_TRUE(turn.grant({})) << "a worker does not withdraw its wish";
        w.waits = w.asked = w.dispatcher_looked = false;
        w.granted = true;
      });
    }
  }

  void act_on_look(const World& from) {
    if (!from.granted) {
      EXPECT_TRUE(from.dispatcher_saw == TurnState::idle || from.dispatcher_saw == TurnState::wanting)
          << "a worker took the device without a turn: " << from;
      EXPECT_FALSE(from.waits && from.dispatcher_saw == TurnState::idle) << "a wish was withdrawn: " << from;
      dispatcher(from, [](DispatcherTurn&, World& w) {
        w.waits = w.dispatcher_saw == TurnState::wanting;
        w.dispatcher_looked = false;
      });
      return;
    }
    switch (from.dispatcher_saw) {
      case TurnState::idle:
      case TurnState::wanting:
        dispatcher(from, [](DispatcherTurn&, World& w) {
          w.waits = w.dispatcher_saw == TurnState::wanting;
          w.granted = w.asked = w.dispatcher_looked = false;
        });
        return;
      case TurnState::held:
        dispatcher(from, [](DispatcherTurn& turn, World& w) {
          w.dispatcher_looked = false;
          if (turn.take_back()) w.granted = w.asked = false;
        });
        return;
      case TurnState::busy:
        dispatcher(from, [](DispatcherTurn& turn, World& w) {
          w.dispatcher_looked = false;
          w.asked = turn.ask() || w.asked;
        });
        return;
      case TurnState::busy_asked:
        EXPECT_TRUE(from.asked) << "nobody has asked: " << from;
    }
  }

  static void check(const World& from, const World& to) {
    if (to.in_flight) {
      EXPECT_TRUE(to.granted) << "a command is under way without the turn: " << from << " to " << to;
      EXPECT_TRUE(to.page == TurnState::busy || to.page == TurnState::busy_asked) << from << " to " << to;
    }
    if (!to.granted) {
      EXPECT_TRUE(to.page == TurnState::idle || to.page == TurnState::wanting) << from << " to " << to;
    }
    if (to.page == TurnState::wanting && !to.waits) {
      EXPECT_TRUE(to.knocked || to.dispatcher_looked) << "a wish that nobody hears: " << from << " to " << to;
    }
  }

  DeviceTurn page_;
  std::map<World, std::set<World>> next_;
  std::deque<World> open_;
  std::set<Transition> transitions_;
};

class TurnModel : public ::testing::Test {
 protected:
  void SetUp() override { model.explore(); }
  Model model;
};

TEST_F(TurnModel, MakesEveryTransitionThatIsDrawnAndNoOther) {
  EXPECT_EQ(model.seen(), kDrawn);
  EXPECT_GT(model.worlds().size(), 100U);
}

TEST_F(TurnModel, EveryCommandCanEndWhateverHasHappened) {
  const auto stuck = model.stuck([](const World& world) { return world.is_over(); });
  ASSERT_TRUE(stuck.empty()) << stuck.size() << " worlds, the first: " << stuck.front();
}

TEST_F(TurnModel, TheDispatcherCanHaveTheTurnBackWhateverHasHappened) {
  const auto stuck = model.stuck([](const World& world) { return !world.granted; });
  ASSERT_TRUE(stuck.empty()) << stuck.size() << " worlds, the first: " << stuck.front();
}

}  // namespace
}  // namespace fairgv::session
