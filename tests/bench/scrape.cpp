// fairgv bench scrape: what programs pay for metrics. One run of a program, in alternating turns: while its
// daemon is scraped every second (as Prometheus does, and more often than most), and while it is not; alone
// on the device, and beside another tenant that keeps it busy.
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/ring/handle.hpp"
#include "tests/bench/support/alternation.hpp"
#include "tests/bench/support/company.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/output.hpp"
#include "tests/bench/support/progress_line.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/harness/process_cpu.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::scrape_experiment {
namespace {

using namespace harness;

struct Settings {
  int turns = 30;
  double turn_s = 3;
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
  const ring::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
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

/// Scrapes every `period` while it is told to, on a thread of its own.
class Scraper {
 public:
  Scraper(std::string path, std::chrono::duration<double> period)
      : path_(std::move(path)), period_(period), thread_([this] { run(); }) {}
  ~Scraper() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  void scrape_now(bool active) {
    {
      const std::lock_guard lock(mutex_);
      active_ = active;
    }
    changed_.notify_one();
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
    while (!ending_) {
      if (!active_) {
        changed_.wait(lock);
        continue;
      }
      lock.unlock();
      const auto page = scrape(path_);
      lock.lock();
      if (page) {
        pages_.push_back(*page);
      } else {
        ++failures_;
      }
      const auto next = std::chrono::system_clock::now() +
                        std::chrono::duration_cast<std::chrono::system_clock::duration>(period_);
      changed_.wait_until(lock, next, [this] { return ending_ || !active_; });
    }
  }

  const std::string path_;
  const std::chrono::duration<double> period_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool active_ = false;
  bool ending_ = false;
  std::vector<double> pages_;
  std::uint64_t failures_ = 0;
  std::thread thread_;  // last: it uses all the others
};

Result<std::string> measure(const Settings& settings, const Tenancy& tenancy, const std::string& socket,
                            std::uint64_t iterations, const std::string& what, ProgressLine& progress) {
  Scraper scraper(socket, std::chrono::duration<double>(settings.period_s));
  const auto turns = alternate_condition(tenancy.tenant("bench", 1,
                                                        {beside("workloads/computeLoop"), "--sync", "stream",
                                                         "--iterations", std::to_string(iterations)}),
                                         settings.turn_s, settings.turns, [&](bool scraped) {
                                           progress.step(what + (scraped ? ", scraped" : ", in peace"));
                                           scraper.scrape_now(scraped);
                                         });
  if (!turns) return turns.error();
  if (scraper.failures() > 0) return Error{fmt::format("{} scrapes failed", scraper.failures())};
  std::vector<double> costs;
  for (const Turns& turn : turns.value()) costs.push_back(100 * (turn.first / turn.second - 1));
  const Estimate mean = estimate_of(costs);
  const std::vector<double> pages = scraper.pages();
  if (pages.empty()) return Error{"nothing was scraped: turns are too short"};
  const double page_us = 1e6 * estimate_of(pages).mean;
  progress.print_row(fmt::format("{:<16}{:>8}{:>+12.2f} %{:>22}{:>20}{:>14.1f}{:>10.3f} %", what,
                                 pages.size(), median(costs),
                                 fmt::format("{:+.2f} +- {:.2f} %", mean.mean, mean.within),
                                 fmt::format("{:+.1f} to {:+.1f}", smallest(costs), largest(costs)), page_us,
                                 page_us * 1e-4 / settings.period_s));
  return fmt::format("{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.2f}", what, settings.turns, pages.size(),
                     median(costs), mean.mean, mean.within, smallest(costs), largest(costs), page_us);
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  const auto iterations = loop_iterations(placement);
  if (!iterations) return iterations.error();
  const ScratchFile socket(".metrics");
  auto tenancy = Tenancy::start(placement, {}, "[metrics]\nlisten = \"unix:" + socket.path() + "\"");
  if (!tenancy) return tenancy.error();
  fmt::print(
      "A program's time while its daemon is scraped every {:g} s over that while it is not, in {} pairs of "
      "turns of {:g} s;\nand the CPU time that the daemon took for a page, also as a part of one core\n\n"
      "{:<16}{:>8}{:>14}{:>22}{:>20}{:>14}{:>12}\n",
      settings.period_s, settings.turns, settings.turn_s, "", "pages", "median", "mean", "lowest-highest",
      "page, us", "of a core");
  ProgressLine progress(4 * static_cast<std::size_t>(settings.turns));
  Findings found{"case,pairs,pages,median_percent,mean_percent,within,lowest,highest,page_us", {}};
  auto alone = measure(settings, tenancy.value(), socket.path(), iterations.value(), "alone", progress);
  if (!alone) return alone.error();
  found.rows.push_back(alone.value());
  auto busy = start_saturating(tenancy.value(), 1, iterations.value());
  if (!busy) return busy.error();
  auto beside_one =
      measure(settings, tenancy.value(), socket.path(), iterations.value(), "beside another", progress);
  if (!beside_one) return beside_one.error();
  if (auto there = busy->look(); !there) return there.error();
  found.rows.push_back(beside_one.value());
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("scrape", "What programs pay while metrics are scraped every second");
  Settings settings;
  experiment.setting("--turns", settings.turns, 4, "Pairs of turns, scraped and in peace")
      ->check(CLI::Range(2, 100'000));
  experiment.setting("--turn-seconds", settings.turn_s, 2, "The length of a turn")
      ->check(CLI::Range(0.1, 1'000.0));
  experiment.options()
      .add_option("--period", settings.period_s, "Seconds from one scrape to the next")
      ->check(CLI::Range(0.01, 100.0));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"scrape", run};

}  // namespace
}  // namespace fairgv::bench::scrape_experiment
