// The display of `fairgv bench share`: a bar per tenant while it runs, and the table at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fairgv::bench {

/// One tenant of the experiment and its measurements.
struct Tenant {
  std::string name;
  std::uint32_t weight = 1;
  std::string program;
  double alone = 0;     // throughput on the driver alone, in the program's own unit
  double together = 0;  // throughput beside the others
  std::string unit;
  double live_share = 0;  // of the work done lately, 0..1

  /// Throughput as a fraction of what the device gives to the program alone.
  double normalised() const { return alone > 0 ? together / alone : 0; }
};

/// Shares as the programs' own throughput shows them.
struct Fairness {
  std::vector<double> ideal;     // weight over the sum of weights
  std::vector<double> measured;  // normalised throughput over the sum of them
  std::vector<double> relative;  // measured over ideal
  double min_max_ratio = 0;      // of these (FairGV paper, section 5.4.1)
  double overhead = 0;           // ideal aggregated throughput over the measured one
};

Fairness fairness_of(const std::vector<Tenant>& tenants);

/// Bars that redraw themselves in place on a terminal, and lines now and then elsewhere.
class ShareView {
 public:
  ShareView();
  void show(const std::vector<Tenant>& tenants, double elapsed, double seconds);
  void finish();

 private:
  bool terminal_;
  std::size_t drawn_ = 0;  // lines on the terminal that are ours to redraw
  double next_line_ = 0;   // elapsed time of the next line when there is no terminal
};

/// The meaning of the two figures, and whether these are good: a line each.
std::vector<std::string> verdict_lines(const Fairness& fairness);

void print_table(const std::vector<Tenant>& tenants, const Fairness& fairness);

}  // namespace fairgv::bench
