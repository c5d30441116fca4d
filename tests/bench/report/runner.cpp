#include "tests/bench/report/runner.hpp"

#include <fmt/chrono.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "tests/bench/report/this_machine.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::report {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kPrefix = "fairgv-bench-";
constexpr int kKilled = 124;  // as timeout(1)

bool is_program(const std::string& name) {
  std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// An experiment by its --help: its purpose and its options.
struct Described {
  std::string purpose;
  std::string help;

  bool takes(const std::string& option) const { return help.find("  " + option + " ") != std::string::npos; }
};

Result<Described> described(const std::string& program) {
  FAIRGV_TRY(finished, harness::run({{program, "--help"}, {}}));
  if (finished->status != 0) return Error{program + " --help failed"};
  Described found;
  for (const std::string& line : finished->lines) {
    if (found.purpose.empty()) found.purpose = line;
    found.help += line + " \n";
  }
  return found;
}

/// Its options, and why there will be no figure, if that is so.
std::vector<std::string> options_of(const std::string& name, const Described& experiment, const Wish& wish,
                                    std::string& remark) {
  std::vector<std::string> options;
  if (wish.quick) {
    options = experiment.takes("--quick") ? std::vector<std::string>{"--quick"} : entry_of(name).when_quick;
    if (options.empty()) remark = "It knows no quick run: this one was whole.";
  }
  if (wish.device_cores > 0) {
    if (experiment.takes("--device-cores")) {
      options.insert(options.end(), {"--device-cores", std::to_string(wish.device_cores)});
    } else {
      remark += (remark.empty() ? "" : " ") + std::string("It cannot place the device: it ran anywhere.");
    }
  }
  return options;
}

std::vector<std::string> files_of(const std::string& name, const Described& experiment, const Folder& folder,
                                  std::string& remark) {
  std::vector<std::string> options;
  if (experiment.takes("--csv")) options = {"--csv", folder.file(name + ".csv")};
  if (!experiment.takes("--figure")) return options;
  if (is_program("gnuplot")) {
    options.insert(options.end(), {"--figure", folder.file(name + ".svg")});
  } else {
    remark +=
        (remark.empty() ? "" : " ") + std::string("No figure: there is no gnuplot (Debian: gnuplot-nox).");
  }
  return options;
}

struct Ended {
  int status = 0;
  std::string output;
};

/// Until it has ended, or should have.
void wait_for_end(harness::Child& child) {
  constexpr std::chrono::seconds kPatience{20};
  const auto give_up = Clock::now() + kPatience;
  while (!child.ended() && Clock::now() < give_up) {
    pollfd readable{child.output(), POLLIN, 0};
    ::poll(&readable, 1, 100);
    static_cast<void>(child.read_lines());
  }
}

/// Both of its outputs, which are also printed.
Result<Ended> run(const std::vector<std::string>& command, double limit_min) {
  std::vector<std::string> words{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"};
  words.insert(words.end(), command.begin(), command.end());
  FAIRGV_TRY(child, harness::Child::start({words, {}}));
  const auto end = Clock::now() + std::chrono::duration<double, std::ratio<60>>(limit_min);
  Ended ended;
  while (!child->ended()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) {
      ended.output += fmt::format("killed: it took longer than {:g} min\n", limit_min);
      ended.status = kKilled;
      ::kill(child->pid(), SIGTERM);
      wait_for_end(child.value());
      return ended;  // if it has not ended yet, the child's destructor kills it
    }
    pollfd readable{child->output(), POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    for (const std::string& line : child->read_lines()) {
      fmt::print("{}\n", line);
      ended.output += line + '\n';
    }
    std::fflush(stdout);
  }
  ended.status = child->wait();
  return ended;
}

}  // namespace

std::vector<std::string> experiments() {
  std::vector<std::string> there;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(harness::own_folder(), ignored)) {
    const std::string file = entry.path().filename();
    if (file.starts_with(kPrefix) && file != "fairgv-bench-all") there.push_back(file.substr(kPrefix.size()));
  }
  std::sort(there.begin(), there.end());
  std::vector<std::string> names;
  for (const Entry& entry : catalogue()) {
    if (std::erase(there, entry.name) != 0) names.push_back(entry.name);
  }
  names.insert(names.end(), there.begin(), there.end());
  return names;
}

Result<Attempt> attempt(const std::string& name, const Wish& wish, const Folder& folder) {
  const std::string program = harness::beside(std::string(kPrefix) + name);
  FAIRGV_TRY(experiment, described(program));
  folder.forget(name);

  Attempt made;
  made.name = name;
  made.purpose = experiment->purpose;
  made.version = FAIRGV_VERSION;
  made.quick = wish.quick;
  made.load = load();
  made.when = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)));
  std::vector<std::string> command{program};
  made.command = "fairgv bench " + name;
  for (const std::string& option : options_of(name, experiment.value(), wish, made.remark)) {
    command.push_back(option);
    made.command += " " + option;
  }
  for (const std::string& option : files_of(name, experiment.value(), folder, made.remark)) {
    command.push_back(option);
  }
  const auto start = Clock::now();
  FAIRGV_TRY(ended, run(command, wish.limit_min));
  made.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  made.status = ended->status;
  FAIRGV_CHECK(folder.write_output(name, ended->output));
  return made;
}

}  // namespace fairgv::bench::report
