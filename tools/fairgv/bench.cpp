// fairgv bench: runs the benchmark programs fairgv-bench-NAME, which lie beside this one in the build tree
// and in libexec/fairgv where they are installed.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "runtime/base/near_word.hpp"
#include "runtime/session/paths.hpp"
#include "tools/fairgv/command.hpp"

namespace fairgv::tools {
namespace {

constexpr std::string_view kPrefix = "fairgv-bench-";
/// Programs of their own, which tools/quickstart leaves out.
constexpr std::string_view kBuiltByAll[] = {"all", "null-call"};

/// Their names and paths.
std::map<std::string, std::string> all_benchmarks(const std::filesystem::path& programs) {
  std::map<std::string, std::string> found;
  for (const auto& folder : {programs, (programs / "../libexec/fairgv").lexically_normal()}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename();
      if (file.starts_with(kPrefix)) found.emplace(file.substr(kPrefix.size()), entry.path());
    }
  }
  return found;
}

std::vector<std::string> names_of(const std::map<std::string, std::string>& benchmarks) {
  std::vector<std::string> names;
  for (const auto& [name, path] : benchmarks) names.push_back(name);
  return names;
}

int print_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  fmt::print("benchmarks: {}\nfairgv bench NAME --help says what one measures\n", list);
  if (std::find(names.begin(), names.end(), "all") == names.end())
    fmt::print("tools/build builds the others, and 'all', which runs them one after the other\n");
  return 0;
}

/// Reports a name that is not among them: it may not be built, or not exist.
int refuse(const std::string& name, const std::vector<std::string>& names) {
  const bool known = std::find(std::begin(kBuiltByAll), std::end(kBuiltByAll), name) != std::end(kBuiltByAll);
  if (known) {
    return fail("bench", fmt::format("'{}' is not built yet: run tools/build in the source tree", name));
  }
  return fail("bench",
              fmt::format("there is no benchmark '{}': {}see fairgv bench for all that there are", name,
                          did_you_mean(name, names)),
              kMisused);
}

int bench(const std::string& name, const std::vector<std::string>& arguments) {
  const auto folder = session::program_directory();
  if (!folder) return fail("bench", folder.error().message);
  if (name.empty() && !arguments.empty()) {
    return fail("bench", "unknown option '" + arguments.front() + "'; see fairgv bench --help", kMisused);
  }
  const auto benchmarks = all_benchmarks(folder.value());
  if (benchmarks.empty()) {
    return fail("bench",
                (name.empty() ? std::string() : "there is no '" + name + "', because ") +
                    "no benchmarks are here: install the package fairgv-bench, or build them by tools/build");
  }
  const std::vector<std::string> names = names_of(benchmarks);
  if (name.empty()) return print_list(names);
  const auto found = benchmarks.find(name);
  // No benchmark has this name.
  if (name == "list" && arguments.empty()) return print_list(names);
  if (found == benchmarks.end()) return refuse(name, names);
  const std::string& program = found->second;
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
