#include "tests/bench/support/text/output.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/bench/support/scratch_file.hpp"
#include "tests/harness/child.hpp"

namespace fairgv::bench {
namespace {

/// The reason why the file cannot be written, or nothing.
std::string writable(const std::string& file) {
  if (::access(file.c_str(), F_OK) == 0) {
    if (!std::filesystem::is_directory(file) && ::access(file.c_str(), W_OK) == 0) return {};
    return "cannot write to " + file;
  }
  const auto parent = std::filesystem::path(file).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? "" : system_error("cannot write in " + folder).message;
}

std::string drawable(const std::string& file) {
  if (!file.ends_with(".svg") && !file.ends_with(".png")) return "a figure is a .svg or .png file";
  return writable(file);
}

/// As gnuplot wants a text that may have quotes in it.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) result += letter == '\'' ? std::string("''") : std::string(1, letter);
  return result + "'";
}

}  // namespace

void declare_csv(CLI::App& app, Output& output) {
  app.add_option("--csv", output.csv_file, "Also write the table to this file")->check(writable);
}

void declare_figure(CLI::App& app, Output& output) {
  app.add_option("--figure", output.figure_file, "Also draw it: a .svg or .png file (needs gnuplot)")
      ->check(drawable);
}

std::string machine(unsigned device_cores) {
  const std::string device = device_cores == 0 ? "on all of them" : fmt::format("on {}", device_cores);
  return fmt::format("{} cores, a CPU device {}; FairGV {}", ::sysconf(_SC_NPROCESSORS_ONLN), device,
                     FAIRGV_VERSION);
}

std::string shown(const harness::Spread& spread) {
  return fmt::format("{:.3f} {:.3f}-{:.3f}", spread.median, spread.lowest, spread.highest);
}

std::string shown(const harness::Estimate& estimate) {
  return fmt::format("{:.4f} +- {:.4f}", estimate.mean, estimate.within);
}

std::string csv_cell(std::string text) {
  std::replace(text.begin(), text.end(), ',', ';');
  return text;
}

Result<void> write_csv(const Output& output, unsigned device_cores, const std::string& header,
                       const std::vector<std::string>& rows) {
  if (output.csv_file.empty()) return {};
  std::ofstream out(output.csv_file);
  out << "# " << machine(device_cores) << '\n' << header << '\n';
  for (const std::string& row : rows) out << row << '\n';
  out.close();
  return out ? Result<void>() : system_error("cannot write " + output.csv_file);
}

Result<void> draw(const Output& output, const Figure& figure) {
  if (output.figure_file.empty()) return {};
  const ScratchFile script(".gnuplot");
  std::ofstream(script.path()) << fmt::format(
      "set terminal {} size {},{}\nset output {}\n{}",
      output.figure_file.ends_with(".png") ? "pngcairo" : "svg background 'white'",  // pages may be dark
      figure.width, figure.height, quoted(output.figure_file), figure.commands);
  FAIRGV_TRY(finished, harness::run({{"gnuplot", script.path()}, {}}));
  if (finished->status != 0) return Error{"gnuplot drew no figure (Debian: gnuplot-nox)"};
  return {};
}

}  // namespace fairgv::bench
