// Child processes of tests and benchmarks: started with changes to the environment, their standard output
// read line by line.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::harness {

/// Changes to the environment; no value: unset.
using Environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct CommandLine {
  std::vector<std::string> arguments;  // the program first
  Environment environment;
};

/// A running child. Killed and reaped by the destructor, if it has not ended by then.
class Child {
 public:
  static Result<Child> start(const CommandLine& command);
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) = delete;

  pid_t pid() const { return pid_; }
  /// Readable when there is output, or its end.
  int output() const { return output_.get(); }
  /// Complete lines that have arrived; does not block. `ended()` tells when there will be no more.
  std::vector<std::string> read_lines();
  bool ended() const { return ended_; }
  /// Waits for the end and returns the exit status (128 + signal when killed).
  int wait();

 private:
  Child(pid_t pid, UniqueFd output) : pid_(pid), output_(std::move(output)) {}
  pid_t pid_;
  UniqueFd output_;
  std::string partial_;
  bool ended_ = false;
};

struct Finished {
  int status = 0;
  std::vector<std::string> lines;
};

/// Reads a running child to its end.
Finished finish(Child child);

/// Runs a child to its end.
Result<Finished> run(const CommandLine& command);

}  // namespace fairgv::harness
