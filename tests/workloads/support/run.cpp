// The common main(): see workload.hpp.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <limits>

#include "tests/workloads/support/clock_watch.hpp"
#include "tests/workloads/support/json_line.hpp"
#include "tests/workloads/support/launch_queue.hpp"
#include "tests/workloads/support/measure.hpp"
#include "tests/workloads/support/options.hpp"
#include "tests/workloads/support/requests.hpp"
#include "tests/workloads/support/target.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {
namespace {

using Microseconds = std::chrono::duration<double, std::micro>;

// Calibration runs a few batches per candidate and believes the fastest: other programs only make it slower.
constexpr int kPasses = 8;
constexpr int kSamples = 5;
constexpr std::uint64_t kFewLaunches = 8;
constexpr std::uint64_t kManyTimesFew = 3;
// Beside a round this long (us) the one-time cost of a batch is nothing, and many rounds may take minutes.
constexpr double kLongRound = 10'000;
constexpr double kCloseEnough = 0.03;
// A short first kernel is mostly launch overhead; going up in steps keeps one bad guess from running long.
constexpr double kLargestStep = 32.0;
constexpr std::uint64_t kMostIterations = 1'000'000'000;

struct Batch {
  std::uint64_t launches = 0;
  double microseconds = 0;

  double per_launch() const { return microseconds / static_cast<double>(launches); }
};

/// At least so many launches and the wait for them, in the fastest of some samples.
Batch fastest_batch(std::uint64_t launches, Workload& workload, LaunchQueue& queue) {
  Batch fastest{0, std::numeric_limits<double>::infinity()};
  for (int sample = 0; sample < kSamples; ++sample) {
    const std::uint64_t before = queue.launches();
    const auto start = std::chrono::steady_clock::now();
    while (queue.launches() - before < launches) workload.enqueue_round();
    queue.finish();
    const Microseconds taken = std::chrono::steady_clock::now() - start;
    fastest.launches = queue.launches() - before;
    fastest.microseconds = std::min(fastest.microseconds, taken.count());
  }
  return fastest;
}

/// Microseconds that one more launch takes where several are queued: without the one-time cost of a batch,
/// above all the wait for its end, which may be longer than many a kernel.
double time_per_launch(Workload& workload, LaunchQueue& queue) {
  workload.enqueue_round();
  queue.finish();
  const Batch round = fastest_batch(1, workload, queue);
  if (round.microseconds >= kLongRound) return round.per_launch();
  const Batch few = fastest_batch(kFewLaunches, workload, queue);
  const Batch many = fastest_batch(kManyTimesFew * few.launches, workload, queue);
  const auto more = static_cast<double>(many.launches - few.launches);
  const double each = (many.microseconds - few.microseconds) / more;
  // If the machine was so disturbed that the longer batch was faster: an upper bound.
  return each > 0 ? each : many.per_launch();
}

/// Finds the amount of work (the size, or the iteration count) whose launches take about `microseconds`: a
/// fixed-point iteration on the assumption that time grows as work to the cost exponent.
Parameters calibrate(const Description& description, Target& target, Parameters parameters,
                     double microseconds) {
  std::uint64_t& work = description.takes_iterations ? parameters.iterations : parameters.size;
  const std::uint64_t multiple = description.takes_iterations ? 1 : description.size_multiple;
  const std::uint64_t maximum = description.takes_iterations ? kMostIterations : description.maximum_size;
  std::uint64_t best_work = work;
  double best_error = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < kPasses; ++pass) {
    const double ratio = microseconds / time_per_launch(*target.make(parameters), target.queue());
    const double error = std::abs(std::log(ratio));
    if (error < best_error) {
      best_error = error;
      best_work = work;
    }
    if (error < kCloseEnough) break;
    const double step = std::min(std::pow(ratio, 1.0 / description.cost_exponent), kLargestStep);
    const double wanted = static_cast<double>(work) * step / static_cast<double>(multiple);
    const auto next =
        std::clamp(static_cast<std::uint64_t>(std::llround(wanted)), std::uint64_t{1}, maximum / multiple);
    if (next * multiple == work) break;
    work = next * multiple;
  }
  work = best_work;
  return parameters;
}

Parameters choose_parameters(const Description& description, Target& target, const Options& options) {
  Parameters parameters;
  parameters.size = options.size.value_or(description.default_size);
  parameters.iterations = options.iterations.value_or(1000);
  parameters.seed = options.seed;
  parameters.own = options.own;
  for (const OwnOption& own : description.own_options)
    parameters.own.try_emplace(own.name, own.default_value);
  if (options.kernel_microseconds) {
    return calibrate(description, target, parameters, *options.kernel_microseconds);
  }
  if (description.takes_iterations && !options.iterations) {
    return calibrate(description, target, parameters, description.default_kernel_microseconds);
  }
  return parameters;
}

/// Launches per batch: as asked, or about 2.5 ms of queued work, so that little is lost at the window's end.
std::uint64_t choose_batch(const Description& description, const Options& options) {
  if (options.batch) return *options.batch;
  if (!options.kernel_microseconds) return description.default_batch;
  return static_cast<std::uint64_t>(std::clamp(2500.0 / *options.kernel_microseconds, 1.0, 64.0));
}

