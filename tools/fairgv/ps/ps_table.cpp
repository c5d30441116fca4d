#include "tools/fairgv/ps/ps_table.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tools/fairgv/promises.hpp"
#include "tools/fairgv/ps/device_lines.hpp"
#include "tools/fairgv/ps/long_commands.hpp"
#include "tools/fairgv/ps/oversold.hpp"
#include "tools/fairgv/ps/promise_columns.hpp"
#include "tools/fairgv/top/text.hpp"

namespace fairgv::tools {
namespace {

using control::Report;
using top::pad_left;
using top::pad_right;

constexpr std::size_t kLeastWidth = 80;
constexpr std::size_t kBarWidth = 12;
constexpr std::size_t kLeastBarWidth = 5;
constexpr std::size_t kTenantWidth = 16;  // in the tables of devices, at least
constexpr std::size_t kWidestTenant = 40;

/// "42s", "42m", "42h", "42d": three or four columns.
std::string age_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f}s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f}m", seconds / 60);
  if (seconds < 100 * 3600) return fmt::format("{:.0f}h", seconds / 3600);
  return fmt::format("{:.0f}d", seconds / 86400);
}

/// Of a device's time: "1.25s", "1250s", "35h".
std::string time_text(std::uint64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  if (seconds < 999.995) return fmt::format("{:.2f}s", seconds);
  if (seconds < 99'999.5) return fmt::format("{:.0f}s", seconds);
  return fmt::format("{:.0f}h", seconds / 3600);
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), std::uint64_t{0});
}

struct SessionRow {
  const Report::Tenant* tenant;
  const Report::Session* session;
  std::string user;
};

/// A turn that is in use when its session is paused ends when the worker gives it back.
std::string state_of(const SessionRow& row) {
  const bool paused = row.tenant->paused || row.session->paused;
  if (row.session->moving) return "moving";
  if (row.session->parked) return "parked";
  const double left = row.session->held_back_s;
  if (!paused && left > 0) return fmt::format("in {:.0f} s", std::ceil(left));
  if (row.session->state == "busy") return row.session->state;
  if (paused) return "paused";
  if (row.session->state == "wanting" && is_held_back(*row.tenant)) return "at max";
  return row.session->compiles ? "compiling" : row.session->state;
}

/// An older daemon does not say.
std::string or_unknown(const std::string& text) {
  return text.empty() ? "-" : text;
}

struct SessionColumn {
  const char* name;
  const char* title;
  std::size_t width;  // in the usual table
  bool left;          // text begins at the left
  bool usual;         // part of the usual table
  std::string (*text)(const SessionRow& row);
  double (*number)(const SessionRow& row);  // by which it sorts, the most first; null: by its text
};

const std::vector<SessionColumn>& session_columns() {
  using Row = const SessionRow&;
  static const std::vector<SessionColumn> kColumns{
      {"session", "sess", 4, false, true, [](Row row) { return std::to_string(row.session->session); },
       nullptr},
      {"tenant", "tenant", 12, true, true, [](Row row) { return row.tenant->tenant; }, nullptr},
      {"weight", "weight", 6, false, false, [](Row row) { return std::to_string(row.tenant->weight); },
       [](Row row) { return static_cast<double>(row.tenant->weight); }},
      {"min", "min", 8, false, false, [](Row row) { return or_unknown(row.tenant->min); },
       [](Row row) { return row.tenant->min_share; }},
      {"max", "max", 5, false, false, [](Row row) { return or_unknown(row.tenant->max); },
       [](Row row) { return row.tenant->max_share; }},
      {"class", "class", 11, true, false, [](Row row) { return or_unknown(row.tenant->service); }, nullptr},
      {"user", "user", 8, true, true, [](Row row) { return row.user; }, nullptr},
      {"pid", "pid", 7, false, true, [](Row row) { return std::to_string(row.session->pid); }, nullptr},
      {"worker", "worker", 7, false, false, [](Row row) { return std::to_string(row.session->worker_pid); },
       nullptr},
      {"state", "state", 9, true, true, state_of, nullptr},
      {"interactive", "interactive", 11, true, false,
       [](Row row) { return std::string(row.session->interactive ? "yes" : "no"); }, nullptr},
      {"age", "age", 4, false, true,
       [](Row row) { return row.session->uid ? age_text(row.session->age_s) : std::string("-"); },
       [](Row row) { return row.session->age_s; }},
      {"time", "time", 7, false, true,
       [](Row row) {
         return row.session->uid ? time_text(sum_of(row.session->device_time_ns)) : std::string("-");
       },
       [](Row row) { return static_cast<double>(sum_of(row.session->device_time_ns)); }},
      {"memory", "mem", 4, false, true,
       [](Row row) {
         return row.session->uid ? top::short_bytes(sum_of(row.session->memory_used)) : std::string("-");
       },
       [](Row row) { return static_cast<double>(sum_of(row.session->memory_used)); }},
      {"devices", "devices", 7, true, false,
       [](Row row) { return or_unknown(fmt::format("{}", fmt::join(row.session->devices, ","))); }, nullptr},
      {"direct", "direct", 6, true, false,
       [](Row row) { return std::string(row.session->direct ? "yes" : "no"); }, nullptr},
      {"program", "program", 0, true, true, [](Row row) { return row.session->program; }, nullptr}};
  return kColumns;
}

