#include "tests/bench/report/catalogue.hpp"

namespace fairgv::bench::report {
namespace {

const Condition kFair{"policy", "fair"};
// Contents of buffers are copied, over the link that LoGV simulated.
const Condition kLinked{"way", "copied; 100MB/s 1ms"};

Goal at_least(double value) {
  return {.at_least = value};
}
Goal at_most(double value) {
  return {.at_most = value};
}
Goal between(double low, double high) {
  return {.at_least = low, .at_most = high};
}

std::vector<Entry> machine() {
  return {
      {"steadiness",
       "The machine",
       {{"Part of the time in which core 0 is slowed down from outside", Place{"slow", Of::highest}, 3},
        {"How many times as long the same takes then", Place{"times", Of::highest}}},
       "Dots: how many times as long as at best the same additions take on core 0, by itself and beside a "
       "busy core."}};
}

std::vector<Entry> sharing() {
  return {
      {"share",
       "Shares by weight",
       {{"Min-Max Ratio, weights 1:2:3, matrixMul", Place{"min_max_ratio"}, 3, "", at_least(0.99), "0.99"},
        {"Aggregated overhead", Place{"overhead", Of::highest}, 3, "", at_most(1.01), "1.02"}},
       "",
       {"--seconds", "1", "--baseline-seconds", "0.5"}},
      {"unfair",
       "A fair and an unfair run",
       {{"Min-Max Ratio beside a greedy program, fair queuing", Place{"min_max_ratio", Of::lowest, {kFair}},
         3, "", at_least(0.97)},
        {"The same, first come, first served", Place{"min_max_ratio", Of::lowest, {{"policy", "fifo"}}}}},
       "Bars: what part of the device each of three tenants gets, first come, first served, and by fair "
       "queuing, with marks at what its weight entitles it to."},
      {"fair3",
       "Fairness of three tenants, by policy",
       {{"Min-Max Ratio, weights 1:2:3, the lowest of the programs",
         Place{"min_max_ratio", Of::lowest, {kFair}}, 3, "", at_least(0.99), "at least 0.99 (figure 8)"},
        {"Aggregated overhead while the machine is steady, the highest of the programs",
         Place{"overhead", Of::highest, {kFair}}, 3, "", at_most(1.01), "at most 1.02"},
        {"The same of all windows added up", Place{"added_up", Of::highest, {kFair}}, 3, "", at_most(1.01)}},
       "Bars: the Min-Max Ratio of each program under each policy, with a line at the paper's 0.99."},
      {"fair6",
       "Fairness of six tenants, by policy",
       {{"Min-Max Ratio, weights 1:2:2:3:3:4, the lowest of the programs",
         Place{"min_max_ratio", Of::lowest, {kFair}}, 3, "", at_least(0.99), "at least 0.97 (figure 9)"},
        {"Aggregated overhead while the machine is steady, the highest of the programs",
         Place{"overhead", Of::highest, {kFair}}, 3, "", at_most(1.01), "at most 1.02"},
        {"The same of all windows added up", Place{"added_up", Of::highest, {kFair}}, 3, "", at_most(1.01)}},
       "Bars: the Min-Max Ratio of each program under each policy, with a line at the paper's 0.97."},
      {"calls",
       "Kinds of programs",
       {{"Workloads that are of the paper's class, interactive or not, mean", Place{"same_class", Of::mean},
         2, "", Goal{}, "table 3"}}},
      {"mixed",
       "Beside short and long kernels",
       {{"Run time beside a neighbour, over that alone; the farthest from 2",
         Place{"normalised_run_time", Of::farthest, {kFair}, 2}, 3, "", between(1.9, 2.1),
         "about 2 (figure 11)"}},
       "Curves: the run time of a program over that alone, by the length of the neighbour's kernels, one for "
       "each policy."},
      {"conserve",
       "Beside a program that sleeps",
       {{"What both programs get done, over that alone, the lowest",
         Place{"utilisation", Of::lowest, {kFair}}, 3, "", at_least(0.97)},
        {"Time in which kernels run, over that of one program alone, the lowest",
         Place{"in_use", Of::lowest, {kFair}}, 3, "", at_least(0.97)}},
       "Bars: how busy the device is, by the part of its time that the other program sleeps, one for each "
       "policy."},
      {"promises",
       "Guarantees and ceilings",
       {{"Part of a second by which the worst window misses a guarantee or exceeds a ceiling",
         Place{"missed", Of::highest}, 2, "%", at_most(1)}}},
      {"oversell",
       "An oversold device",
       {{"Utilisation, sold by use and need",
         Place{"utilisation", Of::lowest, {{"system", "by use and need"}}}, 3, "", at_least(0.764),
         "0.764 (figure 7)"},
        {"Part of the time in which services are below their targets",
         Place{"broken", Of::highest, {{"system", "by use and need"}}}, 4, "", at_most(0.01),
         "less than 0.01"},
        {"The same if the device is sold 1.5 times whatever tenants use",
         Place{"broken", Of::highest, {{"system", "sold 1.5 times"}}}, 4}}},
      {"crowd",
       "A crowd",
       {{"Min-Max Ratio of 64 tenants of equal weight", Place{"min_max_ratio"}, 3, "", at_least(0.95)},
        {"Processor time of idle tenants meanwhile", Place{"idle_cpu_ms"}, 3, "ms", at_most(0)}}},
  };
}

std::vector<Entry> costs() {
  return {
      {"overhead",
       "What a lone program pays",
       {{"Standalone overhead, the worst kernel of 21 us and more",
         Place{"overhead", Of::highest, {{"kernel_us", 21.0}}}, 3, "", at_most(1.02),
         "about 1.0; GVirtuS 1.45 at 21 us (figure 2)"},
        {"The same, mean of all", Place{"overhead", Of::mean}, 3, "", at_most(1.00)}},
       "Points: the overhead of each program by the length of its kernels, beside what was published of "
       "GVirtuS."},
      {"moves",
       "Being moved",
       {{"How long mmul is held, moved over 100 MB/s and 1 ms",
         Place{"held_ms", Of::highest, {{"program", "mmul"}, kLinked}}, 1, "ms", at_most(149.2),
         "LoGV: 149.2 ms (table II)"},
        {"The same of lud", Place{"held_ms", Of::highest, {{"program", "lud"}, kLinked}}, 1, "ms",
         at_most(196), "LoGV: 196.0 ms (table II)"},
        {"What mmul loses by it", Place{"overhead_ms", Of::highest, {{"program", "mmul"}, kLinked}}, 1, "ms",
         at_most(962.9), "LoGV: 962.9 ms (table II)"},
        {"The same of lud", Place{"overhead_ms", Of::highest, {{"program", "lud"}, kLinked}}, 1, "ms",
         at_most(1903.9), "LoGV: 1903.9 ms (table II)"},
        {"How long mmul is moved", Place{"duration_ms", Of::highest, {{"program", "mmul"}, kLinked}}, 1, "ms",
         at_most(3051.3), "LoGV: 3051.3 ms (table III)"},
        {"The same of lud", Place{"duration_ms", Of::highest, {{"program", "lud"}, kLinked}}, 1, "ms",
         at_most(2293), "LoGV: 2293.0 ms (table III)"}}},
      {"sampling",
       "Measuring every command",
       {{"Work lost if every command is measured by itself, the most", Place{"cost_percent", Of::highest}, 1,
         "%", Goal{}, "up to 7 % (section 3.3)"}}},
      {"null-call",
       "Round trip of a call",
       {{"Synchronous call, both sides awake, over a bare cache line", Place{"ratio"}, 2, "", at_most(2)}},
       "",
       {"--pairs", "1", "--rounds", "100"}},
      {"launch",
       "Launches",
       {{"Cost of one enqueue over the driver's",
         Place{"ratio", Of::highest, {{"what", "cost of one enqueue; us"}}}, 2},
        {"Launch and finish of an empty kernel over the driver's",
         Place{"ratio", Of::highest, {{"what", "launch and finish; us"}}}, 2}},
       "",
       {"--pairs", "1", "--count", "500"}},
      {"api", "The most used calls", {}, "", {"--pairs", "1"}},
      {"syscalls",
       "System calls",
       {{"System calls of a launch", Place{"per_launch", Of::highest, {{"client", "FairGV"}}}, 4, "",
         at_most(0.1)}},
       "",
       {"--launches", "500"}},
      {"transfer",
       "Transfers",
       {{"Bandwidth of reads of 1 MiB and more over the driver's, the lowest",
         Place{"ratio", Of::lowest, {{"kib", 1024.0}, {"operation", "read"}}}, 3, "", at_least(0.98)},
        {"The same of writes", Place{"ratio", Of::lowest, {{"kib", 1024.0}, {"operation", "write"}}}, 3, "",
         at_least(0.98)}},
       "",
       {"--pairs", "1", "--largest", "1024"}},
      {"accounting",
       "What is charged",
       {{"Charged beyond the kernels' span, as the only tenant, the most either way",
         Place{"over_span_percent", Of::farthest, {{"condition", "only tenant"}}}, 2, "%", between(-1, 1),
         "within 3 % (table 2)"},
        {"The same beside another tenant",
         Place{"over_span_percent", Of::farthest, {{"condition", "beside another"}}}, 2, "%", between(-1, 1)},
        {"Cost of accounting while another competes, the highest",
         Place{"cost_percent", Of::highest, {{"condition", "beside another"}}}, 2, "%", at_most(1)}}},
  };
}

std::vector<Entry> waiting() {
  return {
      {"latency",
       "How long a waking tenant waits",
       {{"First command of a waking tenant beside one that is busy, p99 (a slice is at most 15 ms)",
         Place{"p99_us", Of::highest, {{"condition", "beside 1"}}}, 0, "us", at_most(15000)},
        {"The same, p50", Place{"p50_us", Of::highest, {{"condition", "beside 1"}}}, 0, "us"},
        {"The same without FairGV, beside a bare program that keeps the device busy, p50",
         Place{"p50_us", Of::highest, {{"condition", "bare beside a flood"}}}, 0, "us"}}},
      {"slicing",
       "Launches in parts",
       {{"Slowdown in parts of 1,500 work-groups and more, the highest",
         Place{"slowdown_percent", Of::highest, {{"blocks", 1500.0}}}, 2, "%", at_most(2),
         "less than 5 % (table 4)"}},
       "Curves: how much longer a launch takes in parts, by their size, beside the paper's."},
      {"long-kernel",
       "A kernel of a minute",
       {{"Min-Max Ratio of a kernel of a minute and short ones, sliced",
         Place{"min_max_ratio", Of::lowest, {{"slicing", "as configured"}}}, 3, "", at_least(0.97)},
        {"Waits of the short ones meanwhile, p99 (a slice is at most 15 ms)",
         Place{"p99_ms", Of::highest, {{"slicing", "as configured"}}}, 2, "ms", at_most(30)},
        {"Min-Max Ratio without slicing", Place{"min_max_ratio", Of::lowest, {{"slicing", "off"}}}}},
       "Curves: how the waits of the short kernels are spread, with slicing and without."},
      {"prelude",
       "What slicing costs those that are not cut",
       {{"Throughput with slicing over that without, the lowest", Place{"throughput"}, 4, "",
         at_least(0.995)},
        {"Building a program takes longer by, the most", Place{"build_longer_ms", Of::highest}, 1, "ms",
         at_most(10)}}},
      {"hostile",
       "A hostile neighbour",
       {{"Throughput beside it over that beside one that behaves, mean", Place{"ratio", Of::mean}, 3, "",
         between(0.97, 1.03)}}},
      {"killed",
       "Programs that are killed in the midst of their kernels",
       {{"Throughput beside them over that alone, at equal weights, the lowest", Place{"kept", Of::lowest}, 3,
         "", at_least(0.45)},
        {"Charged to their tenant, over the time for which their kernels held the device, mean",
         Place{"charged", Of::mean}, 3, "", between(0.95, 1.05)}}},
      {"storm",
       "A storm of faults",
       {{"Complaints: wrong results, leaks, wrong books, programs that were not hit and failed",
         Place{"number", Of::highest, {{"what", "complaints"}}}, 0, "", at_most(0)},
        {"Device time that all tenants together were charged, of what passed",
         Place{"number", Of::highest, {{"what", "device time that was charged; of what passed"}}}, 3, "",
         at_most(1.01)},
        {"What the tenants that no fault hits had of it, over their share",
         Place{"number",
               Of::lowest,
               {{"what", "what the steady tenants had of what was charged; over their share"}}},
         3, ""}}},
  };
}

std::vector<Entry> all() {
  std::vector<Entry> entries = machine();
  for (const auto& part : {sharing(), costs(), waiting()})
    entries.insert(entries.end(), part.begin(), part.end());
  return entries;
}

}  // namespace

const std::vector<Entry>& catalogue() {
  static const std::vector<Entry> entries = all();
  return entries;
}

Entry entry_of(const std::string& name) {
  for (const Entry& entry : catalogue()) {
    if (entry.name == name) return entry;
  }
  return {name, name, {}};
}

}  // namespace fairgv::bench::report
