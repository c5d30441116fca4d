// The output of an experiment: a CSV file that names the machine, and a figure.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench {

struct Output {
  std::string csv_file;     // none when empty
  std::string figure_file;  // .svg or .png; none when empty
};

/// A drawing for gnuplot, on a canvas of so many pixels.
struct Figure {
  unsigned width = 0;
  unsigned height = 0;
  std::string commands;  // lines, with data in blocks
};

/// --csv and --figure. A file that cannot be written is refused before anything is measured.
void declare_csv(CLI::App& app, Output& output);
void declare_figure(CLI::App& app, Output& output);

/// The cores, how many of them the CPU device has (0: all), and FairGV's version.
std::string machine(unsigned device_cores);

/// "2.013 1.980-2.046": the median, the lowest and the highest.
std::string shown(const harness::Spread& spread);
/// "1.0023 +- 0.0011".
std::string shown(const harness::Estimate& estimate);

/// A text as a cell of the CSV: commas become semicolons, so that a reader of the file need not know quotes.
std::string csv_cell(std::string text);

/// "# " and the machine, the header, and the rows. Does nothing if no file was asked for.
Result<void> write_csv(const Output& output, unsigned device_cores, const std::string& header,
                       const std::vector<std::string>& rows);

/// Draws it by gnuplot. Does nothing if no figure was asked for.
Result<void> draw(const Output& output, const Figure& figure);

}  // namespace fairgv::bench
