#include "sched/command_history.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::sched {
namespace {

// An expectation that is off by this factor is discarded, not corrected.
constexpr double kFarOff = 4;

Duration scaled(Duration time, double factor) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(time.count()) * factor));
}

}  // namespace

CommandHistory::CommandHistory(std::uint32_t samples, std::size_t capacity)
    : samples_(std::max(samples, 1U)), capacity_(std::max<std::size_t>(capacity, 2)) {}

std::optional<Duration> CommandHistory::expected(CommandKind kind) const {
  const auto found = entries_.find(kind);
  if (found == entries_.end() || found->second.samples < samples_) return std::nullopt;
  return std::max(found->second.mean, kShortestCommand);
}

std::optional<Duration> CommandHistory::estimate(CommandKind kind) const {
  const auto found = entries_.find(kind);
  if (found == entries_.end()) return std::nullopt;
  return std::max(found->second.mean, kShortestCommand);
}

void CommandHistory::bounded(CommandKind kind, Duration at_most) {
  const bool known = entries_.contains(kind);
  Entry& entry = touch(kind);
  if (!known || (entry.samples == 0 && at_most < entry.mean)) entry.mean = at_most;
}

void CommandHistory::sampled(CommandKind kind, Duration used) {
  Entry& entry = touch(kind);
  entry.samples = std::min(entry.samples + 1, samples_);
  entry.mean += (std::max(used, Duration::zero()) - entry.mean) / static_cast<Duration::rep>(entry.samples);
}

void CommandHistory::ran(std::span<const Count> run, Duration used) {
  Duration predicted{0};
  for (const Count& count : run) {
    if (const auto each = expected(count.kind)) {
      predicted += *each * static_cast<Duration::rep>(count.commands);
    }
  }
  if (predicted == Duration::zero()) return;
  const double factor =
      static_cast<double>(std::max(used, Duration::zero()).count()) / static_cast<double>(predicted.count());
  const bool far_off = factor > kFarOff || factor < 1 / kFarOff;
  for (const Count& count : run) {
    const auto each = expected(count.kind);
    if (!each) continue;
    Entry& entry = touch(count.kind);
    entry.mean = scaled(*each, (1 + factor) / 2);
    if (far_off) entry.samples = 0;
  }
}

std::vector<CommandHistory::Known> CommandHistory::known() const {
  std::vector<std::pair<std::uint64_t, Known>> by_use;
  by_use.reserve(entries_.size());
  for (const auto& [kind, entry] : entries_)
    by_use.push_back({entry.used_at, {kind, entry.mean, entry.samples}});
  std::sort(by_use.begin(), by_use.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Known> list;
  list.reserve(by_use.size());
  for (const auto& [used_at, known] : by_use) list.push_back(known);
  return list;
}

void CommandHistory::take_over(const Known& known) {
  Entry& entry = touch(known.kind);
  entry.mean = std::max(known.time, Duration::zero());
  entry.samples = std::min(known.samples, samples_);
}

CommandHistory::Entry& CommandHistory::touch(CommandKind kind) {
  if (entries_.size() >= capacity_ && !entries_.contains(kind)) forget_old();
  Entry& entry = entries_[kind];
  entry.used_at = ++clock_;
  return entry;
}

// Forgets half at a time, so that a program whose commands are all different pays little for each.
void CommandHistory::forget_old() {
  const std::uint64_t oldest_kept = clock_ - std::min<std::uint64_t>(clock_, capacity_ / 2);
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.used_at <= oldest_kept; });
}

}  // namespace fairgv::sched
