#include "tests/workloads/support/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <sstream>
#include <string_view>
#include <vector>

namespace workloads {
namespace {

template <typename Number>
Number parse_number(const std::string& name, const std::string& text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) {
    throw BadInput(name + " takes a number, not '" + text + "'");
  }
  return value;
}

std::uint64_t parse_count(const std::string& name, const std::string& text, std::uint64_t minimum) {
  const auto value = parse_number<std::uint64_t>(name, text);
  if (value < minimum) {
    throw BadInput(name + " must be at least " + std::to_string(minimum) + ", not " + text);
  }
  return value;
}

double parse_positive(const std::string& name, const std::string& text, double maximum) {
  const auto value = parse_number<double>(name, text);
  if (!(value > 0.0) || !(value <= maximum)) {
    std::ostringstream line;
    line << name << " must be above 0 and at most " << maximum << ", not " << text;
    throw BadInput(line.str());
  }
  return value;
}

double parse_ratio(const std::string& name, const std::string& text, double maximum) {
  const auto value = parse_number<double>(name, text);
  if (!(value >= 0.0) || !(value <= maximum)) {
    std::ostringstream line;
    line << name << " must be at least 0 and at most " << maximum << ", not " << text;
    throw BadInput(line.str());
  }
  return value;
}

SyncMode parse_sync(const std::string& text) {
  if (text == "every") return SyncMode::kEvery;
  if (text == "batch") return SyncMode::kBatch;
  if (text == "stream") return SyncMode::kStream;
  throw BadInput("--sync takes every, batch or stream, not '" + text + "'");
}

VerifyMode parse_verify(const std::string& text) {
  if (text == "once") return VerifyMode::kOnce;
  if (text == "last") return VerifyMode::kLast;
  if (text == "always") return VerifyMode::kAlways;
  if (text == "off") return VerifyMode::kOff;
  throw BadInput("--verify takes once, last, always or off, not '" + text + "'");
}

struct Option {
  std::string name;
  std::string value;  ///< The kind of value, for --help.
  std::string help;
  std::function<void(Options&, const std::string&)> set;
};

constexpr double kLongestSeconds = 86400.0;
constexpr double kMostSleep = 0.95;
constexpr double kLongestKernel = 10e6;
constexpr std::uint64_t kMostProgressMilliseconds = 86'400'000;
constexpr std::uint64_t kMostClockMilliseconds = 1'000;

/// Options of the measurement: how long, from when, and how the host waits.
void add_measurement_options(std::vector<Option>& table, const Description& description) {
  const auto batch = std::to_string(description.default_batch);
  table.push_back({"--seconds", "S", "length of the measured window (default 2)",
                   [](Options& options, const std::string& text) {
                     options.seconds = parse_positive("--seconds", text, kLongestSeconds);
                   }});
  table.push_back({"--repetitions", "N", "run exactly N rounds instead of a time",
                   [](Options& options, const std::string& text) {
                     options.repetitions = parse_count("--repetitions", text, 1);
                   }});
  table.push_back({"--sync", "every|batch|stream",
                   std::string("wait after every launch, after every batch, or for the batch before "
                               "(default ") +
                       sync_name(description.default_sync) + ")",
                   [](Options& options, const std::string& text) { options.sync = parse_sync(text); }});
  table.push_back(
      {"--batch", "B", "kernel launches per batch (default " + batch + ")",
       [](Options& options, const std::string& text) { options.batch = parse_count("--batch", text, 1); }});
  table.push_back(
      {"--warmup", "N", "rounds before the window (default 10)",
       [](Options& options, const std::string& text) { options.warmup = parse_count("--warmup", text, 0); }});
  table.push_back({"--sleep-ratio", "R",
                   "after each batch sleep, for R of the time to be sleep (0 to 0.95, default 0)",
                   [](Options& options, const std::string& text) {
                     options.sleep_ratio = parse_ratio("--sleep-ratio", text, kMostSleep);
                   }});
  table.push_back({"--start-at", "T", "open the window at this second of CLOCK_MONOTONIC",
                   [](Options& options, const std::string& text) {
                     options.start_at = parse_positive("--start-at", text, 1e9);
                   }});
  table.push_back({"--progress-ms", "N", "print a JSON line with the rounds so far every N milliseconds",
                   [](Options& options, const std::string& text) {
                     const std::uint64_t period = parse_count("--progress-ms", text, 1);
                     if (period > kMostProgressMilliseconds) {
                       throw BadInput("--progress-ms must be at most a day, not " + text);
                     }
                     options.progress = std::chrono::milliseconds(period);
                   }});
  table.push_back({"--clock-ms", "N",
                   "a thread reads the clock every N milliseconds of the window; the result has the largest "
                   "gap",
                   [](Options& options, const std::string& text) {
                     const std::uint64_t period = parse_count("--clock-ms", text, 1);
                     if (period > kMostClockMilliseconds)
                       throw BadInput("--clock-ms must be at most a second, not " + text);
                     options.clock = std::chrono::milliseconds(period);
                   }});
  table.push_back({"--events", "FILE", "profile the window too, and write START and END of every launch (ns)",
                   [](Options& options, const std::string& text) { options.events_file = text; }});
  table.push_back({"--waits", "FILE",
                   "with --sync every: write when each launch of the window was begun and seen to end, by "
                   "CLOCK_MONOTONIC (ns)",
                   [](Options& options, const std::string& text) { options.waits_file = text; }});
  table.push_back(
      {"--requests", "FILE",
       "instead of a window: for each line of FILE (it may be a pipe) run as many rounds as it "
       "says, after 'run' with the waits of --sync, with 'after' and a number right after as many "
       "that are not measured, after 'window' for as long as it says from a second on and 'after' so many "
       "of work, after 'begin' until the next line, or after 'build' build as often, and print what was done "
       "and how long that took",
       [](Options& options, const std::string& text) { options.requests_file = text; }});
}

/// Options of the problem: where it runs, how big it is, and how it is checked.
void add_problem_options(std::vector<Option>& table, const Description& description) {
  table.push_back({"--platform", "P", "platform by index or part of its name (default 0)",
                   [](Options& options, const std::string& text) { options.platform = text; }});
  table.push_back({"--device", "D", "device by index or part of its name (default 0)",
                   [](Options& options, const std::string& text) { options.device = text; }});
  table.push_back(
      {"--size", "N",
       description.size_meaning + " (default " + std::to_string(description.default_size) + ")",
       [](Options& options, const std::string& text) { options.size = parse_count("--size", text, 1); }});
  table.push_back({"--kernel-us", "N", "choose the amount of work so that one launch takes about N us",
                   [](Options& options, const std::string& text) {
                     options.kernel_microseconds = parse_positive("--kernel-us", text, kLongestKernel);
                   }});
  if (description.takes_iterations) {
    table.push_back({"--iterations", "N", "set the iteration count instead of calibrating it",
                     [](Options& options, const std::string& text) {
                       options.iterations = parse_count("--iterations", text, 1);
                     }});
  }
  table.push_back(
      {"--seed", "N", "seed of the input (default 42)", [](Options& options, const std::string& text) {
         options.seed = parse_number<std::uint64_t>("--seed", text);
       }});
  table.push_back({"--verify", "once|last|always|off",
                   "check the results (default once: before and after; last: only after)",
                   [](Options& options, const std::string& text) { options.verify = parse_verify(text); }});
}

std::uint64_t parse_own(const OwnOption& own, const std::string& text) {
  const auto value = parse_number<std::uint64_t>("--" + own.name, text);
  if (std::find(own.choices.begin(), own.choices.end(), value) != own.choices.end()) return value;
  std::string choices;
  for (const std::uint64_t choice : own.choices) choices += std::to_string(choice) + ", ";
  throw BadInput("--" + own.name + " takes " + choices + "not " + text);
}

std::vector<Option> option_table(const Description& description) {
  std::vector<Option> table;
  add_problem_options(table, description);
  for (const OwnOption& own : description.own_options) {
    table.push_back({"--" + own.name, "N", own.meaning, [own](Options& options, const std::string& text) {
                       options.own[own.name] = parse_own(own, text);
                     }});
  }
  add_measurement_options(table, description);
  return table;
}

void reject_contradictions(const Description& description, const Options& options, bool seconds_given) {
  if (options.repetitions && seconds_given) {
    throw BadInput("--seconds and --repetitions exclude each other: give one");
  }
  if (description.takes_iterations && options.iterations && options.kernel_microseconds) {
    throw BadInput("--iterations and --kernel-us exclude each other: give one");
  }
  if (!description.takes_iterations && options.size && options.kernel_microseconds) {
    throw BadInput("--size and --kernel-us exclude each other: give one");
  }
  if (!options.waits_file.empty() && options.sync.value_or(description.default_sync) != SyncMode::kEvery) {
    throw BadInput("--waits needs --sync every: in the other modes no launch is waited for by itself");
  }
  if (!options.requests_file.empty() && (options.repetitions || seconds_given)) {
    throw BadInput("--requests says how much there is to do: leave out --seconds and --repetitions");
  }
  if (!options.size) return;
  if (*options.size > description.maximum_size) {
    throw BadInput("--size must be at most " + std::to_string(description.maximum_size) + ", not " +
                   std::to_string(*options.size));
  }
  if (*options.size % description.size_multiple != 0) {
    throw BadInput("--size must be a multiple of " + std::to_string(description.size_multiple) + ", not " +
                   std::to_string(*options.size));
  }
}

}  // namespace