std::vector<Execution> warm_up(Workload& workload, LaunchQueue& queue, std::uint64_t rounds) {
  if (rounds == 0) return {};
  queue.start_profiling();
  for (std::uint64_t round = 0; round < rounds; ++round) workload.enqueue_round();
  return queue.stop_profiling();
}

/// Mean kernel time in microseconds; nothing of none.
std::optional<double> mean_microseconds(const std::vector<Execution>& executions) {
  if (executions.empty()) return std::nullopt;
  double sum = 0;
  for (const Execution& each : executions) sum += static_cast<double>(each.end - each.start) / 1e3;
  return sum / static_cast<double>(executions.size());
}

/// A file of lines "START END". Opened before anything is measured; with an empty name there is none.
class Record {
 public:
  Record(const char* option, std::string file) : file_(std::move(file)) {
    if (!wanted()) return;
    out_.open(file_);
    if (!out_) throw BadInput(std::string(option) + ": cannot write " + file_);
  }

  bool wanted() const { return !file_.empty(); }

  void write(const std::vector<Execution>& executions) {
    for (const Execution& each : executions) out_ << each.start << ' ' << each.end << '\n';
    out_.close();
    if (!out_) throw Failure("cannot write " + file_);
  }

 private:
  std::string file_;
  std::ofstream out_;
};

/// The window; with --events profiled, and its executions added to those of the warm-up.
Measurement measure_and_record(Target& target, Workload& workload, const Options& options, SyncMode sync,
                               std::uint64_t batch, std::vector<Execution>& executions) {
  Record events("--events", options.events_file);
  Record waits("--waits", options.waits_file);
  LaunchQueue& queue = target.queue();
  if (events.wanted()) queue.start_profiling();
  if (waits.wanted()) queue.start_timing();
  std::optional<ClockWatch> clock;
  if (options.clock) clock.emplace(*options.clock);
  Measurement result = options.requests_file.empty() ? measure(workload, queue, options, sync, batch)
                                                     : serve_requests(target, workload, options, sync, batch);
  if (clock) result.clock_gap_ms = clock->largest_gap().count();
  if (waits.wanted()) waits.write(queue.stop_timing());
  if (events.wanted()) {
    const std::vector<Execution> in_window = queue.stop_profiling();
    executions.insert(executions.end(), in_window.begin(), in_window.end());
    events.write(executions);
  }
  return result;
}

void run(const Description& description, const TargetOpener& open, const Options& options) {
  const std::unique_ptr<Target> target = open(options.platform, options.device);
  LaunchQueue& queue = target->queue();
  const Parameters parameters = choose_parameters(description, *target, options);
  const SyncMode sync = options.sync.value_or(description.default_sync);
  const std::uint64_t batch = sync == SyncMode::kEvery ? 1 : choose_batch(description, options);
  const auto workload = target->make(parameters);

  const bool verifying = options.verify != VerifyMode::kOff;
  if (verifying && options.verify != VerifyMode::kLast) {
    workload->poison();
    workload->enqueue_round();
    require_correct(*workload, "before the timed loop");
  }
  std::vector<Execution> executions = warm_up(*workload, queue, options.warmup);
  const std::optional<double> profiled = mean_microseconds(executions);
  if (verifying) workload->poison();
  const Measurement result = measure_and_record(*target, *workload, options, sync, batch, executions);
  if (verifying) require_correct(*workload, "after the timed loop");

  JsonLine line;
  line.text("workload", description.name);
  line.text("platform", target->platform_name()).text("device", target->device_name());
  verifying ? line.boolean("verified", true) : line.null("verified");
  line.count("rounds", result.rounds).count("kernels", result.kernels).number("seconds", result.seconds, 6);
  const double work = workload->work_per_round() * static_cast<double>(result.rounds);
  line.number("throughput", work / result.seconds, 6).text("unit", description.unit);
  if (profiled || result.kernels > 0) {
    const double estimate = result.seconds * 1e6 / static_cast<double>(result.kernels);
    line.number("kernel_us", profiled.value_or(estimate), 3);
  } else {
    line.null("kernel_us");
  }
  line.text("kernel_us_source", profiled ? "profiled" : "estimated");
  line.count("size", parameters.size);
  if (description.takes_iterations) line.count("iterations", parameters.iterations);
  for (const auto& [name, value] : parameters.own) line.count(name, value);
  line.text("sync", sync_name(sync)).count("batch", batch);
  line.number("sleep_ratio", options.sleep_ratio, 3).number("slept_s", result.slept, 6);
  line.number("started_at", result.started_at, 6).number("build_ms", target->build_time().count(), 3);
  if (result.clock_gap_ms) line.number("clock_gap_ms", *result.clock_gap_ms, 3);
  line.print();
}

}  // namespace

int run_workload(const Description& description, const TargetOpener& open, int argc,
                 const char* const* argv) {
  try {
    const Options options = parse_options(description, argc, argv);
    if (options.help) {
      std::fputs(usage(description).c_str(), stdout);
      return 0;
    }
    run(description, open, options);
    return 0;
  } catch (const BadInput& error) {
    std::fprintf(stderr, "%s: %s\n", description.name.c_str(), error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", description.name.c_str(), error.what());
    return 1;
  }
}

}  // namespace workloads
