#include "tests/bench/support/text/bars.hpp"

#include <fmt/core.h>

namespace fairgv::bench {

Figure bars_by_policy(const std::vector<std::string>& policies, const std::vector<Bar>& bars,
                      const std::string& commands, const std::string& line) {
  std::string script =
      "set style data histograms; set style histogram errorbars gap 1; set style fill solid 0.8\n"
      "set grid ytics; set key outside\n" +
      commands + '\n';
  std::string plots;
  for (const std::string& policy : policies) {
    const std::string block = fmt::format("$bars{}", script.size());
    script += block + " << END\n";
    for (const Bar& bar : bars) {
      if (bar.policy != policy) continue;
      script += fmt::format("{} {:.4f} {:.4f} {:.4f}\n", bar.group, bar.height.median, bar.height.lowest,
                            bar.height.highest);
    }
    script += "END\n";
    plots += fmt::format(", {} using 2:3:4:xtic(1) title '{}'", block, policy);
  }
  script += fmt::format("plot {} with lines lc rgb 'black'{}\n", line, plots);
  return {900, 420, script};
}

}  // namespace fairgv::bench
