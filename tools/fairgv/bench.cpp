// fairgv bench: runs the benchmark programs that lie beside this one, fairgv-bench-NAME.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "runtime/session/paths.hpp"
#include "tools/fairgv/command.hpp"

namespace fairgv::tools {
namespace {

constexpr std::string_view kPrefix = "fairgv-bench-";

std::vector<std::string> all_benchmarks(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename();
    if (file.starts_with(kPrefix)) names.push_back(file.substr(kPrefix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

int bench(const std::string& name, const std::vector<std::string>& arguments) {
  const auto folder = session::program_directory();
  if (!folder) return fail("bench", folder.error().message);
  const std::vector<std::string> names = all_benchmarks(folder.value());
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  if (name.empty() && !arguments.empty()) {
    return fail("bench", "unknown option '" + arguments.front() + "'; see fairgv bench --help", kMisused);
  }
  if (name.empty()) {
    fmt::print("benchmarks: {}\nfairgv bench NAME --help says what one measures\n", list);
    return 0;
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return fail("bench", "there is no benchmark '" + name + "' (there are: " + list + ")", kMisused);
  }
  const std::string program = folder.value() / (std::string(kPrefix) + name);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  return fail("bench", system_error("cannot execute " + program).message);
}

}  // namespace

void add_bench(CLI::App& app, Action& action, const std::vector<std::string>& after_dashes) {
  static std::string name;
  static bool help = false;
  CLI::App* command = app.add_subcommand(
      "bench", "Measure: fairgv bench [NAME [options]]; without a name, list what there is");
  command->add_option("name", name, "Which benchmark")->type_name("BENCHMARK");
  // CLI11's own flag would answer for the benchmark, too.
  command->set_help_flag();
  command->add_flag("-h,--help", help, "Print this help message, or that of the benchmark named, and exit");
  command->prefix_command();
  command->callback([&action, &after_dashes, command] {
    if (help && name.empty()) throw CLI::CallForHelp();
    std::vector<std::string> arguments = command->remaining();
    if (help) arguments.emplace_back("--help");
    arguments.insert(arguments.end(), after_dashes.begin(), after_dashes.end());
    action = [arguments] { return bench(name, arguments); };
  });
}

}  // namespace fairgv::tools
