#include "tools/fairgv/top/screen.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "runtime/base/memory_size.hpp"
#include "tools/fairgv/top/table.hpp"

namespace fairgv::tools::top {
namespace {

/// 80 columns wide.
constexpr std::array kHelp{
    "keys",
    "  up down j k   choose a tenant                 s S  sort by next, last column",
    "  w m           change its weight, its quota    r    turn the order round",
    "  o             change its device's policy      + -  look more, less often",
    "  z x           pause or resume it, end it      p    hold this screen, and go on",
    "  d enter       its sessions, long kernels      q    quit",
    "  h ?           this help, and back             ^L   draw everything anew",
    "",
    "columns",
    "  wght, class      weight; latency or batch, if any tenant is of such a class",
    "  now        share of the device time that all used during the last half second",
    "  due, min, max    share due, guarantee, ceiling, if any: in the bar |, [ and ]",
    "  ses, que   sessions (processes), and those of them that have work",
    "  mem/quota  device memory that it holds, and may hold",
    "  p50, p99   how long half, and 99 in 100, of its turns were waited for at most",
    "  i          i: interactive, woken with its turns; P: paused, p: sessions are",
    "  uns        kernels that held the device beyond their slice, cannot be cut",
    "  time, launches   device time and launches in its life",
    "",
    "Changes are made after 'y'. Users may change their own tenants within what the",
    "configuration allows, administrators all of them, and policies (fairgv(1), set).",
};

std::string count(std::uint64_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

/// The line, cut to the width; '~' marks a line that was too long.
Line cut(Line line, std::size_t width) {
  std::size_t left = width;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::size_t its = width_of(line[i].text);
    if (its <= left) {
      left -= its;
      continue;
    }
    // Only bars are not ASCII, and they fit by construction.
    line[i].text = pad_right(line[i].text, left);
    line.resize(i + 1);
    break;
  }
  return line;
}

/// In lines of the width, broken anywhere.
std::vector<Line> wrapped(const std::string& ascii, std::size_t width, Style style) {
  std::vector<Line> lines;
  for (std::size_t from = 0; from < ascii.size() && width != 0; from += width) {
    lines.push_back({{ascii.substr(from, width), style}});
  }
  return lines;
}

/// `right` at the end of the line, if there is room for both.
Line between(std::string left, const std::string& right, std::size_t width, Style style) {
  if (left.size() + 2 + right.size() <= width) left = pad_right(left, width - right.size()) + right;
  return {{pad_right(left, width), style}};
}

std::string title_text(const Screen& screen) {
  if (!screen.view) return "fairgv top";
  const View& view = *screen.view;
  return fmt::format("fairgvd {}, up {}: {}, {}", plain_ascii(view.daemon.version),
                     long_time(view.daemon.uptime_s), count(view.tenants, "tenant"),
                     count(view.sessions, "session"));
}

std::string every(std::chrono::milliseconds interval) {
  return fmt::format("every {:g} s", static_cast<double>(interval.count()) / 1e3);
}

/// The most important first: narrow screens cut it.
Line device_line(const DeviceView& view, std::size_t width) {
  const control::Report::Device& device = view.device;
  std::string text = fmt::format("device {}: {}", device.index, plain_ascii(device.name));
  std::string facts;
  if (!device.policy.empty()) facts += fmt::format("  {}, {:g} ms", device.policy, device.slice_ms);
  if (device.memory != 0) {
    facts += fmt::format("  {}/{}", short_bytes(device.memory_used), short_bytes(device.memory));
  }
  if (device.drained) facts += device.failed ? "  failed" : "  drained";
  facts += device.holder ? "  in use by " + *device.holder : "  idle";
  if (facts.size() + 20 < width) text = pad_right(text, std::min(text.size(), width - facts.size()));
  return cut({{text, Style::title}, {facts}}, width);
}

struct Body {
  std::vector<Line> lines;
  std::size_t chosen = 0;  // the line of the chosen row
};

Body tables(const View& view, const Order& order, const std::optional<RowId>& chosen, std::size_t width,
            Glyphs glyphs) {
  Body body;
  const auto columns = columns_for(width, view);
  for (const DeviceView& device : view.devices) {
    if (!body.lines.empty()) body.lines.emplace_back();
    body.lines.push_back(device_line(device, width));
    if (device.rows.empty()) {
      body.lines.push_back({{"  no tenants", Style::dim}});
      continue;
    }
    body.lines.push_back(heading(columns, order));
    for (const Row& row : device.rows) {
      const bool is_chosen = chosen && *chosen == RowId{device.device.index, row.tenant};
      if (is_chosen) body.chosen = body.lines.size();
      body.lines.push_back(row_line(columns, row, is_chosen, glyphs));
    }
  }
  if (view.devices.empty()) {
    body.lines.push_back(
        {{"No device is known yet: the first program makes its devices known.", Style::dim}});
  }
  return body;
}

Body body_of(const Screen& screen, std::size_t width, Glyphs glyphs) {
  Body body;
  if (screen.view) {
    body = tables(*screen.view, screen.order, screen.chosen, width, glyphs);
  } else if (!screen.trouble.empty()) {
    body.lines = wrapped(plain_ascii(screen.trouble), width, Style::warning);
    body.lines.push_back({{"Trying again.", Style::dim}});
  } else {
    body.lines.push_back({{"Asking the daemon.", Style::dim}});
  }
  if (!screen.details.empty()) body.lines.emplace_back();
  for (const std::string& line : screen.details) body.lines.push_back({{plain_ascii(line)}});
  for (Line& line : body.lines) line = cut(std::move(line), width);
  return body;
}

/// Cuts the body to the part that fits, with the chosen row in it. Returns which part that is, in words.
std::string window(Body& body, std::size_t height) {
  const std::size_t all = body.lines.size();
  if (all <= height) return "";
  const std::size_t wanted = body.chosen - std::min(body.chosen, height / 2);
  const std::size_t from = std::min(wanted, all - height);
  body.lines.erase(body.lines.begin(), std::next(body.lines.begin(), static_cast<std::ptrdiff_t>(from)));
  body.lines.resize(height);
  return fmt::format("lines {}-{} of {}", from + 1, from + height, all);
}

Line status_line(const Screen& screen, std::size_t width) {
  if (screen.mode == Mode::prompt) {
    // The end of the typed text is the part to see.
    const std::string text = plain_ascii(screen.question + screen.typed) + "_";
    return {{text.substr(text.size() - std::min(text.size(), width)), Style::chosen}};
  }
  if (screen.mode == Mode::confirm) {
    return cut({{plain_ascii(screen.question), Style::chosen}}, width);
  }
  if (!screen.message.empty()) {
    return cut({{plain_ascii(screen.message), screen.message_warns ? Style::warning : Style::plain}}, width);
  }
  return cut({{screen.paused ? "paused: p goes on" : "", Style::warning}}, width);
}

std::string keys_text(const Screen& screen) {
  switch (screen.mode) {
    case Mode::prompt:
      return "enter: go on   escape: leave it";
    case Mode::confirm:
      return "y: do it   n: leave it";
    case Mode::help:
      return "up, down: more   h: back   q: quit";
    case Mode::table:
      break;
  }
  return fmt::format("q quit  h help  s sort:{}  w weight  m memory  o policy  d details  p pause",
                     name_of(screen.order.key));
}

std::vector<Line> too_small(Size size) {
  const std::string text = fmt::format("fairgv top needs {} x {} characters, this is {} x {}",
                                       kLeastSize.columns, kLeastSize.rows, size.columns, size.rows);
  std::vector<Line> lines = wrapped(text, size.columns, Style::plain);
  lines.resize(std::min(lines.size(), size.rows));
  return lines;
}

}  // namespace

std::size_t help_lines() {
  return kHelp.size();
}

std::vector<Line> render(const Screen& screen, Size size, Glyphs glyphs) {
  const std::size_t width = size.columns;
  if (size.rows < kLeastSize.rows || width < kLeastSize.columns) return too_small(size);
  const std::size_t height = size.rows - 3;  // beside title, status and keys
  Body body;
  if (screen.mode == Mode::help) {
    for (const char* line : kHelp) body.lines.push_back(cut({{line}}, width));
    body.chosen = screen.help_from + height / 2;
  } else {
    body = body_of(screen, width, glyphs);
  }
  const std::string part = window(body, height);
  const std::string right = screen.paused ? "paused" : every(screen.interval);
  std::vector<Line> lines{between(title_text(screen), right, width, Style::heading)};
  std::move(body.lines.begin(), body.lines.end(), std::back_inserter(lines));
  lines.resize(height + 1);
  lines.push_back(status_line(screen, width));
  lines.push_back(between(keys_text(screen), part, width, Style::heading));
  return lines;
}

std::vector<Line> render_once(const View& view, const Order& order, std::size_t columns, Glyphs glyphs) {
  Screen screen;
  screen.view = view;
  std::vector<Line> lines{{{title_text(screen), Style::title}}, {}};
  Body body = tables(view, order, std::nullopt, columns, glyphs);
  std::move(body.lines.begin(), body.lines.end(), std::back_inserter(lines));
  return lines;
}

}  // namespace fairgv::tools::top
