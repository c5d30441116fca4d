// fairgv bench fair3, fairgv bench fair6: fairness and overhead of every scheduling policy (FairGV,
// sections 5.4.3 and 5.4.4, figures 8 and 9). Each cell of the table is one run of `fairgv bench share`: the
// tenants run the same program, so that no share hangs on another program's baseline.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/support/command_line.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

#if FAIRGV_TENANTS == 3
constexpr const char* kName = "fair3";
const std::vector<int> kWeights{1, 2, 3};
const std::vector<std::string> kPrograms{"matrixMul", "hotspot", "BlackScholes", "srad"};
constexpr double kPaper = 0.99;  // FairGV's Min-Max Ratio at least, figure 8
#else
constexpr const char* kName = "fair6";
const std::vector<int> kWeights{1, 2, 2, 3, 3, 4};
const std::vector<std::string> kPrograms{"BlackScholes", "srad"};
constexpr double kPaper = 0.97;  // figure 9
#endif

struct Settings {
  std::vector<std::string> policies{"fair",        "fifo",      "round-robin",
                                    "credit-poll", "credit-hs", "strict-cosched"};
  std::vector<std::string> programs = kPrograms;
  double seconds = 12;
  bool quick = false;
  unsigned device_cores = 0;
  std::string csv_file;
  std::string figure_file;
};

struct Cell {
  std::string policy;
  std::string program;
  double min_max_ratio = 0;
  double overhead = 0;
};

/// A file that is gone with the object.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& suffix)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("fairgv-bench-{}-{}{}", kName, ::getpid(), suffix)) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Result<Cell> measure(const std::string& policy, const std::string& program, const Settings& settings) {
  const ScratchFile json(".json");
  const CommandLine share{
      {beside("fairgv-bench-share"), "--weights", fmt::format("{}", fmt::join(kWeights, ",")), "--programs",
       program, "--policy", policy, "--seconds", fmt::format("{}", settings.seconds), "--baseline-seconds",
       settings.quick ? "0.3" : "2", "--device-cores", std::to_string(settings.device_cores), "--json",
       json.path().string()},
      {}};
  const auto finished = run(share);
  if (!finished) return finished.error();
  const auto result = nlohmann::json::parse(std::ifstream(json.path()), nullptr, false);
  if (finished->status != 0 || !result.is_object()) {
    return Error{fmt::format("{} under {} was not measured", program, policy)};
  }
  return Cell{policy, program, result["min_max_ratio"], result["overhead"]};
}

std::string machine(const Settings& settings) {
  const std::string device =
      settings.device_cores == 0 ? "on all of them" : fmt::format("on {}", settings.device_cores);
  return fmt::format("{} cores, a CPU device {}; FairGV {}", ::sysconf(_SC_NPROCESSORS_ONLN), device,
                     FAIRGV_VERSION);
}

void write_csv(const std::string& file, const Settings& settings, const std::vector<Cell>& cells) {
  std::ofstream out(file);
  out << "# " << machine(settings) << '\n';
  out << "policy,program,min_max_ratio,overhead\n";
  for (const Cell& cell : cells) {
    out << fmt::format("{},{},{:.4f},{:.4f}\n", cell.policy, cell.program, cell.min_max_ratio, cell.overhead);
  }
}

/// Bars by policy, a group for each program, and the paper's value as a line.
Result<void> draw(const Settings& settings, const std::vector<Cell>& cells) {
  const ScratchFile data(".dat");
  std::ofstream table(data.path());
  for (const std::string& program : settings.programs) {
    table << program;
    for (const Cell& cell : cells) {
      if (cell.program == program) table << fmt::format(" {:.4f}", cell.min_max_ratio);
    }
    table << '\n';
  }
  table.close();
  const bool png = settings.figure_file.ends_with(".png");
  std::string script = fmt::format(
      "set terminal {} size 900,420; set output '{}'; set style data histograms; set style fill solid 0.8; "
      "set yrange [0:1.05]; set ylabel 'Min-Max Ratio'; set grid ytics; set key outside; "
      "set title '{}: weights {}'; plot {} title 'paper, FairGV' lt rgb 'black' with lines",
      png ? "pngcairo" : "svg", settings.figure_file, kName, fmt::join(kWeights, ":"), kPaper);
  for (std::size_t i = 0; i < settings.policies.size(); ++i) {
    script +=
        fmt::format(", '{}' using {}:xtic(1) title '{}'", data.path().string(), i + 2, settings.policies[i]);
  }
  const auto finished = run({{"gnuplot", "-e", script}, {}});
  if (!finished) return finished.error();
  if (finished->status != 0) return Error{"gnuplot drew no figure (Debian: gnuplot-nox)"};
  return {};
}

Result<void> run_benchmark(const Settings& settings) {
  fmt::print("{}\n", machine(settings));
  fmt::print(
      "Min-Max Ratio (1 = exactly by weight) and overhead; weights {}; the paper's FairGV: at least {}\n\n",
      fmt::join(kWeights, ":"), kPaper);
  fmt::print("{:<16}", "policy");
  for (const std::string& program : settings.programs) fmt::print("{:>18}", program);
  fmt::print("\n");
  std::vector<Cell> cells;
  for (const std::string& policy : settings.policies) {
    fmt::print("{:<16}", policy);
    std::fflush(stdout);
    for (const std::string& program : settings.programs) {
      const auto cell = measure(policy, program, settings);
      if (!cell) return cell.error();
      cells.push_back(cell.value());
      fmt::print("{:>10.3f}{:>8.3f}", cell->min_max_ratio, cell->overhead);
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
  if (!settings.csv_file.empty()) write_csv(settings.csv_file, settings, cells);
  return settings.figure_file.empty() ? Result<void>() : draw(settings, cells);
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
  const std::string name = fmt::format("fairgv bench {}", kName);
  CLI::App app{"Fairness and overhead of every scheduling policy, tenants of different weight", name};
  Settings settings;
  app.add_option("--policies", settings.policies, "Policies to compare")->delimiter(',');
  app.add_option("--programs", settings.programs, "Workloads; all tenants run the same")->delimiter(',');
  auto* seconds = app.add_option("--seconds", settings.seconds, "Length of each shared window")
                      ->check(CLI::Range(1.0, 3'600.0));
  app.add_flag("--quick", settings.quick, "Short runs, to see that it works: the figures mean nothing")
      ->excludes(seconds);
  declare_device_cores(app, settings.device_cores);
  app.add_option("--csv", settings.csv_file, "Also write the table to this file");
  app.add_option("--figure", settings.figure_file, "Also draw it: a .svg or .png file (needs gnuplot)");
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  if (settings.quick) settings.seconds = 1;
  if (const auto done = run_benchmark(settings); !done) {
    fmt::print(stderr, "{}: {}\n", name, done.error().message);
    return 1;
  }
  return 0;
}