const SessionColumn& column_named(const std::string& name) {
  const auto& all = session_columns();
  return *std::find_if(all.begin(), all.end(), [&](const SessionColumn& each) { return each.name == name; });
}

std::vector<SessionRow> rows_of(const Report& report, const PsView& view) {
  std::vector<SessionRow> rows;
  for (const Report::Tenant& tenant : report.tenants) {
    for (const Report::Session& session : tenant.sessions)
      rows.push_back({&tenant, &session, view.user_name(session.uid.value_or(tenant.uid))});
  }
  if (view.sort.empty()) return rows;
  const SessionColumn& by = column_named(view.sort);
  // Numbers as text: those with fewer digits first.
  const auto key = [&](const SessionRow& row) {
    const std::string text = by.text(row);
    return std::pair(by.left ? std::size_t{0} : text.size(), text);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const SessionRow& a, const SessionRow& b) {
    return by.number != nullptr ? by.number(a) > by.number(b) : key(a) < key(b);
  });
  return rows;
}

std::string cell(const std::string& text, std::size_t width, bool left) {
  const std::string ascii = top::plain_ascii(text);
  return left ? pad_right(top::fitting_name(ascii, width), width) : pad_left(ascii, width);
}

/// Cells with a space between them; the spaces at the end of the line are cut off.
std::string row_text(const std::vector<std::string>& cells) {
  std::string line = " ";
  for (const std::string& each : cells) line += " " + each;
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::uint64_t at(const std::vector<std::uint64_t>& amounts, std::size_t device) {
  return device < amounts.size() ? amounts[device] : 0;
}

/// Tenants as `sort` wants them, as far as it is about tenants.
std::vector<const Report::Tenant*> sorted_tenants(const Report& report, const std::string& sort,
                                                  std::size_t device) {
  std::vector<const Report::Tenant*> tenants;
  for (const Report::Tenant& tenant : report.tenants) tenants.push_back(&tenant);
  const auto most_first = [&](auto key) {
    std::stable_sort(tenants.begin(), tenants.end(),
                     [&](const auto* a, const auto* b) { return key(*a) > key(*b); });
  };
  if (sort == "weight") most_first([](const Report::Tenant& tenant) { return std::uint64_t{tenant.weight}; });
  if (sort == "min") most_first([](const Report::Tenant& tenant) { return tenant.min_share; });
  if (sort == "max") most_first([](const Report::Tenant& tenant) { return tenant.max_share; });
  if (sort == "time")
    most_first([&](const Report::Tenant& tenant) { return at(tenant.device_time_ns, device); });
  if (sort == "memory")
    most_first([&](const Report::Tenant& tenant) { return at(tenant.memory_used, device); });
  return tenants;
}

/// Nothing from a daemon that does not count memory.
std::string memory_of(const Report::Tenant& tenant, std::size_t device) {
  if (device >= tenant.memory_used.size() || device >= tenant.memory_limit.size()) return "";
  return top::short_bytes(tenant.memory_used[device]) + "/" + top::short_bytes(tenant.memory_limit[device]);
}

/// The widths of the columns that have what the others leave.
struct TenantWidths {
  std::size_t name;
  std::size_t bar;  // 0: there is no room for bars
};

TenantWidths tenant_widths(std::size_t width, const std::vector<PromiseColumn>& promises) {
  std::size_t others = 45;  // beside names and bars
  for (const PromiseColumn& column : promises) others += column.width + 1;
  others = std::max(others, kLeastWidth - kTenantWidth - kBarWidth - 1);
  const std::size_t room = std::max(width, kLeastWidth) - std::min(others, kLeastWidth);
  const std::size_t bar = std::min(kBarWidth, room - std::min(room, kTenantWidth + 1));
  if (bar < kLeastBarWidth) return {std::min(room, kWidestTenant), 0};
  return {std::min(room - bar - 1, kWidestTenant), bar};
}

void add_tenants(const Report& report, std::size_t device, const PsView& view,
                 std::vector<std::string>& lines) {
  const auto promises = promise_columns(report);
  const TenantWidths widths = tenant_widths(view.width, promises);
  std::vector<std::string> cells{pad_right("tenant", widths.name), "weight"};
  for (const PromiseColumn& column : promises) cells.push_back(cell(column.title, column.width, column.left));
  cells.insert(cells.end(), {"sess", pad_left("due", 5), pad_left("now", 5)});
  if (widths.bar != 0) cells.push_back(pad_right("", widths.bar));
  cells.insert(cells.end(), {pad_left("time", 8), pad_left("memory", 9)});
  lines.push_back(row_text(cells));
  for (const Report::Tenant* tenant : sorted_tenants(report, view.sort, device)) {
    const double share = device < tenant->share.size() ? tenant->share[device] : 0;
    cells = {cell(tenant->tenant, widths.name, true), pad_left(std::to_string(tenant->weight), 6)};
    for (const PromiseColumn& column : promises)
      cells.push_back(cell(column.text(*tenant), column.width, column.left));
    cells.insert(cells.end(), {pad_left(std::to_string(tenant->sessions.size()), 4),
                               top::percent(tenant->due(device)), top::percent(share)});
    if (widths.bar != 0) {
      cells.push_back(tenant->paused ? pad_right("paused", widths.bar)
                                     : top::text_of(top::bar(share, {tenant->due(device)}, widths.bar,
                                                             top::Glyphs::blocks)));
    }
    cells.insert(cells.end(), {pad_left(time_text(at(tenant->device_time_ns, device)), 8),
                               pad_left(memory_of(*tenant, device), 9)});
    lines.push_back(row_text(cells));
  }
}

void add_device(const Report& report, const Report::Device& device, const PsView& view,
                std::vector<std::string>& lines) {
  const auto add = [&](const std::string& text, std::size_t first) {
    for (std::string& line : wrapped(text, view.width, first, 4)) lines.push_back(std::move(line));
  };
  add(fmt::format("device {}: {} ({})", device.index, device.name, device.platform), 0);
  if (device.same_as)
    return add(fmt::format("the same hardware as device {}, counted there{}", *device.same_as,
                           device.failed    ? "; failed: " + *device.failed
                           : device.drained ? "; drained"
                                            : ""),
               2);
  // Nothing from a daemon that knows one policy only.
  std::string facts;
  const auto say = [&](const std::string& fact) { facts += (facts.empty() ? "" : ", ") + fact; };
  if (!device.policy.empty()) say(fmt::format("policy {}, slice {:g} ms", device.policy, device.slice_ms));
  if (device.memory != 0)
    say(fmt::format("memory {}/{}", top::short_bytes(device.memory_used), top::short_bytes(device.memory)));
  if (report.daemon.share_window_s > 0) say(fmt::format("now: last {:g} s", report.daemon.share_window_s));
  if (device.holder) say("in use by " + *device.holder);
  if (device.failed) {
    say("failed: " + *device.failed);
  } else if (device.drained) {
    say("drained");
  }
  if (!facts.empty()) add(facts, 2);
  if (const auto unkept = unkept_promises(report, device.policy); !unkept.empty()) add(unkept, 2);
  for (const std::string& each : oversold_lines(report, device)) add(each, 2);
}

void add_sessions(const Report& report, const PsView& view, std::vector<std::string>& lines) {
  const std::vector<SessionRow> rows = rows_of(report, view);
  if (rows.empty()) {
    lines.emplace_back("no sessions");
    return;
  }
  std::vector<const SessionColumn*> columns;
  for (const SessionColumn& each : session_columns())
    if (each.usual) columns.push_back(&each);
  std::size_t used = 2;
  for (const SessionColumn* each : columns) used += each->width + 1;
  // The last one has the rest.
  const std::size_t rest = std::max(view.width, kLeastWidth) - (used - 1);
  const auto width = [&](const SessionColumn* column) { return column->width == 0 ? rest : column->width; };
  std::vector<std::string> cells;
  for (const SessionColumn* each : columns) cells.push_back(cell(each->title, width(each), each->left));
  lines.push_back(row_text(cells));
  for (const SessionRow& row : rows) {
    cells.clear();
    for (const SessionColumn* each : columns) cells.push_back(cell(each->text(row), width(each), each->left));
    std::string& program = cells.back();
    if (row.session->direct) program = cell(row.session->program, rest - 1, true) + "*";
    lines.push_back(row_text(cells));
  }
  if (std::any_of(rows.begin(), rows.end(), [](const SessionRow& row) { return row.session->direct; }))
    lines.emplace_back("  * in direct mode: it has the driver in its own process");
}

/// A line for each tenant whose sessions were killed for harming others, and the latest sessions that did not
/// end by themselves.
std::vector<std::string> kill_lines(const Report& report, const PsView& view) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) {
    for (std::string& line : wrapped(text, view.width, 2, 4)) lines.push_back(std::move(line));
  };
  for (const Report::Tenant& tenant : report.tenants) {
    if (tenant.faults.watchdog + tenant.faults.violations == 0) continue;
    add(fmt::format(
        "{}: {} of its sessions were killed for holding a device too long, {} for breaking the rules",
        tenant.tenant, tenant.faults.watchdog, tenant.faults.violations));
  }
  for (const Report::Kill& kill : report.kills) {
    add(fmt::format("{} ago: session {} of {} ({} {}, user {}): {}", age_text(kill.ago_s), kill.session,
                    kill.tenant, kill.program, kill.pid, view.user_name(kill.uid), kill.reason));
  }
  return lines;
}

