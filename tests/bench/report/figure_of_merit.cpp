#include "tests/bench/report/figure_of_merit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fairgv::bench::report {
namespace {

bool counts(const CsvTable& table, const std::vector<std::string>& row,
            const std::vector<Condition>& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
    const auto column = table.column(condition.column);
    if (!column) return false;
    if (const auto* text = std::get_if<std::string>(&condition.is)) return row[*column] == *text;
    const auto number = number_in(row[*column]);
    return number && *number >= std::get<double>(condition.is);
  });
}

double one_of(const std::vector<double>& values, const Place& where) {
  switch (where.of) {
    case Of::lowest:
      return *std::min_element(values.begin(), values.end());
    case Of::highest:
      return *std::max_element(values.begin(), values.end());
    case Of::mean:
      return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    case Of::farthest:
      break;
  }
  return *std::max_element(values.begin(), values.end(), [&](double a, double b) {
    return std::abs(a - where.from) < std::abs(b - where.from);
  });
}

}  // namespace

std::optional<double> value_of(const FigureOfMerit& figure, const CsvTable& table) {
  const Place& where = figure.place;
  const auto column = table.column(where.column);
  if (!column) return std::nullopt;
  std::vector<double> values;
  for (const auto& row : table.rows) {
    if (!counts(table, row, where.where)) continue;
    const auto value = number_in(row[*column]);
    if (!value) return std::nullopt;  // leaving it out would make the others look better than they are
    values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return one_of(values, where);
}

std::string shown(const FigureOfMerit& figure, double value) {
  return fmt::format("{:.{}f}{}", value, figure.digits, figure.unit.empty() ? "" : " " + figure.unit);
}

std::string shown(const FigureOfMerit& figure, const Goal& goal) {
  const std::string unit = figure.unit.empty() ? "" : " " + figure.unit;
  if (goal.at_least && goal.at_most)
    return fmt::format("{:g} to {:g}{}", *goal.at_least, *goal.at_most, unit);
  if (goal.at_least) return fmt::format("at least {:g}{}", *goal.at_least, unit);
  if (goal.at_most) return fmt::format("at most {:g}{}", *goal.at_most, unit);
  return {};
}

bool reaches(const Goal& goal, double value) {
  return (!goal.at_least || value >= *goal.at_least) && (!goal.at_most || value <= *goal.at_most);
}

}  // namespace fairgv::bench::report
