#include "runtime/daemon/worker/output_lines.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/json_fields.hpp"

namespace fairgv::daemon {
namespace {

/// "<6>" and the like; 0: there is none.
std::size_t priority_length(std::string_view text) {
  constexpr std::size_t kMostDigits = 3;
  if (text.empty() || text.front() != '<') return 0;
  const std::size_t end = text.find_first_not_of("0123456789", 1);
  return end == std::string_view::npos || text[end] != '>' || end < 2 || end > 1 + kMostDigits ? 0 : end + 1;
}

}  // namespace

std::vector<std::string> OutputLines::take(std::string_view piece, Time now) {
  std::vector<std::string> lines;
  bool spent = false;
  while (!piece.empty()) {
    if (std::exchange(spent, false)) skip_to_last(piece);
    const std::size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    line_.append(part.substr(0, kLongestLine + 1 - line_.size()));
    if (end == std::string_view::npos) break;
    const std::uint64_t before = left_out_;
    end_line(now, lines);
    spent = left_out_ > before;
    piece.remove_prefix(end + 1);
  }
  return lines;
}

/// Nothing of a piece can be logged once the budget is spent: of a flood, most is only counted.
void OutputLines::skip_to_last(std::string_view& piece) {
  std::size_t begin = piece.size();
  for (std::size_t line = 0; line <= kLastWords && begin > 0; ++line) {
    const std::size_t newline = piece.rfind('\n', begin - 1);
    if (newline == std::string_view::npos) return;
    begin = newline;
  }
  const std::string_view skipped = piece.substr(0, begin + 1);
  left_out_ += static_cast<std::uint64_t>(std::count(skipped.begin(), skipped.end(), '\n'));
  piece.remove_prefix(skipped.size());
}

std::vector<std::string> OutputLines::take_rest(Time now) {
  std::vector<std::string> lines;
  end_line(now, lines);
  return lines;
}

std::vector<std::string> OutputLines::finish(Time now) {
  std::vector<std::string> lines = take_rest(now);
  left_out_ -= last_.size();
  if (left_out_ > 0) tell_left_out(lines);
  for (const std::string& line : last_) lines.push_back(plain_line(line));
  last_.clear();
  return lines;
}

void OutputLines::end_line(Time now, std::vector<std::string>& lines) {
  const std::string line = std::exchange(line_, {});
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  if (!budget_.take_one(rate_, now)) {
    ++left_out_;
    last_.push_back(line);
    if (last_.size() > kLastWords) last_.pop_front();
    return;
  }
  if (left_out_ > 0) tell_left_out(lines);
  last_.clear();
  lines.push_back(plain_line(line));
}

void OutputLines::tell_left_out(std::vector<std::string>& lines) {
  lines.push_back("(" + std::to_string(std::exchange(left_out_, 0)) + " lines left out)");
}

std::string plain_line(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  while (const std::size_t length = priority_length(line)) line.remove_prefix(length);
  const bool cut = line.size() > OutputLines::kLongestLine;
  std::string plain = printable(line, OutputLines::kLongestLine);
  if (cut) plain += OutputLines::kCut;
  return plain;
}

}  // namespace fairgv::daemon
