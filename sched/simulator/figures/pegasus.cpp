#include "sched/simulator/figures/pegasus.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "sched/simulator/figures/numbers.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr Duration kXenTick = 10ms;
constexpr Duration kGuestsLength = 60s;
constexpr Duration kDriverSwitch = 400us;

/// A guest domain with its program, and its credits: Dom<AccC, XC, SLA proportion>.
struct Domain {
  std::uint32_t accelerator_credits;
  std::uint32_t cpu_credits;
  double level;
  Duration kernel = 300us;
  std::uint32_t kernels = 64;  // between two waits
  Duration host_work = 300us;
  std::size_t processor = 0;
  double jitter = 0.1;
};

struct GuestsOutcome {
  std::vector<double> work;                      // by domain: part of the GPU's time
  std::vector<std::vector<Duration>> latencies;  // by domain: of its bursts

  double total() const { return std::accumulate(work.begin(), work.end(), 0.0); }
  double median_ms(std::size_t domain) const { return quantile_ms(latencies[domain], 0.5); }
  /// As the paper's whiskers: without the outer 15 %.
  double spread_ms(std::size_t domain) const {
    return quantile_ms(latencies[domain], 0.925) - quantile_ms(latencies[domain], 0.075);
  }
};

enum class Waiting { polls, yields };

/// These domains share a GPU.
GuestsOutcome guests(const std::string& policy, const std::vector<Domain>& domains, Waiting waiting,
                     const FigureRun& run) {
  SimulationSettings settings;
  settings.policy = policy;
  settings.length = run.of(kGuestsLength);
  settings.seed = run.seed;
  settings.slices = SliceRule::constant(kXenTick);
  settings.switch_cost = kDriverSwitch;
  settings.host = {.processors = 1, .switch_cost = 10us, .polls = waiting == Waiting::polls};
  for (const Domain& domain : domains) {
    TenantSpec spec;
    spec.attributes.weight = domain.accelerator_credits;
    spec.attributes.host_weight = domain.cpu_credits;
    spec.attributes.min = {Duration(static_cast<Duration::rep>(domain.level * 1e9)), 1s};
    spec.kernel = domain.kernel;
    spec.jitter = domain.jitter;
    spec.burst = domain.kernels;
    spec.host_work = domain.host_work;
    spec.processor = domain.processor;
    settings.host.processors = std::max(settings.host.processors, domain.processor + 1);
    settings.kinds.push_back(spec);
  }
  GuestsOutcome outcome;
  for (const TenantOutcome& client : simulate_copies(settings, run)) {
    outcome.work.push_back(in_seconds(client.used) / in_seconds(settings.length));
    outcome.latencies.push_back(client.responses);
  }
  return outcome;
}

using ByScheme = std::map<std::string, GuestsOutcome>;

const std::vector<std::string> kSchemes{"xeno-credit", "slaf", "aug-credit", "cosched"};

/// Under None and all schemes.
ByScheme guests_by_scheme(const std::vector<Domain>& domains, const FigureRun& run,
                          Waiting waiting = Waiting::polls) {
  ByScheme outcomes{{"fifo", guests("fifo", domains, waiting, run)}};
  for (const std::string& scheme : kSchemes) outcomes[scheme] = guests(scheme, domains, waiting, run);
  return outcomes;
}

std::string percent_over(double value, double base) {
  return fixed(100 * (value / base - 1), 0) + " %";
}

void figure_3(std::vector<FigureRow>& rows, const FigureRun& run) {
  const auto gain = [&](const Domain& domain) {
    const std::vector<Domain> two{domain, domain};
    return guests("round-robin", two, Waiting::yields, run).total() /
           guests("fifo", two, Waiting::yields, run).total();
  };
  const double few_calls = gain({.accelerator_credits = 256, .cpu_credits = 256, .level = 0});
  const double many_calls = gain({.accelerator_credits = 256, .cpu_credits = 256, .level = 0, .kernels = 4});
  rows.push_back({"Pegasus 3", "two guests share a GPU: work under RR over none", "better for most programs",
                  fixed(few_calls) + " times", few_calls > 1});
  rows.push_back({"Pegasus 3", "the same: few calls against many", "more with few calls",
                  fixed(few_calls) + " against " + fixed(many_calls) + " times", few_calls > many_calls});
}

