// A worker's output, as lines for the daemon's log, or for its program. Whatever the worker writes (it may be
// hostile), a line is printable, of bounded length, and one line, and no more lines come out than the budget
// allows. Pure: time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/daemon/limits/token_bucket.hpp"

namespace fairgv::daemon {

class OutputLines {
 public:
  using Time = TokenBucket::Time;

  explicit OutputLines(const TokenBucket::Rate& budget = kBudget) : rate_(budget) {}

  /// The bytes of a line beyond which it is cut, and the text in the place of the rest.
  static constexpr std::size_t kLongestLine = 1'000;
  static constexpr std::string_view kCut = " [cut]";
  static constexpr TokenBucket::Rate kBudget{30, 2};
  /// Of lines that were left out, the last so many come out at the end: why a driver gave up is among them.
  static constexpr std::size_t kLastWords = 5;

  /// The lines that are complete with this piece of the output, and that may be logged.
  std::vector<std::string> take(std::string_view piece, Time now);
  /// The line that is not complete, if any, as if it were.
  std::vector<std::string> take_rest(Time now);
  /// The same at the end of the output, with the last words.
  std::vector<std::string> finish(Time now);

 private:
  void skip_to_last(std::string_view& piece);
  void end_line(Time now, std::vector<std::string>& lines);
  void tell_left_out(std::vector<std::string>& lines);

  TokenBucket::Rate rate_;
  TokenBucket budget_{rate_, {}};
  std::string line_;  // so far; at most a byte more than the longest
  std::uint64_t left_out_ = 0;
  std::deque<std::string> last_;  // the last of those, raw
};

/// A line of somebody's output without anything that a terminal, a log or its reader would obey: control
/// characters, text that is not UTF-8, and at the beginning "<N>", by which a message tells its priority.
std::string plain_line(std::string_view line);

}  // namespace fairgv::daemon
