// [device] and [device.N].
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>

#include "runtime/base/core_set.hpp"
#include "runtime/daemon/config/options.hpp"
#include "runtime/daemon/config/options/fields.hpp"
#include "runtime/daemon/config/options/sections.hpp"
#include "runtime/session/turn.hpp"
#include "sched/choice/device_profile.hpp"

namespace fairgv::daemon {
namespace {

using Seconds = std::chrono::seconds;
using Milliseconds = std::chrono::milliseconds;

constexpr double kShortestSlice = 0.1;  // milliseconds; below it switching costs more than it shares
constexpr double kLongestSlice = 1'000;
constexpr double kLongestHold = 1'000'000;               // seconds
constexpr std::int64_t kLongestWakeLatency = 1'000'000;  // microseconds
constexpr std::int64_t kMostSamples = 1'000;
constexpr std::int64_t kLargestFloor = 1'000'000'000;  // work-groups
constexpr std::size_t kMostNeverSliced = 1'000;
constexpr std::size_t kLongestKernelName = 256;
constexpr double kMostTimesSold = 100;
constexpr double kMostTimesLent = 100;
constexpr double kLongestLentTurn = 10'000;
constexpr std::uint64_t kLeastBandwidth = std::uint64_t{1} << 20;  // bytes per second
constexpr std::uint64_t kMostBandwidth = std::uint64_t{1} << 50;

/// A name that OpenCL C can give to a function.
bool is_kernel_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongestKernelName && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), part);
}

std::vector<std::string> policies() {
  std::vector<std::string> names;
  for (const sched::PolicyInfo& info : sched::all_policies()) names.emplace_back(info.name);
  return names;
}

constexpr std::array<std::pair<const char*, sched::SliceRule>, 3> kDisciplines{
    {{"adaptive", sched::kAdaptiveSlice},
     {"non-preemptive", sched::kNonPreemptiveSlice},
     {"preemptive", sched::kPreemptiveSlice}}};

std::vector<std::string> disciplines() {
  std::vector<std::string> names;
  for (const auto& [name, slices] : kDisciplines) names.emplace_back(name);
  return names;
}

/// Sets the slices, and shows those that are not constant: `slice_ms` shows the others.
OptionAccess<DeviceRule> discipline_field() {
  return {[](DeviceRule& rule, const OptionValue& value) {
            for (const auto& [name, slices] : kDisciplines) {
              if (std::get<std::string>(value) == name) rule.slices = slices;
            }
            return std::string();
          },
          [](const DeviceRule& rule) -> std::optional<OptionValue> {
            for (const auto& [name, slices] : kDisciplines) {
              if (rule.slices == slices && !slices.is_constant()) return OptionValue(std::string(name));
            }
            return std::nullopt;
          }};
}

std::vector<std::string> samplings() {
  std::vector<std::string> names;
  for (const auto& [name, sampling] : sched::kSamplings) names.emplace_back(name);
  return names;
}

OptionAccess<DeviceRule> sampling_field() {
  return {[](DeviceRule& rule, const OptionValue& value) {
            for (const auto& [name, sampling] : sched::kSamplings) {
              if (std::get<std::string>(value) == name) rule.sampling = sampling;
            }
            return std::string();
          },
          [](const DeviceRule& rule) -> std::optional<OptionValue> {
            for (const auto& [name, sampling] : sched::kSamplings) {
              if (rule.sampling == sampling) return OptionValue(std::string(name));
            }
            return std::nullopt;
          }};
}

OptionAccess<DeviceRule> slice_field() {
  using Fraction = std::chrono::duration<double, std::milli>;
  return {[](DeviceRule& rule, const OptionValue& value) {
            const Fraction slice(std::get<double>(value));
            rule.slices = sched::SliceRule::constant(std::chrono::round<sched::Duration>(slice));
            return std::string();
          },
          [](const DeviceRule& rule) -> std::optional<OptionValue> {
            if (!rule.slices.is_constant()) return std::nullopt;
            return OptionValue(Fraction(rule.slices.least).count());
          }};
}

OptionAccess<DeviceRule> oversubscribe_mode_field() {
  return {[](DeviceRule& rule, const OptionValue& value) {
            rule.oversubscribe_mode = std::get<std::string>(value) == "demand" ? OversubscribeMode::demand
                                                                               : OversubscribeMode::turns;
            return std::string();
          },
          [](const DeviceRule& rule) -> std::optional<OptionValue> {
            const bool on_demand = rule.oversubscribe_mode == OversubscribeMode::demand;
            return OptionValue(std::string(on_demand ? "demand" : "turns"));
          }};
}

