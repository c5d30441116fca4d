// The terminal while `fairgv top` has it: curses, from begin() to the destructor, which gives it back as it
// was.
//
// One at a time, one thread. Curses keeps its state in the library, so this class is the only one to call it.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "tools/fairgv/top/controller.hpp"
#include "tools/fairgv/top/screen.hpp"
#include "tools/fairgv/top/text.hpp"

namespace fairgv::tools::top {

class Terminal {
 public:
  /// Fails, with the terminal as it was, if standard input or output is no terminal, or TERM names a terminal
  /// that cannot show a full screen. Colours unless NO_COLOR is set and not empty.
  static Result<Terminal> begin();
  ~Terminal();
  Terminal(Terminal&& other) noexcept
      : screen_(std::exchange(other.screen_, nullptr)), glyphs_(other.glyphs_), colours_(other.colours_) {}
  Terminal& operator=(Terminal&&) = delete;

  Glyphs glyphs() const { return glyphs_; }
  Size size() const;
  /// Takes the size that the system says the terminal has now.
  void resized();
  void draw(const std::vector<Line>& lines);
  /// Draws everything anew next time: somebody else has written to the terminal.
  void forget();

  /// A key that was pressed; none: no more for now. Does not wait.
  std::optional<Key> key();

 private:
  Terminal(void* screen, Glyphs glyphs, bool colours) : screen_(screen), glyphs_(glyphs), colours_(colours) {}
  void* screen_;  // curses' SCREEN, whose header is for terminal.cpp alone
  Glyphs glyphs_;
  bool colours_;
};

/// The glyphs that the process' locale and TERM let a terminal show.
Glyphs glyphs_of_environment();

}  // namespace fairgv::tools::top
