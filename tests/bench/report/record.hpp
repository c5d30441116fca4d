// The record of a run beside the experiments' own files: run.json in a report's folder has the machine, and
// for each experiment what was run, when, for how long, and how it ended.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::bench::report {

/// Names and values, in the order in which they are shown.
using Machine = std::vector<std::pair<std::string, std::string>>;

struct Attempt {
  std::string name;
  std::string purpose;  // as its --help begins
  std::string command;  // that repeats it
  std::string when;     // UTC
  std::string version;  // of FairGV
  double seconds = 0;
  double load = 0;  // processes that ran or wanted to, on average over the minute before it began
  int status = 0;
  bool quick = false;
  std::string remark{};  // a remark, such as why there is no figure
};

struct Record {
  Machine machine;
  std::vector<Attempt> attempts;  // one for each experiment, the latest
};

std::string to_json(const Record& record);
Result<Record> record_from_json(const std::string& text);

/// In the place of an earlier attempt at the same experiment, else behind the others.
void note(Record& record, Attempt attempt);

}  // namespace fairgv::bench::report
