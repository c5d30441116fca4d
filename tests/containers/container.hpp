// What a program in a rootless container sees, made with bubblewrap: mount, PID, user, network, IPC and UTS
// namespaces of its own; of the machine's files the libraries that the program links, FairGV's front end with
// its vendor file, and the folder of the daemon's socket. No driver, no device file, no environment.
#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/child.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::containers {

/// The user that a rootless container is run by: somebody else than root, if we may become that.
inline constexpr const char* kUser = "12345";

struct Container {
  std::string socket_folder;
  std::vector<std::string> program;
  harness::Environment variables;
  std::string user_inside = "0";
  std::vector<std::pair<std::string, std::string>> files{};  // further ones: where outside, where inside

  /// Files that `binary` loads, by `ldd`.
  static std::vector<std::string> libraries_of(const std::string& binary) {
    std::vector<std::string> files;
    const auto listed = harness::run({{"ldd", binary}, {}});
    if (!listed) return files;
    for (const std::string& line : listed->lines) {
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        if (word.starts_with('/')) files.push_back(word);
      }
    }
    return files;
  }

  harness::CommandLine command(bool become_user) const {
    harness::CommandLine line;
    const auto add = [&](std::initializer_list<std::string> words) {
      line.arguments.insert(line.arguments.end(), words);
    };
    if (become_user) add({"setpriv", "--reuid", kUser, "--regid", kUser, "--clear-groups"});
    add({"bwrap", "--unshare-all", "--uid", user_inside, "--gid", user_inside, "--die-with-parent",
         "--clearenv", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--hostname", "box"});
    const auto show = [&](const std::string& file) { add({"--ro-bind", file, file}); };
    show(program.at(0));
    show(FAIRGV_ICD);
    for (const std::string& binary : {program.at(0), std::string(FAIRGV_ICD)}) {
      for (const std::string& file : libraries_of(binary)) show(file);
    }
    add({"--ro-bind", FAIRGV_VENDORS, "/etc/OpenCL/vendors", "--ro-bind", socket_folder, "/run/fairgv"});
    for (const auto& [outside, inside] : files) add({"--ro-bind", outside, inside});
    for (const auto& [name, value] : variables) add({"--setenv", name, value.value_or("")});
    line.arguments.insert(line.arguments.end(), program.begin(), program.end());
    return line;
  }
};

}  // namespace fairgv::containers
