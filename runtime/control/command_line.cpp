#include "runtime/control/command_line.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/near_word.hpp"

namespace fairgv::control {
namespace {

/// The command that was chosen, with its whole name.
std::pair<const CLI::App*, std::string> chosen_command(const CLI::App& app) {
  const CLI::App* at = &app;
  std::string name = at->get_name();
  for (auto below = at->get_subcommands(); !below.empty(); below = at->get_subcommands()) {
    at = below.front();
    name += " " + at->get_name();
  }
  return {at, name};
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!each->get_name().empty() && !each->get_group().empty()) names.push_back(each->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

/// The parts before and behind `separator`; none if it is not there.
std::optional<std::pair<std::string, std::string>> split(const std::string& text,
                                                         std::string_view separator) {
  const auto at = text.find(separator);
  if (at == std::string::npos) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + separator.size()));
}

/// "tenant" of "tenant: 1 required TEXT missing", and the kind of its value, "TENANT".
std::string kind_of_value(const CLI::App& command, const std::string& option) {
  const CLI::Option* const found = command.get_option_no_throw(option);
  if (found == nullptr || found->get_type_name().empty()) return "";
  const std::string type = found->get_type_name();
  return ": " + type.substr(0, type.find(':'));
}

/// "VALUE not in {a,b}" and "Value VALUE not in range A to B", as the parser's own checks say it.
std::string refused_value(const std::string& option, const std::string& complaint) {
  if (const auto choice = split(complaint, " not in {")) {
    std::vector<std::string> known;
    std::istringstream list(choice->second.substr(0, choice->second.rfind('}')));
    for (std::string word; std::getline(list, word, ',');) known.push_back(word);
    return option + " is '" + choice->first + "': " + did_you_mean(choice->first, known) + "there are " +
           joined(known);
  }
  const auto range = split(complaint, " not in range ");
  if (range && range->first.starts_with("Value ")) {
    return option + " is '" + range->first.substr(6) + "': it must be a number, " + range->second;
  }
  return option + ": " + complaint;
}

std::string words_of_validation(const std::string& text) {
  const auto parts = split(text, ": ");
  return parts ? refused_value(parts->first, parts->second) : text;
}

std::string words_of_conversion(const std::string& text) {
  const std::string_view begin = "Could not convert: ";
  const auto parts = split(text, " = ");
  if (!parts || !text.starts_with(begin)) return text;
  return parts->first.substr(begin.size()) + " is '" + parts->second + "', which is no such value";
}

std::string words_of_mismatch(const std::string& text, const CLI::App& command) {
  const auto parts = split(text, ": ");
  if (parts && parts->second.ends_with(" missing"))
    return parts->first + " needs a value" + kind_of_value(command, parts->first);
  return text;
}

std::string words_of_missing(const std::string& text, const CLI::App& command) {
  if (text.starts_with("A subcommand ")) return "name a command: " + joined(names_of_commands(command));
  const auto parts = split(text, " is required");
  return parts ? parts->first + " is missing" : text;
}

std::string words_of(const CLI::ParseError& error, const CLI::App& app, const CLI::App& command) {
  const std::string text = error.what();
  const auto extras = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty())
    return "'" + extras.front() + "' is one word too many";
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return words_of_validation(text);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return words_of_conversion(text);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return words_of_mismatch(text, command);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return words_of_missing(text, command);
  if (const auto needs = split(text, " requires ")) return needs->first + " needs " + needs->second;
  if (const auto excluded = split(text, " excludes "))
    return "use either " + excluded->first + " or " + excluded->second + ", not both";
  return text;
}

}  // namespace

std::string unknown_option(const std::string& option, const CLI::App& app, const std::string& command) {
  const std::string name = option.substr(0, option.find('='));
  return "unknown option '" + name + "': " + did_you_mean(name, names_of_options(app)) + "see " + command +
         " --help";
}

std::string unknown_command(const std::string& word, const CLI::App& app, const std::string& command) {
  return "there is no command '" + word + "': " + did_you_mean(word, names_of_commands(app)) + "see " +
         command + " --help";
}

std::string misuse_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto [command, name] = chosen_command(app);
  // The parser reports missing arguments first. An argument that is there and means nothing is nearer to the
  // mistake.
  const auto extras = app.remaining(true);
  if (!extras.empty()) {
    if (extras.front().starts_with("-")) return unknown_option(extras.front(), *command, name);
    if (!names_of_commands(*command).empty()) return unknown_command(extras.front(), *command, name);
  }
  std::string line = words_of(error, app, *command) + "; see " + name + " --help";
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace fairgv::control
