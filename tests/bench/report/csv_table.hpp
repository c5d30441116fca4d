// The tables that experiments write with --csv: a line "# machine", the header, the rows. No cell has a comma
// or a quote in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::bench::report {

struct CsvTable {
  std::string machine;  // as the experiment named it; empty if it did not
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header

  /// None if there is no such column.
  std::optional<std::size_t> column(const std::string& name) const;
};

/// Fails, with the number of the line, for a row that is shorter or longer than the header.
Result<CsvTable> parse_csv(const std::string& text);

/// None if it is not a finite number, from its first to its last character.
std::optional<double> number_in(const std::string& cell);

}  // namespace fairgv::bench::report
