#include "tools/fairgv/top/controller.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "runtime/base/memory_size.hpp"
#include "sched/policies/registry.hpp"
#include "tools/fairgv/ps/long_commands.hpp"

namespace fairgv::tools::top {
namespace {

using std::chrono::milliseconds;

constexpr std::array<milliseconds, 8> kIntervals{milliseconds(250),   milliseconds(500),  milliseconds(1000),
                                                 milliseconds(2000),  milliseconds(5000), milliseconds(10000),
                                                 milliseconds(30000), milliseconds(60000)};
constexpr std::size_t kLongestTyped = control::kLongestPolicyName;
constexpr int kPage = 10;

std::string pause_text(const control::Report::Tenant& tenant, const control::Report::Session& session) {
  const auto& pause = session.paused ? session.paused : tenant.paused;
  return pause ? fmt::format(", paused by user {}", pause->by) : "";
}

}  // namespace

Controller::Controller(Filter filter, Order order, milliseconds interval) : filter_(std::move(filter)) {
  screen_.order = order;
  screen_.interval = interval;
}

// ---- arrivals

void Controller::arrived(control::Report report) {
  screen_.trouble.clear();
  if (screen_.paused && report_) return;
  report_ = std::move(report);
  remake();
}

/// Forgets the report: the figures of a daemon that is gone would pass for current ones.
void Controller::lost(const std::string& why) {
  report_.reset();
  screen_.view.reset();
  screen_.details.clear();
  screen_.trouble = why;
  screen_.message.clear();
  screen_.paused = false;
}

void Controller::answered(const Change& change, const Result<void>& outcome) {
  if (outcome) {
    say(change.done);
  } else {
    say("refused: " + outcome.error().message, true);
  }
}

void Controller::remake() {
  if (!report_) return;
  screen_.view = make_view(*report_, filter_, screen_.order);
  const auto all = rows();
  const bool there = screen_.chosen && std::find(all.begin(), all.end(), *screen_.chosen) != all.end();
  if (!there) screen_.chosen = all.empty() ? std::nullopt : std::optional(all.front());
  remake_details();
}

void Controller::remake_details() {
  screen_.details.clear();
  if (!details_ || !report_ || !screen_.chosen) return;
  control::Report its = *report_;
  std::erase_if(its.tenants, [&](const auto& tenant) { return tenant.tenant != screen_.chosen->tenant; });
  for (const auto& tenant : its.tenants) {
    screen_.details.push_back(fmt::format("sessions of {}, user {}:", tenant.tenant, tenant.uid));
    for (const auto& session : tenant.sessions) {
      screen_.details.push_back(
          fmt::format("  session {}, pid {}, worker {}: {}{}{}{}{}{}, {}", session.session, session.pid,
                      session.worker_pid, session.state, session.compiles ? ", compiling" : "",
                      session.interactive ? ", interactive" : "", session.moving ? ", moving" : "",
                      session.parked ? ", parked" : "", pause_text(tenant, session), session.program));
    }
  }
  for (std::string& line : long_command_lines(its)) screen_.details.push_back("  " + std::move(line));
}

// ---- keys

Step Controller::press(Key key) {
  switch (screen_.mode) {
    case Mode::table:
      return press_in_table(key);
    case Mode::help:
      return press_in_help(key);
    case Mode::prompt:
      return press_in_prompt(key);
    case Mode::confirm:
      return press_in_confirm(key);
  }
  return {};
}

Step Controller::press_in_table(Key key) {
  screen_.message.clear();
  switch (key.kind) {
    case Key::Kind::up:
      choose(-1);
      break;
    case Key::Kind::down:
      choose(1);
      break;
    case Key::Kind::page_up:
      choose(-kPage);
      break;
    case Key::Kind::page_down:
      choose(kPage);
      break;
    case Key::Kind::enter:
      return press_command('d');
    case Key::Kind::character:
      return press_command(key.character);
    case Key::Kind::escape:
    case Key::Kind::erase:
      break;
  }
  return {};
}

Step Controller::press_command(char character) {
  Step step;
  switch (character) {
    case 'q':
      step.quit = true;
      break;
    case 'h':
    case '?':
      screen_.mode = Mode::help;
      screen_.help_from = 0;
      break;
    case 'j':
      choose(1);
      break;
    case 'k':
      choose(-1);
      break;
    case 's':
      sort_by_next(1);
      break;
    case 'S':
      sort_by_next(-1);
      break;
    case 'r':
      screen_.order.reversed = !screen_.order.reversed;
      remake();
      break;
    case 'p':
    case ' ':
      screen_.paused = !screen_.paused && report_.has_value();
      step.look = !screen_.paused;
      break;
    case '+':
    case '-':
      look_more_often(character == '+');
      step.look = true;
      break;
    case 'd':
      details_ = !details_;
      remake_details();
      break;
    case 'w':
      begin_prompt(Subject::weight);
      break;
    case 'm':
      begin_prompt(Subject::memory);
      break;
    case 'o':
      begin_prompt(Subject::policy);
      break;
    case 'x':
      ask_intervention(Intervention::kill);
      break;
    case 'z':
      ask_pause();
      break;
    default:
      say("that key does nothing here: h shows the keys");
  }
  return step;
}

Step Controller::press_in_help(Key key) {
  Step step;
  const std::size_t last = help_lines() - 1;
  if (key.kind == Key::Kind::down || key.kind == Key::Kind::page_down) {
    screen_.help_from = std::min(screen_.help_from + 1, last);
  } else if (key.kind == Key::Kind::up || key.kind == Key::Kind::page_up) {
    screen_.help_from -= std::min<std::size_t>(screen_.help_from, 1);
  } else if (key.kind == Key::Kind::character && key.character == 'q') {
    step.quit = true;
  } else {
    screen_.mode = Mode::table;
  }
  return step;
}

Step Controller::press_in_prompt(Key key) {
  switch (key.kind) {
    case Key::Kind::character:
      if (screen_.typed.size() < kLongestTyped) screen_.typed += key.character;
      break;
    case Key::Kind::erase:
      if (!screen_.typed.empty()) screen_.typed.pop_back();
      break;
    case Key::Kind::up:
    case Key::Kind::down:
      if (subject_ == Subject::policy) cycle_policy(key.kind == Key::Kind::down);
      break;
    case Key::Kind::escape:
      screen_.mode = Mode::table;
      say("nothing was changed");
      break;
    case Key::Kind::enter:
      end_prompt();
      break;
    case Key::Kind::page_up:
    case Key::Kind::page_down:
      break;
  }
  return {};
}

Step Controller::press_in_confirm(Key key) {
  Step step;
  screen_.mode = Mode::table;
  if (key.kind == Key::Kind::character && (key.character == 'y' || key.character == 'Y')) {
    step.change = std::exchange(asked_, std::nullopt);
    say("asking the daemon");
    return step;
  }
  say("nothing was changed");
  return step;
}

// ---- changes

void Controller::begin_prompt(Subject subject) {
  const Row* const row = chosen_row();
  const bool has_device = screen_.view && !screen_.view->devices.empty();
  if (row == nullptr && (subject != Subject::policy || !has_device)) {
    return say("there is nothing to change: no tenant is here", true);
  }
  subject_ = subject;
  target_ = row != nullptr ? *screen_.chosen : RowId{screen_.view->devices.front().device.index, ""};
  screen_.typed.clear();
  screen_.message.clear();
  screen_.mode = Mode::prompt;
  const std::string& tenant = target_.tenant;
  if (subject == Subject::weight) {
    screen_.question = fmt::format("weight of {} (1 to 10000; now {}): ", tenant, row->weight);
  } else if (subject == Subject::memory) {
    const std::string now =
        row->memory_limit ? fmt::format("; now {}", readable_bytes(*row->memory_limit)) : "";
    screen_.question = fmt::format("memory quota of {} (as 512MiB, 25%{}): ", tenant, now);
  } else {
    screen_.question = fmt::format("policy of device {} (up, down: others): ", target_.device);
    for (const DeviceView& device : screen_.view->devices) {
      if (device.device.index == target_.device) screen_.typed = device.device.policy;
    }
  }
}

void Controller::cycle_policy(bool forward) {
  const auto all = sched::all_policies();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == screen_.typed; });
  const auto index = static_cast<std::size_t>(found - all.begin());
  const std::size_t next = found == all.end() ? 0 : (index + (forward ? 1 : all.size() - 1)) % all.size();
  screen_.typed = all[next].name;
}

