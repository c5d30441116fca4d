// The effects of keys, reports and answers on the screen of `fairgv top`.
//
// Pure logic: it sends nothing; press() returns the caller's next step.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/control/protocol.hpp"
#include "tools/fairgv/changes.hpp"
#include "tools/fairgv/top/screen.hpp"

namespace fairgv::tools::top {

struct Key {
  enum class Kind { character, up, down, page_up, page_down, enter, escape, erase };
  Kind kind = Kind::character;
  char character = 0;  // printable ASCII
};

/// The caller's next step after a key.
struct Step {
  bool quit = false;
  bool look = false;             // ask the daemon for a report now
  std::optional<Change> change;  // ask it for this
};

class Controller {
 public:
  Controller(Filter filter, Order order, std::chrono::milliseconds interval);

  Step press(Key key);
  /// The daemon's latest word.
  void arrived(control::Report report);
  void lost(const std::string& why);
  /// Shows the outcome of a change.
  void answered(const Change& change, const Result<void>& outcome);

  const Screen& screen() const { return screen_; }
  std::chrono::milliseconds interval() const { return screen_.interval; }
  bool paused() const { return screen_.paused; }

 private:
  enum class Subject { weight, memory, policy };

  Step press_in_table(Key key);
  Step press_command(char character);
  Step press_in_help(Key key);
  Step press_in_prompt(Key key);
  Step press_in_confirm(Key key);
  void begin_prompt(Subject subject);
  void cycle_policy(bool forward);
  void end_prompt();
  void ask_intervention(Intervention what);
  void ask_pause();
  Result<Change> typed_change() const;
  void choose(int steps);
  void sort_by_next(int steps);
  void look_more_often(bool more);
  void say(std::string message, bool warns = false);
  void remake();
  void remake_details();
  std::vector<RowId> rows() const;
  const Row* chosen_row() const;

  Filter filter_;
  Screen screen_;
  std::optional<control::Report> report_;  // on the screen; not the latest while paused
  bool details_ = false;
  Subject subject_ = Subject::weight;
  RowId target_;  // of the prompt; the row may vanish meanwhile
  std::optional<Change> asked_;
};

}  // namespace fairgv::tools::top
