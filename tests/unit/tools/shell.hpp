// Runs a command line of ours in a shell that finds our programs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/harness/tenancy.hpp"

namespace fairgv::tools {

struct Shown {
  int status = 0;
  std::string text;                // the output, of both kinds
  std::vector<std::string> lines;  // the output by line
};

inline Shown in_shell(const std::string& command, const std::string& shell = "/bin/sh") {
  const std::string folder = std::filesystem::path(harness::beside("fairgv")).parent_path();
  const auto finished = harness::run({{shell, "-c", "PATH=" + folder + ":$PATH; { " + command + "\n} 2>&1"},
                                      {{"FAIRGV_SOCKET", "/nonexistent/fairgvd.sock"},
                                       {"FAIRGV_TENANT", std::nullopt},
                                       {"HOME", "/nonexistent"},
                                       {"XDG_CONFIG_HOME", std::nullopt}}});
  Shown shown;
  EXPECT_TRUE(finished) << command;
  if (!finished) return shown;
  shown.status = finished->status;
  shown.lines = finished->lines;
  for (const std::string& line : finished->lines) shown.text += line + '\n';
  return shown;
}

}  // namespace fairgv::tools
