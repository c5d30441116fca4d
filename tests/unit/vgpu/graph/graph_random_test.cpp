// Random programs (queues of both kinds, wait lists, markers, barriers, accesses, user events, failures) run
// through the graph by a random driver, against a model that only knows the specification: the commands that
// each command has to wait for, and the status with which it must end.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "runtime/vgpu/graph/command_graph.hpp"

namespace fairgv::vgpu {
namespace {

struct Planned {
  Work work = Work::device;
  std::size_t lane = 0;
  std::vector<std::size_t> wait_list;
  std::vector<std::size_t> order;  // earlier commands that the queue itself puts before it
  std::int32_t own_status = kComplete;
  bool has_event = true;  // only such a command can be in a wait list or be seen to fail
};

/// Commands by the specification: each begins after its predecessors have ended, and ends with its expected
/// status.
class Model {
 public:
  explicit Model(std::vector<bool> lane_in_order) : in_order_(std::move(lane_in_order)) {}

  std::size_t add(Planned planned) {
    if (planned.work != Work::user) {
      const bool gathers = planned.work == Work::marker || planned.work == Work::barrier;
      const bool all = in_order_[planned.lane] || (gathers && planned.wait_list.empty());
      for (std::size_t i = 0; i < plan.size(); ++i) {
        const bool same_lane = plan[i].work != Work::user && plan[i].lane == planned.lane;
        if (same_lane && (all || plan[i].work == Work::barrier)) planned.order.push_back(i);
      }
    }
    plan.push_back(std::move(planned));
    return plan.size() - 1;
  }

  std::int32_t expected_status(std::size_t index) const {
    const Planned& planned = plan[index];
    const bool wait_failed = std::any_of(planned.wait_list.begin(), planned.wait_list.end(),
                                         [&](std::size_t wait) { return expected_status(wait) < 0; });
    return wait_failed ? kWaitListFailed : planned.own_status;
  }

  std::vector<Planned> plan;

 private:
  std::vector<bool> in_order_;
};

/// A driver that runs issued commands in any order that their queues and driver wait lists allow.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed)
      : random_(seed), model_({true, true, false, false}), lanes_(make_lanes()) {}

  void run() {
    constexpr std::size_t kCommands = 120;
    constexpr int kMoves = 100'000;  // some hundred are enough, if they lead anywhere
    for (int move = 0; nodes_.size() < kCommands || !unfinished().empty(); ++move) {
      ASSERT_LT(move, kMoves) << unfinished().size() << " commands never end";
      switch (pick(5)) {
        case 0:
          if (nodes_.size() < kCommands) add_one();
          break;
        case 1:
          set_one_user_event();
          break;
        case 2:
          issue_one();
          break;
        case 3:
          end_one_access();
          break;
        default:
          complete_one();
      }
      take();
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      EXPECT_EQ(nodes_[i]->status(), model_.expected_status(i)) << "command " << i;
    }
    EXPECT_EQ(graph_.pending(), 0U);
  }

 private:
  static std::vector<std::shared_ptr<Lane>> make_lanes() {
    return {std::make_shared<Lane>(true, 0), std::make_shared<Lane>(true, 1),
            std::make_shared<Lane>(false, 0), std::make_shared<Lane>(false, 1)};
  }
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  void add_one() {
    Planned planned;
    planned.work = std::array{Work::device,  Work::device,  Work::device, Work::marker,
                              Work::barrier, Work::nothing, Work::access, Work::user}[pick(8)];
    planned.lane = pick(lanes_.size());
    const bool may_fail = planned.work == Work::device || planned.work == Work::user;
    // A user event that fails makes much fail: keep them rare.
    if (may_fail) planned.own_status = pick(12) == 0 ? -5 : 0;
    planned.has_event = planned.work == Work::user || planned.own_status < 0 || pick(2) == 0;
    if (planned.work != Work::user && !nodes_.empty()) {
      for (std::size_t count = pick(4); count > 0; --count) {
        const std::size_t wait = pick(nodes_.size());
        if (model_.plan[wait].has_event) planned.wait_list.push_back(wait);
      }
    }
    const bool user = planned.work == Work::user;
    auto node = std::make_shared<Node>(planned.work, user ? nullptr : lanes_[planned.lane]);
    std::vector<NodePtr> waits;
    std::int32_t failure = 0;
    for (const std::size_t wait : planned.wait_list) {
      if (!nodes_[wait]->ended()) {
        waits.push_back(nodes_[wait]);
      } else if (nodes_[wait]->status() < 0) {
        failure = kWaitListFailed;
      }
    }
    const bool named = !planned.wait_list.empty();
    index_[node.get()] = model_.add(std::move(planned));
    nodes_.push_back(node);
    graph_.add(node, waits, named, failure);
  }

