#include "tests/workloads/support/measure.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/workloads/support/json_line.hpp"
#include "tests/workloads/support/sleep.hpp"
#include "tests/workloads/support/stop_request.hpp"

namespace workloads {
namespace {

// On Linux this is CLOCK_MONOTONIC, the clock of --start-at.
using Clock = std::chrono::steady_clock;

Clock::time_point open_window(const Options& options) {
  if (!options.start_at) return Clock::now();
  const Clock::time_point start(std::chrono::duration_cast<Clock::duration>(Seconds(*options.start_at)));
  const Seconds late = Clock::now() - start;
  if (late.count() > 0.0) {
    std::ostringstream line;
    line << "ready " << late.count() << " s after --start-at: choose a later second";
    throw Failure(line.str());
  }
  std::this_thread::sleep_until(start);
  return start;
}

/// Knows how many of the enqueued rounds the host has seen complete.
class Completion {
 public:
  Completion(LaunchQueue& queue, SyncMode sync, std::uint64_t batch)
      : queue_(queue), sync_(sync), batch_(batch), synchronized_launches_(queue.launches()) {}

  /// True when a batch has been enqueued since the last wait.
  bool batch_is_full() const {
    return sync_ == SyncMode::kEvery || queue_.launches() - synchronized_launches_ >= batch_;
  }

  /// Waits as the sync mode says; returns the number of completed rounds when `enqueued` have been started.
  std::uint64_t wait(std::uint64_t enqueued) {
    synchronized_launches_ = queue_.launches();
    switch (sync_) {
      case SyncMode::kEvery:  // Every launch has been waited for already.
        return enqueued;
      case SyncMode::kBatch:
        queue_.finish();
        return enqueued;
      case SyncMode::kStream:
        return wait_for_previous_batch(enqueued);
    }
    return enqueued;
  }

 private:
  std::uint64_t wait_for_previous_batch(std::uint64_t enqueued) {
    const std::unique_ptr<Mark> previous = std::exchange(marker_, queue_.mark());
    const std::uint64_t completed = std::exchange(marked_rounds_, enqueued);
    if (previous) previous->wait();
    return completed;
  }

  LaunchQueue& queue_;
  const SyncMode sync_;
  const std::uint64_t batch_;
  std::uint64_t synchronized_launches_;
  std::unique_ptr<Mark> marker_;
  std::uint64_t marked_rounds_ = 0;
};

class Progress {
 public:
  Progress(const Options& options, Clock::time_point start) : period_(options.progress), start_(start) {
    if (period_) next_ = start + *period_;
  }

  void report(Clock::time_point now, std::uint64_t rounds) {
    if (!period_ || now < next_) return;
    JsonLine()
        .boolean("progress", true)
        .count("rounds", rounds)
        .number("elapsed_s", Seconds(now - start_).count(), 6)
        .print();
    // Missed periods are skipped: the lines keep to the grid instead of catching up.
    next_ += *period_ * ((now - next_) / *period_ + 1);
  }

 private:
  const std::optional<std::chrono::milliseconds> period_;
  const Clock::time_point start_;
  Clock::time_point next_{};
};

void run_round(Workload& workload, VerifyMode verify) {
  if (verify != VerifyMode::kAlways) {
    workload.enqueue_round();
    return;
  }
  workload.poison();
  workload.enqueue_round();
  require_correct(workload, "in the timed loop");
}

}  // namespace

void require_correct(Workload& workload, const char* when) {
  if (const auto mismatch = workload.find_mismatch()) {
    throw Failure(std::string("wrong result ") + when + ": " + *mismatch);
  }
}

Measurement measure(Workload& workload, LaunchQueue& queue, const Options& options, SyncMode sync,
                    std::uint64_t batch, const Enough& enough) {
  queue.finish();
  const Clock::time_point start = open_window(options);
  const StopRequest stop;
  const Clock::time_point end =
      options.repetitions ? Clock::time_point::max()
                          : start + std::chrono::duration_cast<Clock::duration>(Seconds(options.seconds));
  queue.set_sync_mode(sync);
  Completion completion(queue, sync, batch);
  Progress progress(options, start);
  Sleeper sleeper(options.sleep_ratio, start);

  const std::uint64_t launches_before = queue.launches();
  std::uint64_t enqueued = 0;
  std::uint64_t counted = 0;
  std::optional<Clock::time_point> closed;  // when not by the clock
  bool open = true;
  while (open && enqueued != options.repetitions) {
    run_round(workload, options.verify);
    ++enqueued;
    // The clock is read only where the host waits anyway.
    if (!completion.batch_is_full()) continue;
    const std::uint64_t completed = completion.wait(enqueued);
    const Clock::time_point now = Clock::now();
    open = now < end;
    if (!open) break;
    counted = completed;
    if (stop.came() || (enough && enough(counted, Seconds(now - start).count()))) {
      closed = now;
      break;
    }
    progress.report(now, counted);
    sleeper.sleep(now, end);
  }
  queue.finish();
  if (options.repetitions) counted = enqueued;

  Measurement result;
  result.rounds = counted;
  result.kernels = counted * ((queue.launches() - launches_before) / enqueued);
  if (options.repetitions) closed = Clock::now();
  result.seconds = closed ? Seconds(*closed - start).count() : options.seconds;
  result.slept = sleeper.slept().count();
  result.started_at = Seconds(start.time_since_epoch()).count();
  return result;
}

}  // namespace workloads