const char* sync_name(SyncMode mode) {
  switch (mode) {
    case SyncMode::kEvery:
      return "every";
    case SyncMode::kBatch:
      return "batch";
    case SyncMode::kStream:
      return "stream";
  }
  return "";
}

Options parse_options(const Description& description, int argc, const char* const* argv) {
  const std::vector<Option> table = option_table(description);
  Options options;
  bool seconds_given = false;
  for (int position = 1; position < argc; ++position) {
    const std::string name = argv[position];
    if (name == "--help") {
      options.help = true;
      return options;
    }
    const Option* option = nullptr;
    for (const Option& candidate : table) {
      if (candidate.name == name) option = &candidate;
    }
    if (option == nullptr) throw BadInput("unknown option '" + name + "'; --help lists the options");
    if (++position == argc) throw BadInput(name + " needs a value: " + option->value);
    option->set(options, argv[position]);
    seconds_given = seconds_given || name == "--seconds";
  }
  reject_contradictions(description, options, seconds_given);
  return options;
}

std::string usage(const Description& description) {
  std::ostringstream text;
  text << "usage: " << description.name << " [--name value]...\n";
  for (const Option& option : option_table(description)) {
    text << "  " << option.name << ' ' << option.value << "\n      " << option.help << '\n';
  }
  text << "Prints one JSON line. Exit code: 0 verified, 1 failed, 2 bad input.\n";
  return text.str();
}

}  // namespace workloads