void add_part(const std::vector<std::string>& part, std::vector<std::string>& lines) {
  if (part.empty()) return;
  lines.emplace_back();
  lines.insert(lines.end(), part.begin(), part.end());
}

}  // namespace

const std::vector<std::string>& ps_columns() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const SessionColumn& each : session_columns()) names.emplace_back(each.name);
    return names;
  }();
  return kNames;
}

std::vector<std::string> ps_lines(const Report& report, const PsView& view) {
  std::vector<std::string> lines = wrapped(
      fmt::format("fairgvd {} at {}, pid {}", report.daemon.version, report.daemon.socket, report.daemon.pid),
      view.width, 0, 2);
  for (const Report::Device& device : report.devices) {
    lines.emplace_back();
    add_device(report, device, view, lines);
    if (!device.same_as && !report.tenants.empty()) add_tenants(report, device.index, view, lines);
  }
  std::vector<std::string> part;
  if (report.tenants.empty()) {
    part.emplace_back("no tenants");
  } else {
    add_sessions(report, view, part);
  }
  add_part(part, lines);
  for (const auto& each : {device_lines(report), long_command_lines(report)}) {
    part.clear();
    for (const std::string& text : each) {
      for (std::string& line : wrapped(text, view.width, 2, 4)) part.push_back(std::move(line));
    }
    add_part(part, lines);
  }
  add_part(kill_lines(report, view), lines);
  return lines;
}

std::vector<std::string> ps_sessions(const Report& report, const std::vector<std::string>& columns,
                                     const PsView& view) {
  std::vector<std::vector<std::string>> table(1);
  for (const std::string& name : columns) table[0].push_back(name);
  for (const SessionRow& row : rows_of(report, view)) {
    auto& cells = table.emplace_back();
    for (const std::string& name : columns) cells.push_back(top::plain_ascii(column_named(name).text(row)));
  }
  std::vector<std::string> lines(table.size());
  for (std::size_t column = 0; column < columns.size(); ++column) {
    std::size_t width = 0;
    for (const auto& cells : table) width = std::max(width, cells[column].size());
    const bool left = column_named(columns[column]).left;
    for (std::size_t row = 0; row < table.size(); ++row)
      lines[row] += (column == 0 ? "" : " ") + cell(table[row][column], width, left);
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

}  // namespace fairgv::tools
