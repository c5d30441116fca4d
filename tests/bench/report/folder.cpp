#include "tests/bench/report/folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace fairgv::bench::report {
namespace {

constexpr const char* kRecord = "run.json";
constexpr std::array<const char*, 3> kEndings{".csv", ".svg", ".txt"};

std::optional<std::string> text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Result<void> Folder::prepare() const {
  std::error_code failed;
  std::filesystem::create_directories(path_, failed);
  if (failed) return Error{"cannot make the folder " + path_.string() + ": " + failed.message()};
  if (::access(path_.c_str(), W_OK | X_OK) != 0) return system_error("cannot write in " + path_.string());
  return {};
}

void Folder::forget(const std::string& experiment) const {
  for (const char* ending : kEndings) {
    std::error_code ignored;
    std::filesystem::remove(file(experiment + ending), ignored);
  }
}

Result<Record> Folder::record() const {
  const auto text = text_of(file(kRecord));
  if (!text) return Record{};
  auto record = record_from_json(*text);
  if (!record) {
    return Error{"cannot read " + file(kRecord).string() + " (" + record.error().message +
                 "); take another folder, or remove it"};
  }
  return record;
}

Result<void> Folder::write(const Record& record) const {
  return replace(kRecord, to_json(record));
}

Result<void> Folder::write_output(const std::string& experiment, const std::string& output) const {
  return replace(experiment + ".txt", output);
}

Result<void> Folder::replace(const std::string& name, const std::string& text) const {
  const auto fresh = file("." + name + ".new");
  std::ofstream out(fresh, std::ios::binary);
  out << text;
  out.close();
  if (!out || ::rename(fresh.c_str(), file(name).c_str()) != 0) {
    return system_error("cannot write " + file(name).string());
  }
  return {};
}

Section Folder::section(const std::string& name) const {
  Section section{name};
  if (const auto csv = text_of(file(name + ".csv"))) {
    auto table = parse_csv(*csv);
    if (table) {
      section.table = std::move(table).value();
    } else {
      section.table_error = table.error().message;
    }
  }
  const std::string drawing = text_of(file(name + ".svg")).value_or("");
  if (drawing.starts_with("<?xml") || drawing.starts_with("<svg")) section.drawing = drawing;
  section.output = text_of(file(name + ".txt")).value_or("");
  return section;
}

/// Those of the catalogue first, in its order.
std::vector<std::string> Folder::experiments(const Record& record) const {
  std::set<std::string> there;
  for (const Attempt& attempt : record.attempts) there.insert(attempt.name);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
    if (entry.path().extension() == ".csv") there.insert(entry.path().stem());
  }
  std::vector<std::string> names;
  for (const Entry& entry : catalogue()) {
    if (there.erase(entry.name) != 0) names.push_back(entry.name);
  }
  names.insert(names.end(), there.begin(), there.end());
  return names;
}

Result<void> Folder::render(const Record& record) const {
  Report report{record.machine};
  for (const std::string& name : experiments(record)) {
    report.sections.push_back(section(name));
    for (const Attempt& attempt : record.attempts) {
      if (attempt.name == name) report.sections.back().attempt = attempt;
    }
  }
  if (report.sections.empty()) return Error{"there is nothing to show in " + path_.string()};
  return replace("index.html", page(report));
}

}  // namespace fairgv::bench::report