/// Returns the gain of XC over None.
double figure_4(std::vector<FigureRow>& rows, const FigureRun& run) {
  const Domain equal{.accelerator_credits = 256, .cpu_credits = 256, .level = 0.45};
  const ByScheme all = guests_by_scheme({equal, equal}, run);
  const double none = all.at("fifo").total();
  const double rival = std::max(all.at("xeno-credit").total(), all.at("slaf").total());
  for (const char* scheme : {"xeno-credit", "slaf"}) {
    rows.push_back({"Pegasus 4", std::string("equal credits: throughput of ") + scheme + " over None",
                    "33 % or more", percent_over(all.at(scheme).total(), none),
                    all.at(scheme).total() > none});
  }
  for (const char* scheme : {"aug-credit", "cosched"}) {
    rows.push_back({"Pegasus 4", std::string("equal credits: throughput of ") + scheme + " over XC and SLAF",
                    "4 to 20 %", percent_over(all.at(scheme).total(), rival),
                    all.at(scheme).total() > rival});
  }
  for (const std::string& scheme : kSchemes) {
    rows.push_back(
        {"Pegasus 4", "equal credits: median latency of " + scheme + " against None", "lower (not printed)",
         fixed(all.at(scheme).median_ms(0), 1) + " against " + fixed(all.at("fifo").median_ms(0), 1) + " ms",
         all.at(scheme).median_ms(0) < all.at("fifo").median_ms(0)});
  }
  return all.at("xeno-credit").total() / none;
}

void figure_5(std::vector<FigureRow>& rows, const FigureRun& run) {
  const Domain dom1{.accelerator_credits = 256, .cpu_credits = 256, .level = 0.2};
  const Domain dom2{.accelerator_credits = 512, .cpu_credits = 512, .level = 0.6};
  const Domain dom3{.accelerator_credits = 1024, .cpu_credits = 1024, .level = 0.8};
  const Domain dom4{.accelerator_credits = 256, .cpu_credits = 256, .level = 0.3};
  const ByScheme odd = guests_by_scheme({dom1, dom3}, run);
  for (const std::string& scheme : kSchemes) {
    const double gain = odd.at(scheme).work[1] / odd.at("fifo").work[1];
    rows.push_back({"Pegasus 5", "Dom3 has most credits: its work under " + scheme + " over None",
                    "up to 2.4 times", fixed(gain) + " times", gain > 1});
  }
  const GuestsOutcome even = guests("aug-credit", {dom2, dom4}, Waiting::polls, run);
  rows.push_back({"Pegasus 5", "aug-credit: latency of Dom4 varies more than that of Dom2",
                  "more (not printed)",
                  fixed(even.spread_ms(1), 1) + " against " + fixed(even.spread_ms(0), 1) + " ms",
                  even.spread_ms(1) > even.spread_ms(0)});
}

void figure_6(std::vector<FigureRow>& rows, const FigureRun& run) {
  // The paper's credits, options and iterations: kernels in proportion to the options, and more host work per
  // wait for programs of a quarter of the iterations.
  const Domain dom1{.accelerator_credits = 1024, .cpu_credits = 256, .level = 0.2, .host_work = 1200us};
  const Domain dom2{.accelerator_credits = 1024, .cpu_credits = 1024, .level = 0.8};
  const Domain dom3{.accelerator_credits = 256, .cpu_credits = 1024, .level = 0.8, .kernel = 120us};
  const Domain dom4{
      .accelerator_credits = 768, .cpu_credits = 256, .level = 0.2, .kernel = 240us, .host_work = 1200us};
  const ByScheme odd = guests_by_scheme({dom1, dom3}, run);
  const ByScheme even = guests_by_scheme({dom2, dom4}, run);
  for (const char* scheme : {"aug-credit", "cosched"}) {
    const std::vector<double> work{odd.at(scheme).work[0], even.at(scheme).work[0], odd.at(scheme).work[1],
                                   even.at(scheme).work[1]};
    rows.push_back({"Pegasus 6", std::string(scheme) + ": work of Dom1 to Dom4, of which 2 and 3 do more",
                    "Dom2 and Dom3 are more effective", listed(work),
                    std::min(work[1], work[2]) > std::max(work[0], work[3])});
  }
  const auto total = [&](const char* scheme) { return odd.at(scheme).total() + even.at(scheme).total(); };
  for (const std::string& scheme : kSchemes) {
    const double gain = total(scheme.c_str()) / total("fifo");
    rows.push_back({"Pegasus 6", "work of all under " + scheme + " over None", "more (not printed)",
                    fixed(gain) + " times", gain > 1});
  }
  rows.push_back({"Pegasus 6", "work of all under slaf is like aug-credit's, not like None's", "similar",
                  fixed(total("slaf")) + ", " + fixed(total("aug-credit")) + ", " + fixed(total("fifo")),
                  2 * total("slaf") > total("aug-credit") + total("fifo")});
}

