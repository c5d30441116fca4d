#include "tests/bench/support/text/progress_line.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace fairgv::bench {
namespace {

constexpr const char* kToStartAndErase = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(std::size_t steps) : terminal_(::isatty(STDERR_FILENO) != 0), steps_(steps) {}

void ProgressLine::step(const std::string& what) {
  const std::size_t done = begun_++;
  if (!terminal_) return;
  std::string left;
  if (done > 0) {
    const std::chrono::duration<double, std::ratio<60>> elapsed = std::chrono::steady_clock::now() - start_;
    const double each = elapsed.count() / static_cast<double>(done);
    left = fmt::format(", {:.0f} min left", std::ceil(each * static_cast<double>(steps_ - done)));
  }
  fmt::print(stderr, "{}[{} of {}{}] {}", kToStartAndErase, begun_, steps_, left, what);
  std::fflush(stderr);
}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::print_row(const std::string& row) const {
  clear();
  fmt::print("{}\n", row);
  std::fflush(stdout);
}

void ProgressLine::clear() const {
  if (terminal_) std::fputs(kToStartAndErase, stderr);
}

}  // namespace fairgv::bench
