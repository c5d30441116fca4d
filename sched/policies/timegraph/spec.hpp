// TimeGraph's specification file (section 3): which application gets which priority and which reserve. The
// paper keeps it in /etc/timegraph.spec.
//
// One line for each application; # begins a comment, and blank lines are skipped:
//
//   name:sched:resv:prio:C:T
//   openarena:HT:none:60:-:-
//   mplayer:PRT:PE:*:10000:40000
//   bomb1:PRT:PE@bombs:10:2500:25000
//   bomb2:PRT:PE@bombs:10:-:-
//
// - sched: PRT or HT.
// - resv: PE or AE; `none`: the task has the Background reserve.
// - prio: an integer, higher goes first; `*`: automatic (AGPA).
// - C and T: microseconds of device time in every so many. 0, - or nothing without a reserve.
//
// Chosen here, for the paper says nothing about it: a shared reserve is named after an @. The first line with
// the name gives it C and T; the others give the same, or none. Its number comes from its name, so that
// other lines of the file do not change it.
//
// Pure: text in, entries and errors out. The caller reads the file, and finds a task's entry by its
// application's name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/attributes.hpp"

namespace fairgv::sched {

struct SpecEntry {
  std::string name;
  TimeGraphTask task{};  // `reserve` is there; empty: Background
  int line = 0;
};

struct Spec {
  std::vector<SpecEntry> entries;
  std::vector<std::string> errors;  // "FILE:LINE: what, what to do"
};

/// file: its name, for messages. Lines with errors make no entry.
Spec parse_spec(std::string_view text, std::string_view file);
/// Null: the task has no entry, so that it gets the lowest priority and the Background reserve.
const SpecEntry* find_entry(std::span<const SpecEntry> entries, std::string_view name);

}  // namespace fairgv::sched
