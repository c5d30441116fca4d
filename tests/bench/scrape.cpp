// fairgv bench scrape: the cost of metrics for programs. One run of a program, in alternating turns: one in
// which its daemon is asked for a page, and one in which it is not; alone on the device, and beside another
// tenant that keeps it busy. The cost of a page is the additional time of the former: turns much shorter than
// the time from one scrape to the next show that better than seconds, whose own differences are larger. Each
// case has its control, in which no turn has a page.
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/handle.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/alternation.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/process_cpu.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::scrape_experiment {
namespace {

using namespace harness;

struct Settings {
  int turns = 300;
  double turn_s = 0.25;
  double period_s = 1;
};

/// The CPU time that the daemon, which is at the other end, has used.
std::optional<double> cpu_of_peer(int socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return {};
  return cpu_seconds(peer.pid);
}

/// The CPU time that the daemon took for one page; nothing if it did not come whole.
std::optional<double> scrape(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  const void* const address = &name;
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || ::connect(fd.get(), static_cast<const sockaddr*>(address), sizeof(name)) != 0) return {};
  const auto before = cpu_of_peer(fd.get());
  if (!before) return {};
  constexpr std::string_view kRequest = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  if (::send(fd.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) < 0) return {};
  std::array<char, 65'536> piece{};
  std::string begin;
  for (;;) {
    const ssize_t length = ::recv(fd.get(), piece.data(), piece.size(), 0);
    if (length < 0 || (length == 0 && !begin.starts_with("HTTP/1.1 200 "))) return {};
    if (length == 0) {
      const auto after = cpu_of_peer(fd.get());
      return after ? std::optional(*after - *before) : std::nullopt;
    }
    if (begin.empty()) begin.assign(piece.data(), static_cast<std::size_t>(length));
  }
}

/// Reads pages on a thread of its own.
class Scraper {
 public:
  explicit Scraper(std::string path) : path_(std::move(path)), thread_([this] { run(); }) {}
  ~Scraper() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    asked_for_.notify_one();
    thread_.join();
  }
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  /// Reads a page now; the caller does not wait for it.
  void read_one() {
    {
      const std::lock_guard lock(mutex_);
      ++wanted_;
    }
    asked_for_.notify_one();
  }
  /// The CPU time that the daemon took for each page, in seconds.
  std::vector<double> pages() const {
    const std::lock_guard lock(mutex_);
    return pages_;
  }
  std::uint64_t failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      asked_for_.wait(lock, [this] { return ending_ || wanted_ > 0; });
      if (ending_) return;
      --wanted_;
      lock.unlock();
      const auto page = scrape(path_);
      lock.lock();
      if (page) {
        pages_.push_back(*page);
      } else {
        ++failures_;
      }
    }
  }

  const std::string path_;
  mutable std::mutex mutex_;
  std::condition_variable asked_for_;
  int wanted_ = 0;
  bool ending_ = false;
  std::vector<double> pages_;
  std::uint64_t failures_ = 0;
  std::thread thread_;  // last: it uses all the others
};

struct Case {
  std::string name;
  bool scraped;  // or the control
};

Result<std::string> measure(const Settings& settings, const Tenancy& tenancy, const std::string& socket,
                            std::uint64_t iterations, const Case& of, ProgressLine& progress) {
  Scraper scraper(socket);
  const auto turns = alternate_condition(tenancy.tenant("bench", 1,
                                                        {beside("workloads/computeLoop"), "--sync", "stream",
                                                         "--iterations", std::to_string(iterations)}),
                                         settings.turn_s, settings.turns, [&](bool first) -> Result<void> {
                                           progress.step(of.name);
                                           if (first && of.scraped) scraper.read_one();
                                           return {};
                                         });
  if (!turns) return turns.error();
  if (scraper.failures() > 0) return Error{fmt::format("{} pages did not come", scraper.failures())};
  std::vector<double> lost;  // in milliseconds
  for (const Turns& turn : turns.value()) lost.push_back(1e3 * (turn.first - turn.second));
  const Estimate mean = estimate_of(lost);
  const std::vector<double> pages = scraper.pages();
  const double page_us = pages.empty() ? 0 : 1e6 * estimate_of(pages).mean;
  const double percent_per_ms = 0.1 / settings.period_s;
  progress.print_row(fmt::format(
      "{:<24}{:>6}{:>+10.3f} ms{:>22}{:>19}{:>+10.3f} %{:>18}{:>10.1f}", of.name, pages.size(), median(lost),
      fmt::format("{:+.3f} +- {:.3f} ms", mean.mean, mean.within),
      fmt::format("{:+.1f} to {:+.1f}", smallest(lost), largest(lost)), percent_per_ms * median(lost),
      fmt::format("{:+.3f} +- {:.3f} %", percent_per_ms * mean.mean, percent_per_ms * mean.within), page_us));
  return fmt::format("{},{},{},{:.5f},{:.5f},{:.5f},{:.4f},{:.4f},{:.5f},{:.5f},{:.5f},{:.2f}", of.name,
                     settings.turns, pages.size(), median(lost), mean.mean, mean.within, smallest(lost),
                     largest(lost), percent_per_ms * median(lost), percent_per_ms * mean.mean,
                     percent_per_ms * mean.within, page_us);
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(iterations, loop_iterations(placement));
  const ScratchFile socket(".metrics");
  FAIRGV_TRY(tenancy, Tenancy::start(placement, {}, "[metrics]\nlisten = \"unix:" + socket.path() + "\""));
  fmt::print(
      "What a program loses to one page of metrics: its time for a turn with one less its time for a turn "
      "without, "
      "in {} pairs of turns of {:g} s;\nas a part of {:g} s, from one scrape to the next; and the CPU time "
      "that the "
      "daemon took for a page. The controls have no pages\n\n"
      "{:<24}{:>6}{:>13}{:>22}{:>19}{:>12}{:>18}{:>10}\n",
      settings.turns, settings.turn_s, settings.period_s, "", "pages", "median", "mean", "lowest-highest",
      "median", "mean", "page, us");
  ProgressLine progress(8 * static_cast<std::size_t>(settings.turns));
  Findings found{
      "case,pairs,pages,median_ms,mean_ms,within_ms,lowest_ms,highest_ms,median_percent,mean_percent,within_"
      "percent,page_us",
      {}};
  std::optional<Company> busy;
  for (const Case& of : {Case{"alone", true}, Case{"alone (control)", false}, Case{"beside another", true},
                         Case{"beside another (control)", false}}) {
    if (of.name.starts_with("beside") && !busy) {
      FAIRGV_TRY(started, start_saturating(tenancy.value(), 1, iterations.value()));
      busy.emplace(std::move(started).value());
    }
    FAIRGV_TRY(row, measure(settings, tenancy.value(), socket.path(), iterations.value(), of, progress));
    if (busy) {
      FAIRGV_CHECK(busy->look());
    }
    found.rows.push_back(row.value());
  }
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("scrape", "What programs pay while metrics are scraped every second");
  Settings settings;
  experiment.setting("--turns", settings.turns, 8, "Pairs of turns, with a page and without")
      ->check(CLI::Range(2, 100'000));
  experiment.setting("--turn-seconds", settings.turn_s, 0.25, "The length of a turn")
      ->check(CLI::Range(0.05, 1'000.0));
  experiment.options()
      .add_option("--period", settings.period_s,
                  "Seconds from one scrape to the next, of which the loss is a part")
      ->check(CLI::Range(0.01, 100.0));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"scrape", run};

}  // namespace
}  // namespace fairgv::bench::scrape_experiment
