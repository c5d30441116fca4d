// Published experiments in the simulator: one row for each effect that a paper reports, with the paper's
// value beside ours.
//
// The papers measured other devices and other programs, so values differ. An effect counts as the same where
// its sign is the same (faster or slower, more or less), and where several things are compared, their order.
#pragma once

#include <string>
#include <vector>

namespace fairgv::sched {

struct FigureRow {
  std::string figure;     // "TimeGraph 8"
  std::string effect;     // "World of Padman beside a Clearspd bomb: priorities over none"
  std::string published;  // as the paper has it: "3 to 6 times"; "not printed" where only a picture shows it
  std::string ours;       // in the same unit
  bool same = false;      // sign and order
};

}  // namespace fairgv::sched
