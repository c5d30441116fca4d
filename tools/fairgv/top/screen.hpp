// Everything that `fairgv top` shows at one moment, and the lines that show it on a screen of any size.
//
// Pure logic: controller.hpp applies the keys to it, terminal.hpp draws the lines.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/fairgv/top/text.hpp"
#include "tools/fairgv/top/view.hpp"

namespace fairgv::tools::top {

struct Size {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// On a smaller terminal, the screen says only that it needs this size.
inline constexpr Size kLeastSize{8, 40};

/// A tenant on a device: the row that keys act on.
struct RowId {
  std::uint32_t device = 0;
  std::string tenant;

  bool operator==(const RowId&) const = default;
};

enum class Mode {
  table,
  help,
  prompt,   // `question` waits for text
  confirm,  // `question` waits for y or n
};

struct Screen {
  std::optional<View> view;          // none: nothing known yet, or no more
  std::string trouble;               // not empty: why nothing is known
  std::vector<std::string> details;  // of the chosen tenant, below the tables
  std::optional<RowId> chosen;
  Order order;
  std::chrono::milliseconds interval{1000};
  bool paused = false;
  Mode mode = Mode::table;
  std::string question;
  std::string typed;
  std::string message;  // the outcome of the last key
  bool message_warns = false;
  std::size_t help_from = 0;  // the first line of the help that is shown
};

/// At most size.rows lines, none longer than size.columns.
std::vector<Line> render(const Screen& screen, Size size, Glyphs glyphs);

/// The same of all devices and tenants, without the parts for keys: for --once. However many lines it takes.
std::vector<Line> render_once(const View& view, const Order& order, std::size_t columns, Glyphs glyphs);

/// How many lines the help has.
std::size_t help_lines();

}  // namespace fairgv::tools::top
