// The page: one file, which needs no other and runs no script. The same report gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/bench/report/catalogue.hpp"
#include "tests/bench/report/csv_table.hpp"
#include "tests/bench/report/record.hpp"

namespace fairgv::bench::report {

/// The report's material on one experiment.
struct Section {
  std::string name;
  std::optional<Attempt>
      attempt{};  // none: its files lie in the folder, and nobody knows how they came there
  std::optional<CsvTable> table{};
  std::string table_error{};  // the fault of a file that is no table
  std::string drawing{};      // the SVG's text
  std::string output{};       // its output
};

struct Report {
  Machine machine{};
  std::vector<Section> sections{};  // in the order of the page
};

/// Well-formed XML and HTML.
std::string page(const Report& report);

}  // namespace fairgv::bench::report
