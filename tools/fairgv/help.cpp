// fairgv help: the same as --help, for people who type it first.
#include <algorithm>

#include "tools/fairgv/command.hpp"

namespace fairgv::tools {

void add_help(CLI::App& app, Action& action) {
  static std::vector<std::string> words;
  CLI::App* const command = app.add_subcommand(
      "help", "Say what a command does: fairgv help [COMMAND]; the same as COMMAND --help");
  command->add_option("command", words, "Which command: run, config check")->type_name("COMMAND");
  // help_first() has replaced the command wherever there is help to show.
  command->callback([&action] {
    action = [] { return fail("help", "name a command, without options: fairgv help COMMAND", kMisused); };
  });
}

void help_first(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help") return;
  const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
  if (std::any_of(arguments.begin(), arguments.end(), is_option)) return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

}  // namespace fairgv::tools
