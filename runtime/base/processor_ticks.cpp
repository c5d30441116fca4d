#include "runtime/base/processor_ticks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace fairgv {
namespace {

/// Of a line "cpu0 user nice system idle iowait irq softirq steal ...".
constexpr std::size_t kColumns = 8;
constexpr std::size_t kIdle = 3, kWaiting = 4, kSteal = 7;

/// Takes the next word off a line; empty at its end.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

/// Zero for a word that is no number.
std::uint64_t number(std::string_view word) {
  std::uint64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

}  // namespace

ProcessorTicks processor_ticks(std::string_view stat, const cpu_set_t& processors) {
  ProcessorTicks sum;
  while (!stat.empty()) {
    std::string_view line = stat.substr(0, stat.find('\n'));
    stat.remove_prefix(std::min(line.size() + 1, stat.size()));
    const std::string_view name = next_word(line);
    if (!name.starts_with("cpu")) break;  // the processors come first
    if (name.size() == 3) continue;       // all of them together
    if (const std::uint64_t cpu = number(name.substr(3)); cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &processors))
      continue;
    std::array<std::uint64_t, kColumns> columns{};
    for (std::uint64_t& column : columns) column = number(next_word(line));
    sum.idle += columns[kIdle] + columns[kWaiting];
    sum.steal += columns[kSteal];
  }
  return sum;
}

ProcessorStat::ProcessorStat(const char* path) : file_(::open(path, O_RDONLY | O_CLOEXEC)) {}

ProcessorTicks ProcessorStat::read(const cpu_set_t& processors) const {
  if (!file_) return {};
  std::string text;
  std::array<char, 4096> piece{};
  ssize_t length = 0;
  while ((length = ::pread(file_.get(), piece.data(), piece.size(), static_cast<off_t>(text.size()))) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(length));
    // The lines after the processors are not wanted.
    if (text.find("\nintr") != std::string::npos) break;
  }
  return processor_ticks(text, processors);
}

std::chrono::nanoseconds ProcessorStat::tick() {
  return std::chrono::nanoseconds(std::chrono::seconds(1)) / std::max(1L, ::sysconf(_SC_CLK_TCK));
}

}  // namespace fairgv
