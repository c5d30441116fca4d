#include "tools/fairgv/top/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace fairgv::tools::top {
namespace {

constexpr std::uint64_t kEighths = 8;
constexpr std::array<std::string_view, kEighths> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// How many eighths of each cell are filled; parts that a glyph set cannot show are rounded.
std::uint64_t filled_eighths(double share, std::size_t width, Glyphs glyphs) {
  const double cells = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * static_cast<double>(width);
  if (glyphs == Glyphs::eighths) return static_cast<std::uint64_t>(std::llround(cells * kEighths));
  return static_cast<std::uint64_t>(std::llround(cells)) * kEighths;
}

/// The cell right behind what a tenant is entitled to.
std::optional<std::size_t> mark_cell(double entitled, std::size_t width) {
  if (!(entitled > 0) || entitled >= 1 || width == 0) return std::nullopt;
  return std::min(static_cast<std::size_t>(entitled * static_cast<double>(width) + 0.5), width - 1);
}

std::string cell_text(std::uint64_t eighths, Glyphs glyphs) {
  if (eighths == kEighths) return glyphs == Glyphs::ascii ? "#" : "█";
  if (eighths == 0) return glyphs == Glyphs::ascii ? "." : "·";
  return std::string(kParts.at(eighths));
}

void append(Line& line, const std::string& text, Style style) {
  if (!line.empty() && line.back().style == style) {
    line.back().text += text;
  } else {
    line.push_back({text, style});
  }
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::size_t width_of(const Line& line) {
  std::size_t width = 0;
  for (const Span& span : line) width += width_of(span.text);
  return width;
}

std::string pad_right(std::string_view ascii, std::size_t width) {
  std::string text(ascii.substr(0, width));
  if (ascii.size() > width && width > 0) text.back() = '~';
  text.resize(width, ' ');
  return text;
}

std::string pad_left(std::string_view ascii, std::size_t width) {
  return ascii.size() >= width ? pad_right(ascii, width)
                               : std::string(width - ascii.size(), ' ') + std::string(ascii);
}

std::string fitting_name(std::string_view ascii, std::size_t width) {
  if (ascii.size() <= width) return std::string(ascii);
  if (width < 3) return pad_right(ascii, width);
  const std::size_t end = (width - 1) / 2;
  return std::string(ascii.substr(0, width - 1 - end)) + '~' + std::string(ascii.substr(ascii.size() - end));
}

std::string plain_ascii(std::string_view utf8) {
  std::string text;
  for (const char byte : utf8) {
    if (!begins_character(byte)) continue;
    text += byte >= ' ' && byte <= '~' ? byte : '?';
  }
  return text;
}

std::string text_of(const Line& line) {
  std::string text;
  for (const Span& span : line) text += span.text;
  return text;
}

std::string percent(double share) {
  const double value = 100 * share;
  return value < 99.95 ? fmt::format("{:4.1f}%", value) : fmt::format("{:4.0f}%", std::min(value, 9999.0));
}

std::string short_time(std::uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (value < 999.5e3) return fmt::format("{:.0f}us", value / 1e3);
  if (value < 9.95e6) return fmt::format("{:.1f}ms", value / 1e6);
  if (value < 999.5e6) return fmt::format("{:.0f}ms", value / 1e6);
  if (value < 9.95e9) return fmt::format("{:.1f}s", value / 1e9);
  return fmt::format("{:.0f}s", std::min(value / 1e9, 9999.0));
}

std::string short_bytes(std::uint64_t bytes) {
  if (bytes == 0) return "0";
  constexpr std::string_view kUnits = "BKMGTPE";
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = unit == 0 || value >= 9.95;
  return fmt::format("{:.{}f}{}", value, whole ? 0 : 1, kUnits[unit]);
}

std::string long_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 1e12));
  const std::uint64_t minutes = whole / 60;
  const std::uint64_t hours = minutes / 60;
  if (hours >= 24) return fmt::format("{}d {:02}:{:02}", hours / 24, hours % 24, minutes % 60);
  return fmt::format("{}:{:02}:{:02}", hours, minutes % 60, whole % 60);
}

Line bar(double share, const BarMarks& marks, std::size_t width, Glyphs glyphs) {
  const std::uint64_t filled = filled_eighths(share, width, glyphs);
  const auto entitled = mark_cell(marks.entitled, width);
  const auto min = mark_cell(marks.min, width), max = mark_cell(marks.max, width);
  Line line;
  for (std::size_t cell = 0; cell < width; ++cell) {
    if (cell == entitled) {
      append(line, glyphs == Glyphs::ascii ? "|" : "│", Style::entitled);
    } else if (cell == max || cell == min) {
      append(line, cell == max ? "]" : "[", Style::entitled);
    } else {
      const std::uint64_t eighths = std::min(kEighths, filled - std::min(filled, cell * kEighths));
      const Style style = eighths == 0                   ? Style::dim
                          : entitled && cell > *entitled ? Style::excess
                                                         : Style::used;
      append(line, cell_text(eighths, glyphs), style);
    }
  }
  return line;
}

}  // namespace fairgv::tools::top
