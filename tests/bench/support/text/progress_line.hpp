// The progress of an experiment that takes minutes: one line on standard error that is written over.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace fairgv::bench {

/// Shows nothing unless standard error is a terminal. The line is gone with the object.
class ProgressLine {
 public:
  /// steps: of about the same length, in all.
  explicit ProgressLine(std::size_t steps);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// The next step begins.
  void step(const std::string& what);
  /// A row of the table on standard output, which may be the same terminal.
  void print_row(const std::string& row) const;

 private:
  void clear() const;

  const bool terminal_;
  const std::size_t steps_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::size_t begun_ = 0;
};

}  // namespace fairgv::bench