void figure_7(std::vector<FigureRow>& rows, const FigureRun& run) {
  const auto picture_service = [](std::uint32_t credits, double level, std::size_t processor) {
    return Domain{.accelerator_credits = credits,
                  .cpu_credits = credits,
                  .level = level,
                  .kernel = 1ms,
                  .kernels = 20,
                  .host_work = 4ms,
                  .processor = processor};
  };
  const std::vector<Domain> domains{picture_service(256, 0.2, 0), picture_service(1024, 0.6, 0),
                                    picture_service(256, 0.2, 1)};
  const ByScheme all = guests_by_scheme(domains, run);
  const GuestsOutcome& none = all.at("fifo");
  for (const char* scheme : {"slaf", "aug-credit", "cosched"}) {
    rows.push_back({"Pegasus 7", std::string("work of Dom2, which has priority: ") + scheme + " over None",
                    "more (not printed)", percent_over(all.at(scheme).work[1], none.work[1]),
                    all.at(scheme).work[1] > none.work[1]});
  }
  const GuestsOutcome& cosched = all.at("cosched");
  rows.push_back({"Pegasus 7", "cosched: median latency of Dom2 against None", "lower (not printed)",
                  fixed(cosched.median_ms(1), 1) + " against " + fixed(none.median_ms(1), 1) + " ms",
                  cosched.median_ms(1) < none.median_ms(1)});
  rows.push_back({"Pegasus 7", "cosched: median latency of Dom1 and Dom3 against None",
                  "it can penalize other VMs",
                  fixed(cosched.median_ms(0), 1) + ", " + fixed(cosched.median_ms(2), 1) + " against " +
                      fixed(none.median_ms(0), 1) + ", " + fixed(none.median_ms(2), 1) + " ms",
                  cosched.median_ms(0) > none.median_ms(0) && cosched.median_ms(2) > none.median_ms(2)});
}

void figure_8_latency(std::vector<FigureRow>& rows, const FigureRun& run) {
  const auto fast_walsh = [](std::uint32_t cpu_credits) {
    return Domain{.accelerator_credits = 256,
                  .cpu_credits = cpu_credits,
                  .level = 0.4,
                  .kernel = 50us,
                  .kernels = 16,
                  .host_work = 100us};
  };
  const ByScheme equal = guests_by_scheme({fast_walsh(256), fast_walsh(256)}, run, Waiting::yields);
  const ByScheme odd = guests_by_scheme({fast_walsh(256), fast_walsh(2048)}, run, Waiting::yields);
  const ByScheme even = guests_by_scheme({fast_walsh(1024), fast_walsh(256)}, run, Waiting::yields);
  for (const std::string& scheme : kSchemes) {
    const auto lower = [&](const ByScheme& all, std::size_t domain) {
      return all.at(scheme).median_ms(domain) < all.at("fifo").median_ms(domain);
    };
    rows.push_back(
        {"Pegasus 8", "FWT, equal credits: median latency of " + scheme + " against None",
         "much lower (not printed)",
         fixed(equal.at(scheme).median_ms(0)) + " against " + fixed(equal.at("fifo").median_ms(0)) + " ms",
         lower(equal, 0) && lower(equal, 1)});
    rows.push_back({"Pegasus 8", "FWT, CPU credits 1024 and 2048: latencies of Dom2 and Dom3, " + scheme,
                    "almost equal, below None",
                    fixed(even.at(scheme).median_ms(0)) + ", " + fixed(odd.at(scheme).median_ms(1)) + " ms",
                    lower(even, 0) && lower(odd, 1) &&
                        even.at(scheme).median_ms(0) < 1.1 * odd.at(scheme).median_ms(1) &&
                        odd.at(scheme).median_ms(1) < 1.1 * even.at(scheme).median_ms(0)});
  }
}

void figure_9_variation(std::vector<FigureRow>& rows, double gain_of_figure_4, const FigureRun& run) {
  const Domain short_lived{
      .accelerator_credits = 256, .cpu_credits = 256, .level = 0.45, .kernels = 2, .jitter = 0.9};
  const ByScheme all = guests_by_scheme({short_lived, short_lived}, run, Waiting::yields);
  for (const std::string& scheme : kSchemes) {
    const double gain = all.at(scheme).total() / all.at("fifo").total();
    rows.push_back({"Pegasus 9", "short bursts of varying kernels: work under " + scheme + " over None",
                    "scheduling is not effective", fixed(gain) + " times",
                    gain - 1 < (gain_of_figure_4 - 1) / 2});
  }
}

}  // namespace

std::vector<FigureRow> pegasus_figures(const FigureRun& run) {
  std::vector<FigureRow> rows;
  figure_3(rows, run);
  const double gain = figure_4(rows, run);
  figure_5(rows, run);
  figure_6(rows, run);
  figure_7(rows, run);
  figure_8_latency(rows, run);
  figure_9_variation(rows, gain, run);
  return rows;
}

}  // namespace fairgv::sched