/// Some of the cores that the daemon may use, and not all of them.
std::string set_cores(Config& config, const OptionValue& value) {
  const auto& text = std::get<std::string>(value);
  const auto cores = parse_core_set(text);
  if (!cores) return cores.error().message;
  const auto allowed = allowed_cores();
  if (!allowed) return allowed.error().message;
  const cpu_set_t beyond = other_cores(cores.value(), allowed.value());
  const cpu_set_t left = other_cores(allowed.value(), cores.value());
  if (CPU_COUNT(&beyond) != 0) return "the daemon may not use all of '" + text + "'";
  if (CPU_COUNT(&left) == 0) return "'" + text + "' leaves no core for anything else";
  config.tuning.device_cores = text;
  return "";
}

/// Those of [device] and [device.N].
const ConfigOptions<DeviceRule>& common_device_options() {
  static const ConfigOptions<DeviceRule> kOptions{
      {{"policy", ChoiceType{policies()}, "", Applies::at_once, "",
        "Who gets the device next while several want it (see The policy)."},
       field(&DeviceRule::policy)},
      {{"discipline", ChoiceType{disciplines()}, "", Applies::at_once, "",
        "How long a turn is while several want the device. `adaptive`: 15 ms while they are few, down to 1.5 "
        "ms with many; `non-preemptive`: 6 ms, for devices that cannot interrupt kernels; `preemptive`: 30 "
        "ms, for those that can (see The slice)."},
       discipline_field()},
      {{"slice_ms", NumberType{kShortestSlice, kLongestSlice}, "milliseconds", Applies::at_once,
        "as `discipline` says",
        "The length of a turn, however many want the device. Goes before `discipline`."},
       slice_field()},
      {{"sampling", ChoiceType{samplings()}, "", Applies::at_once, "",
        "Which commands are measured one by one, each alone on the device. `history`: those of kinds that "
        "are not known yet; `per-turn`: the first five of each measured turn, as FairGV publishes it for "
        "`fair-paper`; `always`: every command, in lone turns, too, to see what that costs. Turns by the "
        "clock measure nothing, whatever this says but `always`."},
       sampling_field()},
      {{"memory", DeviceMemoryType{}, "", Applies::at_once, "all that the device has",
        "What the device shares out (see Memory)."},
       field(&DeviceRule::memory)},
      {{"hold_limit_s", NumberType{0, kLongestHold}, "seconds", Applies::at_once, "",
        "Kill the worker of whoever holds the device in one turn for so long while others wait; 0: never "
        "(see The watchdog)."},
       time_field<Seconds>(&DeviceRule::hold_limit)},
      {{"interrupts", TruthType{}, "", Applies::at_once, "",
        "On a CPU device: stop the worker that has the turn while a tenant runs that needs the device for a "
        "moment, or is of class latency (see Interruptions)."},
       field(&DeviceRule::interrupts)},
      {{"wake_latency_us", IntegerType{0, kLongestWakeLatency}, "microseconds", Applies::at_once,
        "as long as the system likes",
        "How long a processor may take to wake up while several want the device (see Waking up)."},
       field(&DeviceRule::wake_latency_us)},
      {{"oversell", TruthType{}, "", Applies::at_once, "",
        "Sell the device's time by `max`, and more of it than there is as far as tenants leave unused what "
        "they bought. With the policy `cap` only (see Overselling)."},
       field(&DeviceRule::oversell)},
      {{"oversell_limit", TextType{}, "", Applies::at_once, "",
        "The most of the device that its tenants' use, as of late, and a newcomer's part may come to "
        "together."},
       share_field(&DeviceRule::oversell_limit)},
      {{"oversell_ratio", NumberType{1, kMostTimesSold}, "times", Applies::at_once,
        "by what tenants use and need",
        "Instead of looking at what tenants use: sell the device so many times. Each tenant's cap is what it "
        "bought, divided by this."},
       field(&DeviceRule::oversell_ratio)},
      {{"oversell_move_to", IntegerType{0, session::kMaxDevices - 1}, "", Applies::at_once,
        "nothing is moved",
        "The device to which the lightest session moves while this one, oversold, is overloaded (see "
        "Overselling), if its tenant may use it."},
       field(&DeviceRule::oversell_move_to)},
      {{"evacuate_to", IntegerType{0, session::kMaxDevices - 1}, "", Applies::at_once,
        "the device where the session's tenant is best served",
        "The device where sessions go first when this one is drained (`fairgv drain`) or fails, if their "
        "tenants may use it."},
       field(&DeviceRule::evacuate_to)},
      {{"oversubscribe", NumberType{1, kMostTimesLent}, "times", Applies::new_programs,
        "no: what tenants hold fits into the device",
        "Lend the device's memory so many times: what tenants hold may come to more than there is, and lies "
        "in "
        "the host's memory while others have their turns (see Memory that is lent)."},
       field(&DeviceRule::oversubscribe)},
      {{"oversubscribe_mode", ChoiceType{{"turns", "demand"}}, "", Applies::new_programs, "",
        "`turns`: the memory of the tenant whose turn is next comes in before, and turns grow until that is "
        "a small part of them. `demand`, to compare with: memory comes in when a command needs it, and turns "
        "are as long as ever."},
       oversubscribe_mode_field()},
      {{"oversubscribe_turn_ms", NumberType{kShortestSlice, kLongestLentTurn}, "milliseconds",
        Applies::at_once, "", "The longest that a turn grows to because memory has to come in for it."},
       time_field<Milliseconds>(&DeviceRule::oversubscribe_turn)},
      {{"oversubscribe_link", BytesType{0, kMostBandwidth}, "bytes per second", Applies::new_programs, "",
        "For experiments on a device that has the host's memory: a link that is simulated, each way; 0: "
        "none."},
       field(&DeviceRule::oversubscribe_link)},
  };
  return kOptions;
}

}  // namespace

