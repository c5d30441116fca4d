// The table of a device's tenants, for any width: which columns there is room for, and the lines.
//
// Pure logic.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/fairgv/top/text.hpp"
#include "tools/fairgv/top/view.hpp"

namespace fairgv::tools::top {

enum class ColumnId {
  tenant,
  weight,
  bar,
  share,
  entitled,
  min,
  max,
  service,
  sessions,
  queue,
  memory,
  wait_p50,
  wait_p99,
  interactive,
  unsliceable,
  time,
  launches
};

struct Column {
  ColumnId id;
  std::size_t width;
};

/// In the order in which they are shown, one space between two. The most important ones if there is not room
/// for all; the room that is left goes to names and bars. Columns of promises that the view has not got are
/// left out.
std::vector<Column> columns_for(std::size_t width, const View& view = {});

Line heading(const std::vector<Column>& columns, const Order& order);
/// `chosen`: the row that keys act on.
Line row_line(const std::vector<Column>& columns, const Row& row, bool chosen, Glyphs glyphs);

}  // namespace fairgv::tools::top
