#include "tests/bench/report/csv_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace fairgv::bench::report {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t begin = 0;
  for (std::size_t comma; (comma = line.find(',', begin)) != std::string::npos; begin = comma + 1) {
    cells.push_back(line.substr(begin, comma - begin));
  }
  cells.push_back(line.substr(begin));
  return cells;
}

}  // namespace

std::optional<std::size_t> CsvTable::column(const std::string& name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

Result<CsvTable> parse_csv(const std::string& text) {
  CsvTable table;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("# ") && table.header.empty()) {
      table.machine = line.substr(2);
    } else if (line.empty()) {
      continue;
    } else if (table.header.empty()) {
      table.header = cells_of(line);
    } else {
      table.rows.push_back(cells_of(line));
      if (table.rows.back().size() != table.header.size()) {
        return Error{fmt::format("line {} has {} cells and the header {}", number, table.rows.back().size(),
                                 table.header.size())};
      }
    }
  }
  if (table.header.empty()) return Error{"there is no header"};
  return table;
}

std::optional<double> number_in(const std::string& cell) {
  if (cell.empty() || cell.front() == ' ') return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace fairgv::bench::report