ConfigOptions<Config> all_device_options() {
  ConfigOptions<Config> rows;
  for (const ConfigOption<DeviceRule>& row : common_device_options()) {
    rows.push_back({row.facts, within(&Config::devices, within(&DeviceRules::common, row.access))});
  }
  const std::vector<std::string> modes(std::begin(kSlicingModes), std::end(kSlicingModes));
  const ConfigOptions<Config> more{
      {{"samples", IntegerType{1, kMostSamples}, "", Applies::new_programs, "",
        "How often a kernel is measured by itself until its time is known."},
       tuning(&session::WorkerTuning::samples)},
      {{"cores", TextType{}, "", Applies::new_programs, "every core that the daemon may use",
        "Where the threads of a CPU device run, as in `taskset -c`: \"0-3,8\"; everything else of FairGV's "
        "runs elsewhere (see Cores)."},
       {set_cores, tuning(&session::WorkerTuning::device_cores).get}},
      {{"core_per_thread", TruthType{}, "", Applies::new_programs, "",
        "Keep each thread of a CPU device on a core of its own (see Cores)."},
       tuning(&session::WorkerTuning::core_per_thread)},
      {{"coscheduling", TruthType{}, "", Applies::new_programs, "",
        "Wake interactive programs with their turns, on a device with cores of its own (see Interactive "
        "programs)."},
       tuning(&session::WorkerTuning::coscheduling)},
      {{"slicing", ChoiceType{modes}, "", Applies::new_programs, "",
        "How launches that outlast a slice are cut (see Slicing)."},
       tuning(&session::WorkerTuning::slicing)},
      {{"slicing_floor", IntegerType{1, kLargestFloor}, "work-groups", Applies::at_once, "",
        "The smallest part of a launch that is cut."},
       tuning(&session::WorkerTuning::slicing_floor)},
      {{"never_slice", ListType{kMostNeverSliced, is_kernel_name, "names of kernels"}, "",
        Applies::new_programs, "none", "Kernels that always run whole (see Slicing)."},
       tuning(&session::WorkerTuning::never_slice)},
  };
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

const ConfigOptions<DeviceRule>& device_options() {
  static const ConfigOptions<DeviceRule> kOptions = [] {
    ConfigOptions<DeviceRule> rows = common_device_options();
    rows.push_back({{"same_as", IntegerType{0, session::kMaxDevices - 1}, "", Applies::restart,
                     "as FairGV finds out: CPU devices are the same processors",
                     "The device of `fairgv ps`, one before this, that is the same hardware under another "
                     "driver: both are shared as one, by its rules. Its own number: it is hardware of its "
                     "own (see Several drivers)."},
                    field(&DeviceRule::same_as)});
    rows.push_back({{"speed", IntegerType{1, sched::DeviceProfile::kMostSpeed}, "", Applies::new_programs,
                     "compute units times their clock in MHz, as the driver says",
                     "How fast the device is beside the others of its platform, where the daemon chooses "
                     "among them (see Several devices)."},
                    field(&DeviceRule::speed)});
    rows.push_back({{"bandwidth", BytesType{kLeastBandwidth, kMostBandwidth}, "bytes per second",
                     Applies::new_programs, "unknown",
                     "Between host and device, both ways: of devices that are worth the same to a tenant the "
                     "one with more is chosen."},
                    field(&DeviceRule::bandwidth)});
    return rows;
  }();
  return kOptions;
}

}  // namespace fairgv::daemon
