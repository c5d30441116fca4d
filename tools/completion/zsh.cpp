// The zsh script: a function per command, which hands its words to _arguments.
#include "tools/completion/words.hpp"

namespace fairgv::tools {
namespace {

std::string function_name(const CompletedCommand& command, const std::string& program) {
  std::string name = "_" + program;
  for (const std::string& word : command.path) name += "_" + word;
  return name;
}

/// Text within single quotes, where brackets and colons separate.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

/// "MESSAGE:ACTION" of _arguments.
std::string action_for(const CompletedValue& value, const std::string& program) {
  std::string action;
  if (!value.choices.empty()) {
    for (const std::string& choice : value.choices) action += (action.empty() ? "(" : " ") + choice;
    action += ")";
  } else if (value.kind == "FILE" || value.kind == "PATH") {
    action = "_files";
  } else if (value.kind == "TENANT") {
    action = "_" + program + "_tenants";
  } else if (value.kind == "SESSION|TENANT") {
    action = "_" + program + "_targets";
  } else if (value.kind == "BENCHMARK") {
    action = "_" + program + "_benchmarks";
  } else if (value.kind == "SETTING") {
    action = "(weight= min= max= class= mem=)";
  } else if (value.kind == "CLASS") {
    action = "(normal latency batch)";
  }
  return escaped(value.kind) + ":" + action;
}

std::string spec_of(const CompletedOption& option, const std::string& program) {
  std::string spec;
  for (const std::string& name : option.names) {
    spec += std::string(" '") + (option.repeatable ? "*" : "") + name + (option.takes_value ? "=" : "") +
            "[" + escaped(option.help) + "]" +
            (option.takes_value ? ":" + action_for(option.value, program) : "") + "'";
  }
  return spec;
}

void add(std::string& script, const CompletedCommand& command, const std::string& program) {
  for (const CompletedCommand& sub : command.commands) add(script, sub, program);
  const std::string name = function_name(command, program);
  script += "\n" + name + "() {\n";
  std::string specs;
  for (const CompletedOption& option : command.options) specs += " \\\n   " + spec_of(option, program);
  if (command.commands.empty()) {
    script += "  _arguments -S" + specs;
    for (const CompletedValue& value : command.positionals) {
      script += " \\\n    ':" + action_for(value, program) + "'";
    }
    if (command.takes_program) script += " \\\n    '*::program:_normal'";
    script += "\n}\n";
    return;
  }
  script +=
      "  local context state line\n  _arguments -C" + specs +
      " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n  case $state in\n    command)\n"
      "      local -a commands=(\n";
  for (const CompletedCommand& sub : command.commands) {
    script += "        '" + sub.path.back() + ":" + escaped(sub.help) + "'\n";
  }
  script += "      )\n      _describe command commands ;;\n    argument)\n      case $words[1] in\n";
  for (const CompletedCommand& sub : command.commands) {
    script += "        " + sub.path.back() + ") " + function_name(sub, program) + " ;;\n";
  }
  script += "      esac ;;\n  esac\n}\n";
}

}  // namespace

std::string zsh_completion(const CompletedCommand& root, const std::string& program) {
  std::string script = "#compdef " + program + "\n# Completion of " + program + " in zsh, made by '" +
                       program + " --completion zsh'.\n";
  script += "\n_" + program + "_tenants() {\n  local -a tenants=(${(f)\"$(" + program +
            " ps --json 2>/dev/null | sed -n 's/^ *\"tenant\": \"\\(.*\\)\",\\{0,1\\}$/\\1/p')\"})\n"
            "  compadd -a tenants\n}\n";
  script += "\n_" + program + "_targets() {\n  local -a targets=(${(f)\"$(" + program +
            " ps --json 2>/dev/null | sed -n -e 's/^ *\"tenant\": \"\\(.*\\)\",\\{0,1\\}$/\\1/p'"
            " -e 's/^ *\"session\": \\([0-9]*\\),\\{0,1\\}$/\\1/p')\"})\n  compadd -a targets\n}\n";
  script += "\n_" + program + "_benchmarks() {\n  local -a benchmarks=(${(s:, :)\"$(" + program +
            " bench 2>/dev/null | sed -n 's/^benchmarks: //p')\"})\n  compadd -a benchmarks\n}\n";
  add(script, root, program);
  return script + "\ncompdef _" + program + " " + program + " 2>/dev/null\n" + "[[ ${funcstack[1]-} == _" +
         program + " ]] && _" + program + " \"$@\"\n";
}

}  // namespace fairgv::tools