Result<Change> Controller::typed_change() const {
  switch (subject_) {
    case Subject::weight:
      return tenant_change(target_.tenant, {.weight = {screen_.typed, "the weight"}});
    case Subject::memory:
      return tenant_change(target_.tenant, {.memory = {screen_.typed, "the quota"}});
    case Subject::policy:
      break;
  }
  return policy_change(screen_.typed, target_.device);
}

void Controller::end_prompt() {
  screen_.mode = Mode::table;
  if (screen_.typed.empty()) return say("nothing was changed");
  auto change = typed_change();
  if (!change) return say(change.error().message, true);
  screen_.mode = Mode::confirm;
  screen_.question = fmt::format("set {}? y or n", change->done);
  asked_ = std::move(change).value();
}

void Controller::ask_pause() {
  const Row* const row = chosen_row();
  ask_intervention(row != nullptr && row->paused ? Intervention::resume : Intervention::pause);
}

void Controller::ask_intervention(Intervention what) {
  if (chosen_row() == nullptr) return say("there is nothing to change: no tenant is here", true);
  auto change = tenant_intervention(what, screen_.chosen->tenant);
  if (!change) return say(change.error().message, true);
  const char* const verb = what == Intervention::kill    ? "end all sessions of"
                           : what == Intervention::pause ? "pause"
                                                         : "resume";
  screen_.mode = Mode::confirm;
  screen_.question = fmt::format("{} {}? y or n", verb, screen_.chosen->tenant);
  asked_ = std::move(change).value();
}

