#include "sched/policies/timegraph/spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "sched/policies/timegraph/priorities.hpp"

namespace fairgv::sched {
namespace {

constexpr std::size_t kFields = 6;
constexpr std::int64_t kLongestPeriodUs = 3'600'000'000;  // an hour

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Cuts off the part before the separator, or all of it.
std::string_view cut(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_nothing(std::string_view text) {
  return text.empty() || text == "-" || text == "0";
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// FNV-1a; never 0.
std::uint32_t number_of(std::string_view name) {
  std::uint32_t hash = 2166136261;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return hash == 0 ? 1 : hash;
}

class SpecReader {
 public:
  SpecReader(std::string_view file, Spec& spec) : file_(file), spec_(spec) {}

  void read_line(std::string_view line, int number) {
    line_ = number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) return;
    const auto colons = static_cast<std::size_t>(std::count(line.begin(), line.end(), ':'));
    if (colons + 1 != kFields) {
      return fail("has " + std::to_string(colons + 1) + " fields", "write name:sched:resv:prio:C:T");
    }
    std::array<std::string_view, kFields> fields;
    for (std::string_view& field : fields) field = trimmed(cut(line, ':'));
    SpecEntry entry{.name = std::string(fields[0]), .task = {}, .line = number};
    entry.task.reserve = Reservation{};
    if (read_name(entry) && read_scheduling(fields[1], entry) && read_priority(fields[3], entry) &&
        read_reserve(fields[2], fields[4], fields[5], entry)) {
      spec_.entries.push_back(std::move(entry));
    }
  }

 private:
  struct SharedReserve {
    std::uint32_t number;
    Reservation reservation;
    Enforcement enforcement;
    int line;
  };

  void fail(const std::string& what, const std::string& to_do) {
    spec_.errors.push_back(std::string(file_) + ":" + std::to_string(line_) + ": " + what + ", " + to_do);
  }
  bool refuse(const std::string& what, const std::string& to_do) {
    fail(what, to_do);
    return false;
  }

  bool read_name(const SpecEntry& entry) {
    if (entry.name.empty()) return refuse("has no name", "begin the line with the application's name");
    const SpecEntry* other = find_entry(spec_.entries, entry.name);
    if (other == nullptr) return true;
    return refuse(quoted(entry.name) + " is in line " + std::to_string(other->line) + " already",
                  "keep one of the two lines");
  }

  bool read_scheduling(std::string_view text, SpecEntry& entry) {
    using Scheduling = TimeGraphTask::Scheduling;
    if (text != "PRT" && text != "HT") {
      return refuse("the scheduling policy is " + quoted(text), "write PRT or HT");
    }
    entry.task.scheduling = text == "HT" ? Scheduling::high_throughput : Scheduling::predictable;
    return true;
  }

  bool read_priority(std::string_view text, SpecEntry& entry) {
    if (text == "*") {
      entry.task.automatic = true;
      return true;
    }
    const auto priority = integer(text);
    if (!priority || *priority < kLeastStaticPriority || *priority > kMostStaticPriority) {
      return refuse("the priority is " + quoted(text), "write an integer from " +
                                                           std::to_string(kLeastStaticPriority) + " to " +
                                                           std::to_string(kMostStaticPriority) + ", or *");
    }
    entry.task.priority = static_cast<std::int32_t>(*priority);
    return true;
  }

  bool read_reserve(std::string_view rule, std::string_view c, std::string_view t, SpecEntry& entry) {
    const bool nothing = is_nothing(c) && is_nothing(t);
    if (rule == "none") {
      return nothing || refuse("has C and T but no reserve", "write PE or AE for none, or - for C and T");
    }
    const bool shared = rule.find('@') != std::string_view::npos;
    std::string_view name = rule;
    const std::string_view enforcement = trimmed(cut(name, '@'));
    if (enforcement != "PE" && enforcement != "AE") {
      return refuse("the reservation policy is " + quoted(rule),
                    "write PE, AE or none, and PE@NAME or AE@NAME for a shared reserve");
    }
    entry.task.enforcement = enforcement == "AE" ? Enforcement::apriori : Enforcement::posterior;
    if (shared) return read_shared(trimmed(name), c, t, entry);
    return read_reservation(c, t, entry);
  }

  bool read_shared(std::string_view name, std::string_view c, std::string_view t, SpecEntry& entry) {
    if (name.empty()) return refuse("the shared reserve has no name", "write it after the @");
    const auto known = shared_.find(name);
    if (known == shared_.end()) {
      if (!read_reservation(c, t, entry)) return false;
      entry.task.shared_reserve = free_number(name);
      shared_.emplace(
          name, SharedReserve{entry.task.shared_reserve, *entry.task.reserve, entry.task.enforcement, line_});
      return true;
    }
    const SharedReserve& reserve = known->second;
    entry.task.reserve = reserve.reservation;
    entry.task.shared_reserve = reserve.number;
    const bool same_rule = entry.task.enforcement == reserve.enforcement;
    if (same_rule && is_nothing(c) && is_nothing(t)) return true;
    if (!same_rule || !read_reservation(c, t, entry) || entry.task.reserve != reserve.reservation) {
      return refuse(
          "the reserve " + quoted(name) + " differs from that in line " + std::to_string(reserve.line),
          "write the same PE or AE, and the same C and T or - for both");
    }
    return true;
  }

  bool read_reservation(std::string_view c, std::string_view t, SpecEntry& entry) {
    const auto capacity = integer(c);
    const auto period = integer(t);
    if (!capacity || *capacity < 1) return refuse("C is " + quoted(c), "write microseconds, 1 or more");
    if (!period || *period < 1 || *period > kLongestPeriodUs) {
      return refuse("T is " + quoted(t), "write microseconds, from 1 to " + std::to_string(kLongestPeriodUs));
    }
    if (*capacity > *period) {
      return refuse("C is " + std::string(c) + " and more than T, which is " + std::string(t),
                    "write a C of at most T");
    }
    entry.task.reserve =
        Reservation{std::chrono::microseconds(*capacity), std::chrono::microseconds(*period)};
    return true;
  }

  /// The name's own number, or the next one if another name has it.
  std::uint32_t free_number(std::string_view name) const {
    std::uint32_t number = number_of(name);
    const auto taken = [&] {
      return std::any_of(shared_.begin(), shared_.end(),
                         [number](const auto& known) { return known.second.number == number; });
    };
    while (number == 0 || taken()) ++number;
    return number;
  }

  const std::string_view file_;
  Spec& spec_;
  int line_ = 0;
  std::map<std::string, SharedReserve, std::less<>> shared_;
};

}  // namespace

Spec parse_spec(std::string_view text, std::string_view file) {
  Spec spec;
  SpecReader reader(file, spec);
  for (int line = 1; !text.empty(); ++line) reader.read_line(cut(text, '\n'), line);
  return spec;
}

const SpecEntry* find_entry(std::span<const SpecEntry> entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [name](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace fairgv::sched
