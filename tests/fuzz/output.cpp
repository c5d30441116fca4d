// The worker's output: any bytes, in any pieces, at any times, become plain lines of bounded length, and no
// more lines than the budget.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "runtime/daemon/worker/output_lines.hpp"
#include "tests/fuzz/records.hpp"

namespace fairgv::fuzz {
namespace {

using daemon::OutputLines;

void expect_plain(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    expect(line.size() <= OutputLines::kLongestLine + OutputLines::kCut.size(), "a line is not too long");
    const std::string text = line.substr(0, OutputLines::kLongestLine);
    expect(daemon::plain_line(text) == text, "a line is plain");
    expect(std::all_of(line.begin(), line.end(),
                       [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; }),
           "a line is one line");
  }
}

/// Two bytes give a piece's length and time; the piece follows.
void run_output(Input input) {
  OutputLines output;
  OutputLines::Time now{};
  std::size_t lines = 0;
  while (input.size() > 2) {
    const std::size_t length = std::min<std::size_t>(input[0], input.size() - 2);
    now += std::chrono::milliseconds(input[1]);
    const std::string piece(input.begin() + 2, input.begin() + 2 + static_cast<std::ptrdiff_t>(length));
    const auto some = output.take(piece, now);
    expect_plain(some);
    lines += some.size();
    input = input.subspan(2 + length);
  }
  const auto rest = output.finish(now);
  expect_plain(rest);
  lines += rest.size();
  const auto seconds =
      static_cast<std::size_t>(std::chrono::ceil<std::chrono::seconds>(now.time_since_epoch()).count());
  // Each line may come with a second line that tells how many lines were left out.
  expect(lines <= 2 * (static_cast<std::uint64_t>(OutputLines::kBudget.burst) +
                       seconds * static_cast<std::uint64_t>(OutputLines::kBudget.per_second) +
                       OutputLines::kLastWords + 1),
         "no more lines come than the budget allows");
}

std::vector<Bytes> output_seeds() {
  const auto seed = [](std::string_view text, std::uint8_t milliseconds) {
    Bytes bytes;
    for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(text.size(), 200))) {
      const std::string_view piece = text.substr(0, 200);
      bytes.push_back(static_cast<std::uint8_t>(piece.size()));
      bytes.push_back(milliseconds);
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    return bytes;
  };
  std::string flood;
  for (int i = 0; i < 200; ++i) flood += "flood\n";
  return {seed("warning: the device is slow\nerror: out of memory\n", 1),
          seed("<0>\x1b[2J\x1b]0;title\x07 \xc2\x9b \xe2\x80\xae \xff\r\n", 1), seed(flood, 0),
          seed(flood, 255), seed(std::string(3'000, 'x') + "\n", 0)};
}

}  // namespace

const Target kOutput{"output", &run_output, &output_seeds, &mutate_bytes};

}  // namespace fairgv::fuzz
