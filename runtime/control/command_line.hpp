// Messages about a wrong command line, in our words instead of the parser's, and with a guess at a misspelt
// word. A library of its own (fairgv_command_line): only programs need it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fairgv::control {

/// One line, as the text after the program's name: what is wrong, a guess, and the command whose --help says
/// more. `error`: thrown by parsing `app`, and not a wish for help.
std::string misuse_of(const CLI::App& app, const CLI::ParseError& error);

/// "unknown option '--wieght': did you mean '--weight'? see fairgv run --help". `command` is the command's
/// whole name, "fairgv run".
std::string unknown_option(const std::string& option, const CLI::App& app, const std::string& command);

/// "there is no command 'pss': did you mean 'ps'? see fairgv --help".
std::string unknown_command(const std::string& word, const CLI::App& app, const std::string& command);

}  // namespace fairgv::control
