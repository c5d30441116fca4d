// The blocks of one session on one device whose memory is lent (session/memory/residency.hpp): which of them
// are on the device, and which are to come in or to go out.
//
//   queued commands ──plan──▶ wanted blocks ──▶ the page: wants, lacks
//   the daemon's terms ──▶ a thread of its own moves blocks, one at a time, while nothing is in the driver's
//                          hands (out) or at any time (in)
//
// - Wanted are the blocks of the next command, then those of the commands behind it, then those that were
// used
//   in this turn or the one before, the latest first: as many as may ever be on the device together.
// - Out go first blocks that are not wanted, the longest unused first; then, if the terms say so, wanted
// ones,
//   the last of the plan first. Blocks whose contents are in the host's memory anyway go before others that
//   are as little wanted.
//
// Any thread: a lock of its own guards everything, under which nobody calls a driver. It is taken with the
// executor's lock held, never the other way round.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/session/memory/residency.hpp"
#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/residency/block.hpp"

namespace fairgv::vgpu {

class Residency {
 public:
  struct Settings {
    session::DeviceResidency& page;  // outlives this
    /// Tells the dispatcher to look at the page. Without the lock.
    std::function<void()> knock = [] {};
    /// Has the loop look again at what it may issue: from the mover's thread, without the lock.
    std::function<void()> wake = [] {};
    /// Another worker speaks by the page until take_over(), and nothing is moved before.
    bool is_silent = false;
  };

  explicit Residency(Settings settings);
  ~Residency();
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  /// Whether the device's memory is lent, as the daemon says: once the program has been let in.
  bool is_lent() const { return settings_.page.is_lent.load(std::memory_order_relaxed) != 0; }
  /// Begins; the loop thread's, before the first block.
  void turn_on() { is_on_.store(true, std::memory_order_relaxed); }
  /// Any thread: it may hear of that late, but not of a command that was queued afterwards.
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

  /// The other worker is gone.
  void take_over();

  // ---- blocks: the loop thread

  /// A block that is out.
  void add(Block& block);
  /// Waits until it is not being moved. It is in use by no command.
  void remove(Block& block);
  /// It stays where it is while this lives.
  class Pin {
   public:
    Pin(Residency& residency, Block& block) : residency_(residency), block_(block) { residency_.pin(block_); }
    ~Pin() { residency_.unpin(block_); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

   private:
    Residency& residency_;
    Block& block_;
  };
  /// Brings a pinned block in, whatever the terms are. 0 or the driver's error.
  std::int32_t bring_in_now(Block& block);
  /// It is not moved any more.
  void fix(Block& block);
  /// On the device, the session has so many bytes that are in no block.
  void set_others(std::uint64_t bytes);

  // ---- commands: the executor's lock is held

  /// Whether a command's blocks are on the device.
  enum class Fit {
    there,  // or one could not come in, of which use() tells
    to_come,
    never,  // they are more than can be there at a time
  };
  Fit fit(const DeviceCommand& command);
  /// The commands that are ready, the first of which is next: makes a plan, and tells the dispatcher.
  void plan(const std::deque<std::shared_ptr<DeviceCommand>>& ready);
  /// The command goes to the driver. False if its blocks are not there. The error of one that could not come
  /// in is noted in the command (DeviceCommand::memory_error).
  bool use(DeviceCommand& command);
  /// Nothing is in the driver's hands.
  void rests();
  void turn_begins();

  /// Whether there are terms that look() has not seen. Any thread.
  bool changed() const;
  /// Reads the terms and answers them.
  void look();
  /// For how long a turn is kept for the program's next command.
  std::chrono::nanoseconds keep() const;

 private:
  class Move;
  struct Step {
    Block* block;
    bool comes;
  };

  void pin(Block& block);
  void unpin(Block& block);
  // With the lock held.
  void blocks_of(const DeviceCommand& command);
  void want(Block& block, std::uint64_t& room);
  std::uint64_t lacking() const;
  void tell();
  void agree();
  bool answer();
  std::optional<Step> next_step();
  Block* to_go();
  Block* to_come();
  void carry_out(const Step& step, std::unique_lock<std::mutex>& lock);
  void wait_until_still(const Block& block, std::unique_lock<std::mutex>& lock);
  void run();

  const Settings settings_;
  std::atomic<bool> is_on_{false};
  mutable std::mutex mutex_;          // guards everything below
  std::condition_variable to_mover_;  // there may be a step, or `stops_`
  std::condition_variable moved_;     // a move has ended, or is to give up
  std::vector<Block*> blocks_;
  std::vector<Block*> scratch_;
  std::vector<Block*> wanted_;  // in the order of the plan
  std::vector<Block*> first_;   // the next command's
  std::uint64_t plan_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t turn_ = 2;      // of blocks that were never used it is 0
  std::uint64_t resident_ = 0;  // bytes that are there or on their way, `others_` included
  std::uint64_t others_ = 0;
  std::uint64_t allowed_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t lacks_told_ = 0;
  bool is_used_ = false;  // something may be in the driver's hands
  bool is_silent_ = false;
  bool stops_ = false;
  std::thread mover_;  // from the first block on
};

}  // namespace fairgv::vgpu
