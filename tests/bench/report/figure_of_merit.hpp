// One line of the report's summary: where a value is found in an experiment's output, its goal, and the
// published value.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tests/bench/report/csv_table.hpp"

namespace fairgv::bench::report {

/// Rows that count: those whose cell in `column` is this text, or a number of at least this.
struct Condition {
  std::string column;
  std::variant<std::string, double> is;
};

enum class Of { lowest, highest, mean, farthest };

/// The cells of the rows that count, and which of them is the value: the lowest, say.
struct Place {
  std::string column;
  Of of = Of::lowest;
  std::vector<Condition> where{};
  double from = 0;  // the value that `farthest` is far from
};

struct Goal {
  std::optional<double> at_least{};
  std::optional<double> at_most{};
};

struct FigureOfMerit {
  std::string what;
  Place place;
  int digits = 3;
  std::string unit{};
  Goal goal{};
  std::string paper{};  // as published; empty: nothing was
};

/// None if it is not there: the table lacks the column, no row counts, or a cell that counts is no number.
std::optional<double> value_of(const FigureOfMerit& figure, const CsvTable& table);

/// "0.991", "1.20 us".
std::string shown(const FigureOfMerit& figure, double value);
/// "at least 0.99", "1.9 to 2.1"; empty if there is no goal.
std::string shown(const FigureOfMerit& figure, const Goal& goal);
bool reaches(const Goal& goal, double value);

}  // namespace fairgv::bench::report
