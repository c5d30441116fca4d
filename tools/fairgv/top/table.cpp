#include "tools/fairgv/top/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

namespace fairgv::tools::top {
namespace {

struct ColumnKind {
  ColumnId id;
  const char* title;
  std::size_t width;  // the least
  int rank;           // the smaller, the longer it stays when there is little room
  std::optional<SortKey> sorts{};
};

/// In the order in which they are shown.
constexpr std::array<ColumnKind, 17> kKinds{{
    {ColumnId::tenant, " tenant", 11, 0, SortKey::tenant},
    {ColumnId::weight, "wght", 5, 2, SortKey::weight},
    {ColumnId::bar, "now | due", 9, 1},
    {ColumnId::share, "now", 5, 0, SortKey::share},
    {ColumnId::entitled, "due", 5, 1, SortKey::entitled},
    {ColumnId::min, "min", 8, 3},
    {ColumnId::max, "max", 5, 4},
    {ColumnId::service, "class", 11, 8},
    {ColumnId::sessions, "ses", 3, 6, SortKey::sessions},
    {ColumnId::queue, "que", 3, 7, SortKey::queue},
    {ColumnId::memory, "mem/quota", 9, 5, SortKey::memory},
    {ColumnId::wait_p50, "p50", 5, 11},
    {ColumnId::wait_p99, "p99", 5, 9, SortKey::wait},
    {ColumnId::interactive, "i", 1, 10},
    {ColumnId::unsliceable, "uns", 3, 12},
    {ColumnId::time, "time", 7, 13, SortKey::time},
    {ColumnId::launches, "launches", 9, 14, SortKey::launches},
}};
constexpr int kLastRank = 14;

constexpr std::size_t kWidestTenant = 26;
constexpr std::size_t kWidestBar = 40;

const ColumnKind& kind_of(ColumnId id) {
  return *std::find_if(kKinds.begin(), kKinds.end(), [id](const ColumnKind& kind) { return kind.id == id; });
}

bool is_left(ColumnId id) {
  return id == ColumnId::tenant || id == ColumnId::bar || id == ColumnId::service;
}

bool is_there(ColumnId id, const View& view) {
  if (id == ColumnId::min) return view.has_min;
  if (id == ColumnId::max) return view.has_max;
  return id != ColumnId::service || view.has_service;
}

std::size_t width_up_to(int rank, const View& view) {
  std::size_t width = 0;
  for (const ColumnKind& kind : kKinds)
    width += kind.rank <= rank && is_there(kind.id, view) ? kind.width + 1 : 0;
  return width - 1;
}

std::string text_of(const std::optional<std::uint64_t>& wait_ns) {
  return wait_ns ? short_time(*wait_ns) : "-";
}

std::string memory_text(const Row& row) {
  if (!row.memory_used || !row.memory_limit) return "-";
  return short_bytes(*row.memory_used) + "/" + short_bytes(*row.memory_limit);
}

std::string cell(ColumnId id, const Row& row) {
  switch (id) {
    case ColumnId::tenant:
    case ColumnId::bar:
      break;  // not plain text
    case ColumnId::weight:
      return std::to_string(row.weight);
    case ColumnId::share:
      return percent(row.share);
    case ColumnId::entitled:
      return percent(row.entitled);
    case ColumnId::min:
      return row.promises.has_min() ? row.promises.min : "";
    case ColumnId::max:
      return row.promises.has_max() ? row.promises.max : "";
    case ColumnId::service:
      return row.promises.has_service() ? row.promises.service : "";
    case ColumnId::sessions:
      return std::to_string(row.sessions);
    case ColumnId::queue:
      return std::to_string(row.queue);
    case ColumnId::memory:
      return memory_text(row);
    case ColumnId::wait_p50:
      return text_of(row.wait_p50_ns);
    case ColumnId::wait_p99:
      return text_of(row.wait_p99_ns);
    case ColumnId::interactive:
      if (row.paused) return "P";
      if (row.paused_sessions > 0) return "p";
      return row.interactive ? "i" : "";
    case ColumnId::unsliceable:
      return row.unsliceable == 0 ? "" : std::to_string(row.unsliceable);
    case ColumnId::time:
      return fmt::format("{:.1f}s", static_cast<double>(row.device_time_ns) / 1e9);
    case ColumnId::launches:
      return std::to_string(row.launches);
  }
  return "";
}

Style style_of(ColumnId id, const Row& row) {
  if (id == ColumnId::unsliceable) return Style::warning;
  const bool full = row.memory_used && row.memory_limit && *row.memory_used >= *row.memory_limit;
  if (id == ColumnId::memory && full && *row.memory_used > 0) return Style::warning;
  return Style::plain;
}

}  // namespace

std::vector<Column> columns_for(std::size_t width, const View& view) {
  int rank = 0;
  while (rank < kLastRank && width_up_to(rank + 1, view) <= width) ++rank;
  std::vector<Column> columns;
  for (const ColumnKind& kind : kKinds) {
    if (kind.rank <= rank && is_there(kind.id, view)) columns.push_back({kind.id, kind.width});
  }
  std::size_t left = width - std::min(width, width_up_to(rank, view));
  const auto widen = [&](ColumnId id, std::size_t widest, std::size_t room) {
    for (Column& column : columns) {
      if (column.id != id) continue;
      const std::size_t more = std::min(room, widest - column.width);
      column.width += more;
      left -= more;
    }
  };
  widen(ColumnId::tenant, kWidestTenant, left / 3);
  widen(ColumnId::bar, kWidestBar, left);
  return columns;
}

Line heading(const std::vector<Column>& columns, const Order& order) {
  Line line;
  for (const Column& column : columns) {
    const ColumnKind& kind = kind_of(column.id);
    if (!line.empty()) line.push_back({" ", Style::heading});
    const std::string text =
        is_left(column.id) ? pad_right(kind.title, column.width) : pad_left(kind.title, column.width);
    line.push_back({text, kind.sorts == order.key ? Style::chosen : Style::heading});
  }
  return line;
}

Line row_line(const std::vector<Column>& columns, const Row& row, bool chosen, Glyphs glyphs) {
  Line line;
  for (const Column& column : columns) {
    if (!line.empty()) line.push_back({" "});
    if (column.id == ColumnId::bar) {
      const BarMarks marks{row.entitled, row.min_share, row.max_share};
      for (Span& span : bar(row.share, marks, column.width, glyphs)) line.push_back(std::move(span));
    } else if (column.id == ColumnId::tenant) {
      // The sign is for terminals that show no styles, and for text.
      const Style style = row.paused ? Style::dim : Style::plain;
      line.push_back(
          {pad_right((chosen ? ">" : " ") + fitting_name(row.tenant, column.width - 1), column.width),
           chosen ? Style::chosen : style});
    } else {
      const std::string text = cell(column.id, row);
      line.push_back({is_left(column.id) ? pad_right(text, column.width) : pad_left(text, column.width),
                      style_of(column.id, row)});
    }
  }
  return line;
}

}  // namespace fairgv::tools::top
