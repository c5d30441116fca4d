#include "tests/workloads/support/options.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <sstream>
#include <string_view>
#include <vector>

namespace workloads {
namespace {

template <typename Number>
Number parseNumber(const std::string& name, const std::string& text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) {
    throw BadInput(name + " takes a number, not '" + text + "'");
  }
  return value;
}

std::uint64_t parseCount(const std::string& name, const std::string& text, std::uint64_t minimum) {
  const auto value = parseNumber<std::uint64_t>(name, text);
  if (value < minimum) {
    throw BadInput(name + " must be at least " + std::to_string(minimum) + ", not " + text);
  }
  return value;
}

double parsePositive(const std::string& name, const std::string& text, double maximum) {
  const auto value = parseNumber<double>(name, text);
  if (!(value > 0.0) || !(value <= maximum)) {
    std::ostringstream line;
    line << name << " must be above 0 and at most " << maximum << ", not " << text;
    throw BadInput(line.str());
  }
  return value;
}

SyncMode parseSync(const std::string& text) {
  if (text == "every") return SyncMode::kEvery;
  if (text == "batch") return SyncMode::kBatch;
  if (text == "stream") return SyncMode::kStream;
  throw BadInput("--sync takes every, batch or stream, not '" + text + "'");
}

VerifyMode parseVerify(const std::string& text) {
  if (text == "once") return VerifyMode::kOnce;
  if (text == "always") return VerifyMode::kAlways;
  if (text == "off") return VerifyMode::kOff;
  throw BadInput("--verify takes once, always or off, not '" + text + "'");
}

struct Option {
  std::string name;
  std::string value;  ///< What the value is, for --help.
  std::string help;
  std::function<void(Options&, const std::string&)> set;
};

constexpr double kLongestSeconds = 86400.0;
constexpr double kLongestKernel = 10e6;
constexpr std::uint64_t kMostProgressMilliseconds = 86'400'000;

/// Options of the measurement: how long, from when, and how the host waits.
void addMeasurementOptions(std::vector<Option>& table, const Description& description) {
  const auto batch = std::to_string(description.defaultBatch);
  table.push_back({"--seconds", "S", "length of the measured window (default 2)",
                   [](Options& options, const std::string& text) {
                     options.seconds = parsePositive("--seconds", text, kLongestSeconds);
                   }});
  table.push_back({"--repetitions", "N", "run exactly N rounds instead of a time",
                   [](Options& options, const std::string& text) {
                     options.repetitions = parseCount("--repetitions", text, 1);
                   }});
  table.push_back({"--sync", "every|batch|stream",
                   std::string("wait after every launch, after every batch, or for the batch before "
                               "(default ") +
                       syncName(description.defaultSync) + ")",
                   [](Options& options, const std::string& text) { options.sync = parseSync(text); }});
  table.push_back(
      {"--batch", "B", "kernel launches per batch (default " + batch + ")",
       [](Options& options, const std::string& text) { options.batch = parseCount("--batch", text, 1); }});
  table.push_back(
      {"--warmup", "N", "rounds before the window (default 10)",
       [](Options& options, const std::string& text) { options.warmup = parseCount("--warmup", text, 0); }});
  table.push_back({"--start-at", "T", "open the window at this second of CLOCK_MONOTONIC",
                   [](Options& options, const std::string& text) {
                     options.startAt = parsePositive("--start-at", text, 1e9);
                   }});
  table.push_back({"--progress-ms", "N", "print a JSON line with the rounds so far every N milliseconds",
                   [](Options& options, const std::string& text) {
                     const std::uint64_t period = parseCount("--progress-ms", text, 1);
                     if (period > kMostProgressMilliseconds) {
                       throw BadInput("--progress-ms must be at most a day, not " + text);
                     }
                     options.progress = std::chrono::milliseconds(period);
                   }});
}

/// Options of the problem: where it runs, how big it is, and how it is checked.
void addProblemOptions(std::vector<Option>& table, const Description& description) {
  table.push_back({"--platform", "P", "platform by index or part of its name (default 0)",
                   [](Options& options, const std::string& text) { options.platform = text; }});
  table.push_back({"--device", "D", "device by index or part of its name (default 0)",
                   [](Options& options, const std::string& text) { options.device = text; }});
  table.push_back(
      {"--size", "N", description.sizeMeaning + " (default " + std::to_string(description.defaultSize) + ")",
       [](Options& options, const std::string& text) { options.size = parseCount("--size", text, 1); }});
  table.push_back({"--kernel-us", "N", "choose the amount of work so that one launch takes about N us",
                   [](Options& options, const std::string& text) {
                     options.kernelMicroseconds = parsePositive("--kernel-us", text, kLongestKernel);
                   }});
  if (description.takesIterations) {
    table.push_back({"--iterations", "N", "set the iteration count instead of calibrating it",
                     [](Options& options, const std::string& text) {
                       options.iterations = parseCount("--iterations", text, 1);
                     }});
  }
  table.push_back(
      {"--seed", "N", "seed of the input (default 42)", [](Options& options, const std::string& text) {
         options.seed = parseNumber<std::uint64_t>("--seed", text);
       }});
  table.push_back({"--verify", "once|always|off", "check the results (default once: before and after)",
                   [](Options& options, const std::string& text) { options.verify = parseVerify(text); }});
}

std::vector<Option> optionTable(const Description& description) {
  std::vector<Option> table;
  addProblemOptions(table, description);
  addMeasurementOptions(table, description);
  return table;
}

void rejectContradictions(const Description& description, const Options& options, bool secondsGiven) {
  if (options.repetitions && secondsGiven) {
    throw BadInput("--seconds and --repetitions exclude each other: give one");
  }
  if (description.takesIterations && options.iterations && options.kernelMicroseconds) {
    throw BadInput("--iterations and --kernel-us exclude each other: give one");
  }
  if (!description.takesIterations && options.size && options.kernelMicroseconds) {
    throw BadInput("--size and --kernel-us exclude each other: give one");
  }
  if (!options.size) return;
  if (*options.size > description.maximumSize) {
    throw BadInput("--size must be at most " + std::to_string(description.maximumSize) + ", not " +
                   std::to_string(*options.size));
  }
  if (*options.size % description.sizeMultiple != 0) {
    throw BadInput("--size must be a multiple of " + std::to_string(description.sizeMultiple) + ", not " +
                   std::to_string(*options.size));
  }
}

}  // namespace

const char* syncName(SyncMode mode) {
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

Options parseOptions(const Description& description, int argc, const char* const* argv) {
  const std::vector<Option> table = optionTable(description);
  Options options;
  bool secondsGiven = false;
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
    secondsGiven = secondsGiven || name == "--seconds";
  }
  rejectContradictions(description, options, secondsGiven);
  return options;
}

std::string usage(const Description& description) {
  std::ostringstream text;
  text << "usage: " << description.name << " [--name value]...\n";
  for (const Option& option : optionTable(description)) {
    text << "  " << option.name << ' ' << option.value << "\n      " << option.help << '\n';
  }
  text << "Prints one JSON line. Exit code: 0 verified, 1 failed, 2 bad input.\n";
  return text.str();
}

}  // namespace workloads
