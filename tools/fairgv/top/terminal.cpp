#include "tools/fairgv/top/terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <clocale>
#include <cstdlib>
#include <string>
#include <string_view>

// Last, and as functions: curses' macros have names like `move` and `lines`.
#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>
#undef columns
#undef lines

namespace fairgv::tools::top {
namespace {

constexpr int kEscapeDelayMs = 25;
constexpr int kEscape = 27;
constexpr int kControlL = 12;
constexpr int kDelete = 127;

enum Pair : short { kHeadingPair = 1, kUsedPair, kExcessPair, kEntitledPair, kWarningPair };

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Curses would end the process if it did not know the terminal.
Result<void> check_terminal() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    return Error{"standard input and output are no terminal: --once prints one look"};
  }
  const std::string term = variable("TERM");
  int code = 0;
  const bool known = !term.empty() && ::setupterm(term.c_str(), STDOUT_FILENO, &code) == OK;
  const char* const move_cursor = known ? ::tigetstr("cup") : nullptr;
  const bool moves = move_cursor != nullptr && *move_cursor != '\0';
  if (known) ::del_curterm(::cur_term);
  if (!moves) {
    return Error{"the terminal '" + term +
                 "' (TERM) is unknown or cannot move its cursor: --once prints one look"};
  }
  return {};
}

attr_t attributes_of(Style style, bool colours) {
  const auto pair = [&](Pair number, attr_t otherwise) {
    return colours ? static_cast<attr_t>(COLOR_PAIR(number)) : otherwise;
  };
  switch (style) {
    case Style::plain:
      return A_NORMAL;
    case Style::title:
      return A_BOLD;
    case Style::heading:
      return pair(kHeadingPair, A_UNDERLINE);
    case Style::dim:
      return A_DIM;
    case Style::used:
      return pair(kUsedPair, A_NORMAL);
    case Style::excess:
      return pair(kExcessPair, A_BOLD);
    case Style::entitled:
      return pair(kEntitledPair, A_BOLD) | A_BOLD;
    case Style::chosen:
      return A_REVERSE;
    case Style::warning:
      return pair(kWarningPair, A_BOLD) | A_BOLD;
  }
  return A_NORMAL;
}

bool begin_colours() {
  if (!variable("NO_COLOR").empty() || !::has_colors() || ::start_color() != OK) return false;
  const short background = ::use_default_colors() == OK ? -1 : COLOR_BLACK;
  ::init_pair(kHeadingPair, COLOR_CYAN, background);
  ::init_pair(kUsedPair, COLOR_GREEN, background);
  ::init_pair(kExcessPair, COLOR_YELLOW, background);
  ::init_pair(kEntitledPair, COLOR_WHITE, background);
  ::init_pair(kWarningPair, COLOR_RED, background);
  return true;
}

std::optional<Key> key_of(int code) {
  switch (code) {
    case KEY_UP:
      return Key{Key::Kind::up};
    case KEY_DOWN:
      return Key{Key::Kind::down};
    case KEY_PPAGE:
      return Key{Key::Kind::page_up};
    case KEY_NPAGE:
      return Key{Key::Kind::page_down};
    case KEY_ENTER:
    case '\r':
    case '\n':
      return Key{Key::Kind::enter};
    case KEY_BACKSPACE:
    case '\b':
    case kDelete:
      return Key{Key::Kind::erase};
    case kEscape:
      return Key{Key::Kind::escape};
    default:
      break;
  }
  if (code >= ' ' && code <= '~') return Key{Key::Kind::character, static_cast<char>(code)};
  return std::nullopt;
}

}  // namespace

Glyphs glyphs_of_environment() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(::nl_langinfo(CODESET)) != "UTF-8") return Glyphs::ascii;
  // The console's fonts have the solid block, but not all eighths of it.
  return variable("TERM").starts_with("linux") ? Glyphs::blocks : Glyphs::eighths;
}

Result<Terminal> Terminal::begin() {
  FAIRGV_CHECK(check_terminal());
  const Glyphs glyphs = glyphs_of_environment();
  ::set_escdelay(kEscapeDelayMs);
  SCREEN* const screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr) return Error{"curses cannot use this terminal"};
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::curs_set(0);
  return Terminal(screen, glyphs, begin_colours());
}

Terminal::~Terminal() {
  if (screen_ == nullptr) return;
  ::endwin();
  ::delscreen(static_cast<SCREEN*>(screen_));
}

Size Terminal::size() const {
  return {static_cast<std::size_t>(getmaxy(stdscr)), static_cast<std::size_t>(getmaxx(stdscr))};
}

void Terminal::resized() {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0 || window.ws_col == 0) return;
  ::resizeterm(window.ws_row, window.ws_col);
  forget();
}

void Terminal::forget() {
  ::clearok(stdscr, TRUE);
}

void Terminal::draw(const std::vector<Line>& lines) {
  ::werase(stdscr);
  for (std::size_t row = 0; row < lines.size(); ++row) {
    ::wmove(stdscr, static_cast<int>(row), 0);
    for (const Span& span : lines[row]) {
      ::wattrset(stdscr, static_cast<int>(attributes_of(span.style, colours_)));
      ::waddnstr(stdscr, span.text.data(), static_cast<int>(span.text.size()));
    }
  }
  ::wattrset(stdscr, A_NORMAL);
  ::wrefresh(stdscr);
}

std::optional<Key> Terminal::key() {
  for (;;) {
    const int code = ::wgetch(stdscr);
    if (code == ERR) return std::nullopt;
    if (code == kControlL || code == KEY_RESIZE) {
      forget();
    } else if (const auto key = key_of(code)) {
      return key;
    }
  }
}

}  // namespace fairgv::tools::top
