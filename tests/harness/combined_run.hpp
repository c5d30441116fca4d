// A program's end with all that it has said, for tests of both its output and its messages.
#pragma once

#include <string>
#include <utility>

#include "tests/harness/child.hpp"

namespace fairgv::harness {

struct CombinedRun {
  int status = -1;
  std::string output;  // of standard output and standard error
};

inline CombinedRun run_combined(CommandLine command) {
  // Memory that the OpenCL implementation beneath keeps until the end is no leak of ours.
  command.environment.emplace_back("ASAN_OPTIONS", "detect_leaks=0");
  command.arguments.insert(command.arguments.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"});
  const auto finished = run(command);
  if (!finished) return {-1, finished.error().message};
  CombinedRun ran{finished->status, ""};
  for (const std::string& line : finished->lines) ran.output += line + '\n';
  return ran;
}

}  // namespace fairgv::harness