  void set_one_user_event() {
    std::vector<std::size_t> unset;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i]->work() == Work::user && !nodes_[i]->ended()) unset.push_back(i);
    }
    if (unset.empty()) return;
    const std::size_t index = unset[pick(unset.size())];
    graph_.end_external(*nodes_[index], model_.plan[index].own_status);
  }

  void issue_one() {
    while (!ready_.empty() && !ready_.front()->ready()) ready_.erase(ready_.begin());
    if (ready_.empty()) return;
    const NodePtr node = ready_.front();
    ready_.erase(ready_.begin());
    node->observed = !may_go_unobserved(node) || pick(3) == 0;
    graph_.issued(*node);
    issued_.push_back(node);
    check_issue(node);
  }

  /// Nobody asks how the command ended, and a command behind it is on its way to the driver.
  bool may_go_unobserved(const NodePtr& node) const {
    if (!node->lane()->in_order() || !node->driver_waits().empty()) return false;
    if (model_.plan[index_.at(node.get())].has_event) return false;
    return std::any_of(ready_.begin(), ready_.end(), [&](const NodePtr& other) {
      return other->lane() == node->lane() && other->ready() && other->driver_waits().empty();
    });
  }

  /// Issued commands wait for no command that their driver cannot know.
  void check_issue(const NodePtr& node) {
    const std::size_t index = index_.at(node.get());
    for (const std::size_t wait : model_.plan[index].wait_list) {
      const Node& earlier = *nodes_[wait];
      EXPECT_TRUE(earlier.ended() ||
                  (earlier.was_issued() && earlier.lane()->device() == node->lane()->device()))
          << "command " << index << " was ready before " << wait << " of its wait list";
    }
    for (const std::size_t before : model_.plan[index].order) {
      const Node& earlier = *nodes_[before];
      // A command that only waits for its place in an in-order queue, and is not the client's, holds up
      // nobody.
      const bool ends_itself =
          earlier.work() != Work::access || model_.expected_status(before) == kWaitListFailed;
      const bool passable =
          node->lane()->in_order() && (earlier.was_issued() || (ends_itself && waits_ended(before)));
      EXPECT_TRUE(earlier.ended() || passable)
          << "command " << index << " was ready before " << before << " of its queue";
    }
  }

  bool waits_ended(std::size_t index) const {
    const auto& waits = model_.plan[index].wait_list;
    return std::all_of(waits.begin(), waits.end(), [&](std::size_t wait) { return nodes_[wait]->ended(); });
  }

  void end_one_access() {
    if (granted_.empty()) return;
    const std::size_t which = pick(granted_.size());
    const NodePtr node = granted_[which];
    granted_.erase(granted_.begin() + static_cast<std::ptrdiff_t>(which));
    graph_.end_access(*node);
  }

  void complete_one() {
    std::vector<NodePtr> runnable;
    for (const NodePtr& node : issued_) {
      if (driver_may_run(node)) runnable.push_back(node);
    }
    if (runnable.empty()) return;
    const NodePtr node = runnable[pick(runnable.size())];
    std::erase(issued_, node);
    done_.push_back(node);
    if (!node->observed) return;
    const auto waits = node->driver_waits();
    const bool failed =
        std::any_of(waits.begin(), waits.end(), [](const NodePtr& wait) { return wait->status() < 0; });
    graph_.completed(*node, failed ? kWaitListFailed : model_.plan[index_.at(node.get())].own_status);
  }

  bool driver_may_run(const NodePtr& node) const {
    const auto waits = node->driver_waits();
    if (!std::all_of(waits.begin(), waits.end(), [](const NodePtr& wait) { return wait->ended(); }))
      return false;
    if (!node->lane()->in_order()) return true;
    const auto first = std::find_if(issued_.begin(), issued_.end(),
                                    [&](const NodePtr& other) { return other->lane() == node->lane(); });
    return *first == node;
  }

  void take() {
    for (const NodePtr& node : graph_.newly_ready()) ready_.push_back(node);
    graph_.newly_ready().clear();
    for (const NodePtr& node : graph_.newly_granted()) {
      check_all_before_ended(*node, "was granted");
      granted_.push_back(node);
    }
    graph_.newly_granted().clear();
    for (const NodePtr& node : graph_.newly_ended()) check_end(node);
    graph_.newly_ended().clear();
  }

  void check_all_before_ended(const Node& node, const char* what) {
    const std::size_t index = index_.at(&node);
    const Planned& planned = model_.plan[index];
    for (const auto* before : {&planned.wait_list, &planned.order}) {
      for (const std::size_t earlier : *before) {
        EXPECT_TRUE(nodes_[earlier]->ended()) << "command " << index << ' ' << what << " before " << earlier;
      }
    }
  }

  /// Everything that comes before a command has ended before it.
  void check_end(const NodePtr& node) {
    const std::size_t index = index_.at(node.get());
    check_all_before_ended(*node, "ended");
    if (node->was_issued()) {
      EXPECT_NE(std::find(done_.begin(), done_.end(), node), done_.end())
          << "command " << index << " never ran";
    }
  }

  std::vector<NodePtr> unfinished() const {
    std::vector<NodePtr> open;
    std::copy_if(nodes_.begin(), nodes_.end(), std::back_inserter(open),
                 [](const NodePtr& node) { return !node->ended(); });
    return open;
  }

  std::mt19937_64 random_;
  Model model_;
  std::vector<std::shared_ptr<Lane>> lanes_;
  CommandGraph graph_;
  std::vector<NodePtr> nodes_;
  std::map<const Node*, std::size_t> index_;
  std::vector<NodePtr> ready_;
  std::vector<NodePtr> issued_;
  std::vector<NodePtr> granted_;
  std::vector<NodePtr> done_;
};

TEST(CommandGraphRandom, EveryProgramEndsAsTheSpecificationSays) {
  const std::uint64_t first_seed = std::random_device{}();
  for (std::uint64_t seed = first_seed; seed < first_seed + 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomRun(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace fairgv::vgpu
