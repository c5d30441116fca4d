#include "tools/completion/words.hpp"

#include <sstream>

namespace fairgv::tools {
namespace {

/// The first line, without characters that a shell's description cannot have.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// CLI11 writes "TEXT:{a,b}" for one of several words.
std::vector<std::string> choices_of(const std::string& type) {
  const auto open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

CompletedValue value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return {type.substr(0, type.find(':')), choices_of(type)};
}

CompletedOption option_of(const CLI::Option& option) {
  CompletedOption completed;
  for (const std::string& name : option.get_lnames()) completed.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) completed.names.push_back("-" + name);
  completed.takes_value = option.get_items_expected_max() > 0;
  completed.repeatable = option.get_items_expected_max() > 1;
  if (completed.takes_value) completed.value = value_of(option);
  completed.help = first_line(option.get_description());
  return completed;
}

void read_into(CompletedCommand& command, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    if (option->nonpositional()) command.options.push_back(option_of(*option));
    if (option->get_positional()) command.positionals.push_back(value_of(*option));
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name().empty()) {  // a group of options
      read_into(command, *sub);
    } else if (!sub->get_group().empty()) {
      CompletedCommand& completed = command.commands.emplace_back();
      completed.path = command.path;
      completed.path.push_back(sub->get_name());
      completed.help = first_line(sub->get_description());
      completed.takes_program = sub->get_prefix_command();
      read_into(completed, *sub);
    }
  }
}

}  // namespace

CompletedCommand completed_command(const CLI::App& app) {
  CompletedCommand root;
  root.help = first_line(app.get_description());
  read_into(root, app);
  return root;
}

}  // namespace fairgv::tools
