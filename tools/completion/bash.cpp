// The bash script: three functions that are tables, and one that walks over the words before the cursor to
// see which command they belong to. It needs nothing but bash 4.
#include "tools/completion/words.hpp"

namespace fairgv::tools {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// The shell words that complete a value.
std::string action_for(const CompletedValue& value) {
  if (!value.choices.empty()) return "words " + joined(value.choices);
  if (value.kind == "FILE" || value.kind == "PATH") return "file";
  if (value.kind == "TENANT") return "tenant";
  if (value.kind == "SESSION|TENANT") return "target";
  if (value.kind == "BENCHMARK") return "benchmark";
  if (value.kind == "SETTING") return "words weight= min= max= class= mem=";
  if (value.kind == "CLASS") return "words normal latency batch";
  return "none";
}

struct Tables {
  std::string words;        // of a command: its options and commands
  std::string values;       // of an option
  std::string positionals;  // of a command's Nth word
  std::string commands;     // "path word" that are commands
  std::string programs;     // paths that are followed by a program
};

void add(Tables& tables, const CompletedCommand& command) {
  const std::string path = joined(command.path);
  std::vector<std::string> words;
  for (const CompletedCommand& sub : command.commands) {
    words.push_back(sub.path.back());
    tables.commands += (tables.commands.empty() ? "" : "|") + ("'" + path + " " + sub.path.back() + "'");
  }
  for (const CompletedOption& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
    if (!option.takes_value) continue;
    std::string names;
    for (const std::string& name : option.names) {
      names += (names.empty() ? "'" : "|'") + path + " " + name + "'";
    }
    tables.values += "    " + names + ") echo '" + action_for(option.value) + "' ;;\n";
  }
  tables.words += "    '" + path + "') echo '" + joined(words) + "' ;;\n";
  for (std::size_t i = 0; i < command.positionals.size(); ++i) {
    tables.positionals += "    '" + path + " " + std::to_string(i) + "') echo '" +
                          action_for(command.positionals[i]) + "' ;;\n";
  }
  if (command.takes_program) tables.programs += (tables.programs.empty() ? "" : "|") + ("'" + path + "'");
  for (const CompletedCommand& sub : command.commands) add(tables, sub);
}

constexpr const char* kWalk = R"BASH(
# Completes the current word as a value of this kind.
_PROGRAM_complete() {
  local word=$1 kind=$2
  case $kind in
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    command) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
    tenant)
      mapfile -t COMPREPLY < <(compgen -W "$(PROGRAM ps --json 2>/dev/null |
        sed -n 's/^ *"tenant": "\(.*\)",\{0,1\}$/\1/p')" -- "$word") ;;
    target)
      mapfile -t COMPREPLY < <(compgen -W "$(PROGRAM ps --json 2>/dev/null |
        sed -n -e 's/^ *"tenant": "\(.*\)",\{0,1\}$/\1/p' -e 's/^ *"session": \([0-9]*\),\{0,1\}$/\1/p')" -- "$word") ;;
    benchmark)
      mapfile -t COMPREPLY < <(compgen -W "$(PROGRAM bench 2>/dev/null |
        sed -n '/^benchmarks: /{s///;s/,//g;p}')" -- "$word") ;;
    words\ *) mapfile -t COMPREPLY < <(compgen -W "${kind#words }" -- "$word") ;;
  esac
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}

_PROGRAM() {
  local word=${COMP_WORDS[COMP_CWORD]} path='' each value='' i position=0 only=''
  COMPREPLY=()
  [[ $word == = ]] && word=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    each=${COMP_WORDS[i]}
    [[ $each == = ]] && continue
    if [[ -n $value ]]; then
      value=''
    elif [[ $each == -- ]]; then
      only=1
      break
    elif [[ $each == -* ]]; then
      value=$(_PROGRAM_value "$path" "$each")
    elif _PROGRAM_is_command "$path" "$each"; then
      path=${path:+$path }$each
    else
      position=$((position + 1))
      _PROGRAM_runs_program "$path" && break
    fi
  done
  if [[ -n $value ]]; then
    _PROGRAM_complete "$word" "$value"
  elif _PROGRAM_runs_program "$path" && [[ -n $only ]]; then
    if [[ ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
      _PROGRAM_complete "$word" command
    else
      _PROGRAM_complete "$word" file
    fi
  elif _PROGRAM_runs_program "$path" && [[ $position -gt 0 ]]; then
    _PROGRAM_complete "$word" file
  else
    value=$(_PROGRAM_positional "$path" "$position")
    if [[ $word == -* || -z $value ]]; then
      _PROGRAM_complete "$word" "words $(_PROGRAM_words "$path")"
    else
      _PROGRAM_complete "$word" "$value"
    fi
  fi
}
complete -F _PROGRAM PROGRAM
)BASH";

std::string with_program(std::string text, const std::string& program) {
  for (std::size_t at = 0; (at = text.find("PROGRAM", at)) != std::string::npos; at += program.size()) {
    text.replace(at, 7, program);
  }
  return text;
}

std::string function(const std::string& name, const std::string& subject, const std::string& cases) {
  return "\n_PROGRAM_" + name + "() {\n  case " + subject + " in\n" + cases + "  esac\n}\n";
}

std::string test(const std::string& name, const std::string& subject, const std::string& patterns) {
  return function(
      name, subject,
      (patterns.empty() ? "" : "    " + patterns + ") return 0 ;;\n") + std::string("    *) return 1 ;;\n"));
}

}  // namespace

std::string bash_completion(const CompletedCommand& root, const std::string& program) {
  Tables tables;
  add(tables, root);
  return with_program("# Completion of PROGRAM in bash, made by 'PROGRAM --completion bash'.\n" +
                          function("words", "$1", tables.words) +
                          function("value", "\"$1 $2\"", tables.values) +
                          function("positional", "\"$1 $2\"", tables.positionals) +
                          test("is_command", "\"$1 $2\"", tables.commands) +
                          test("runs_program", "$1", tables.programs) + kWalk,
                      program);
}

}  // namespace fairgv::tools