// ---- looking

std::vector<RowId> Controller::rows() const {
  std::vector<RowId> all;
  if (!screen_.view) return all;
  for (const DeviceView& device : screen_.view->devices) {
    for (const Row& row : device.rows) all.push_back({device.device.index, row.tenant});
  }
  return all;
}

const Row* Controller::chosen_row() const {
  if (!screen_.view || !screen_.chosen) return nullptr;
  for (const DeviceView& device : screen_.view->devices) {
    for (const Row& row : device.rows) {
      if (*screen_.chosen == RowId{device.device.index, row.tenant}) return &row;
    }
  }
  return nullptr;
}

void Controller::choose(int steps) {
  const auto all = rows();
  if (all.empty() || !screen_.chosen) return;
  const auto now = std::find(all.begin(), all.end(), *screen_.chosen) - all.begin();
  const auto last = static_cast<std::ptrdiff_t>(all.size()) - 1;
  screen_.chosen = all[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(now + steps, 0, last))];
  remake_details();
}

void Controller::sort_by_next(int steps) {
  constexpr int kKeys = static_cast<int>(kLastSortKey) + 1;
  screen_.order.key = static_cast<SortKey>((static_cast<int>(screen_.order.key) + steps + kKeys) % kKeys);
  remake();
}

void Controller::look_more_often(bool more) {
  const auto next = more ? std::find_if(kIntervals.rbegin(), kIntervals.rend(),
                                        [&](milliseconds each) { return each < screen_.interval; })
                               .base()
                         : std::upper_bound(kIntervals.begin(), kIntervals.end(), screen_.interval);
  if (more) {
    screen_.interval = next == kIntervals.begin() ? kIntervals.front() : *(next - 1);
  } else {
    screen_.interval = next == kIntervals.end() ? kIntervals.back() : *next;
  }
}

void Controller::say(std::string message, bool warns) {
  screen_.message = std::move(message);
  screen_.message_warns = warns;
}

}  // namespace fairgv::tools::top
