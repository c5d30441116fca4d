// A report's folder: run.json, index.html, and for each experiment NAME.csv, NAME.svg and NAME.txt.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/report/page.hpp"

namespace fairgv::bench::report {

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path file(const std::string& name) const { return path_ / name; }

  /// Made if need be. Fails if it cannot be written to.
  Result<void> prepare() const;
  /// Removes an earlier attempt's files, so that a failure does not show its figures.
  void forget(const std::string& experiment) const;

  /// An empty one if there is no run.json. Fails if there is one that cannot be read.
  Result<Record> record() const;
  Result<void> write(const Record& record) const;
  Result<void> write_output(const std::string& experiment, const std::string& output) const;

  /// Reads the experiments' files in the folder and writes index.html. Fails if there are none.
  Result<void> render(const Record& record) const;

 private:
  Section section(const std::string& name) const;
  std::vector<std::string> experiments(const Record& record) const;
  /// All or nothing: a reader sees the old file meanwhile.
  Result<void> replace(const std::string& name, const std::string& text) const;

  std::filesystem::path path_;
};

}  // namespace fairgv::bench::report
