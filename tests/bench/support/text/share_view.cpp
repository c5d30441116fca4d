#include "tests/bench/support/text/share_view.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "tests/harness/statistics.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

constexpr int kBarWidth = 40;
constexpr double kLineEverySeconds = 2.0;
constexpr double kGoodRatio = 0.97;  // as in the paper
constexpr double kFairRatio = 0.9;
constexpr double kTooGood = 0.8;  // the programs alone were disturbed
constexpr double kGoodOverhead = 1.05;
constexpr double kFairOverhead = 1.2;

std::string bar(double share) {
  const int filled = static_cast<int>(share * kBarWidth + 0.5);
  std::string text;
  for (int i = 0; i < kBarWidth; ++i) text += i < filled ? "█" : "·";
  return text;
}

double total_weight(const std::vector<Tenant>& tenants) {
  double sum = 0;
  for (const Tenant& tenant : tenants) sum += tenant.weight;
  return sum;
}

}  // namespace

Fairness fairness_of(const std::vector<Tenant>& tenants) {
  Fairness fairness;
  double sum = 0;
  for (const Tenant& tenant : tenants) sum += tenant.normalised();
  for (const Tenant& tenant : tenants) {
    fairness.ideal.push_back(tenant.weight / total_weight(tenants));
    fairness.measured.push_back(sum > 0 ? tenant.normalised() / sum : 0);
    fairness.relative.push_back(fairness.measured.back() / fairness.ideal.back());
  }
  fairness.min_max_ratio = min_max_ratio(fairness.relative);
  fairness.overhead = sum > 0 ? 1 / sum : 0;
  return fairness;
}

ShareView::ShareView() : terminal_(::isatty(STDOUT_FILENO) != 0) {}

void ShareView::show(const std::vector<Tenant>& tenants, double elapsed, double seconds) {
  if (!terminal_) {
    if (elapsed < next_line_) return;
    next_line_ = elapsed + kLineEverySeconds;
    fmt::print("{:4.0f} s ", elapsed);
    for (const Tenant& tenant : tenants) fmt::print("  {} {:4.1f} %", tenant.name, 100 * tenant.live_share);
    fmt::print("\n");
    std::fflush(stdout);
    return;
  }
  if (drawn_ > 0) fmt::print("\x1b[{}A", drawn_);
  for (const Tenant& tenant : tenants) {
    const double ideal = tenant.weight / total_weight(tenants);
    fmt::print("\x1b[2K  {:<8} weight {:<3} {} {:5.1f} %  (ideal {:4.1f} %)\n", tenant.name, tenant.weight,
               bar(tenant.live_share), 100 * tenant.live_share, 100 * ideal);
  }
  fmt::print("\x1b[2K  {:.1f} of {:.0f} s\n", elapsed, seconds);
  drawn_ = tenants.size() + 1;
  std::fflush(stdout);
}

void ShareView::finish() {
  if (terminal_) fmt::print("\n");
}

std::vector<std::string> verdict_lines(const Fairness& fairness) {
  const char* const ratio = fairness.min_max_ratio >= kGoodRatio   ? "good"
                            : fairness.min_max_ratio >= kFairRatio ? "fair"
                                                                   : "poor";
  const char* const overhead = fairness.overhead < kTooGood         ? "too low to be true"
                               : fairness.overhead <= kGoodOverhead ? "good"
                               : fairness.overhead <= kFairOverhead ? "fair"
                                                                    : "poor";
  const bool doubtful = fairness.min_max_ratio < kFairRatio || fairness.overhead < kTooGood ||
                        fairness.overhead > kFairOverhead;
  std::vector<std::string> lines{
      fmt::format("Min-Max Ratio {:.3f}   {}. Higher is better; 1: every tenant has exactly its share",
                  fairness.min_max_ratio, ratio),
      "                      (the FairGV paper reaches 0.97 to 0.99).",
      fmt::format("Overhead      {:.3f}   {}. Lower is better; 1: sharing costs nothing;", fairness.overhead,
                  overhead),
      "                      1.1: a tenth more time for the same work; below 1: the tenants do more",
      "                      together than alone, since one works while another pauses."};
  if (doubtful) {
    lines.emplace_back(
        "Was the machine busy with something else? Then repeat this when it is quiet: fairgv bench share");
  }
  return lines;
}

void print_table(const std::vector<Tenant>& tenants, const Fairness& fairness) {
  fmt::print("\n{:<10} {:<22} {:>6} {:>12} {:>15} {:>14} {:>14}\n", "tenant", "program", "weight",
             "ideal share", "measured share", "throughput", "alone");
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    const Tenant& tenant = tenants[i];
    fmt::print("{:<10} {:<22} {:>6} {:>10.2f} % {:>13.2f} % {:>14.4g} {:>14.4g}  {}\n", tenant.name,
               tenant.program, tenant.weight, 100 * fairness.ideal[i], 100 * fairness.measured[i],
               tenant.together, tenant.alone, tenant.unit);
  }
  fmt::print("\n");
  for (const std::string& line : verdict_lines(fairness)) fmt::print("{}\n", line);
}

}  // namespace fairgv::bench
