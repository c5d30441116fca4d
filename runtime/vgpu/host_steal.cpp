#include "runtime/vgpu/host_steal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>

namespace fairgv::vgpu {
namespace {

/// In a line "cpu0 user nice system idle iowait irq softirq steal ...".
constexpr int kStealColumn = 8;

/// Takes the next word off a line; empty at its end.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

/// Zero for what is no number.
std::uint64_t number(std::string_view word) {
  std::uint64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

}  // namespace

HostSteal::HostSteal(const cpu_set_t& processors, const char* stat)
    : processors_(processors),
      stat_(::open(stat, O_RDONLY | O_CLOEXEC)),
      tick_(std::chrono::nanoseconds(std::chrono::seconds(1)) / std::max(1L, ::sysconf(_SC_CLK_TCK))),
      seen_(read()) {}

Duration HostSteal::explain(Duration stall) {
  const std::uint64_t now = read();
  unexplained_ += tick_ * static_cast<std::int64_t>(now - std::min(seen_, now));
  seen_ = now;
  if (seen_ == 0) return Duration::zero();  // since the system was started: no host, or no file
  const Duration explained = std::min(stall, std::max(unexplained_ + tick_, Duration::zero()));
  unexplained_ -= explained;
  return explained;
}

std::uint64_t HostSteal::ticks(std::string_view stat, const cpu_set_t& processors) {
  std::uint64_t sum = 0;
  while (!stat.empty()) {
    std::string_view line = stat.substr(0, stat.find('\n'));
    stat.remove_prefix(std::min(line.size() + 1, stat.size()));
    const std::string_view name = next_word(line);
    if (!name.starts_with("cpu")) break;  // the processors come first
    if (name.size() == 3) continue;       // all of them together
    if (const std::uint64_t cpu = number(name.substr(3)); cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &processors))
      continue;
    std::string_view column;
    for (int i = 0; i < kStealColumn; ++i) column = next_word(line);
    sum += number(column);
  }
  return sum;
}

std::uint64_t HostSteal::read() {
  if (!stat_) return 0;
  std::string text;
  std::array<char, 4096> piece{};
  ssize_t length = 0;
  while ((length = ::pread(stat_.get(), piece.data(), piece.size(), static_cast<off_t>(text.size()))) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(length));
    // Of what follows the processors nothing is wanted.
    if (text.find("\nintr") != std::string::npos) break;
  }
  return ticks(text, processors_);
}

}  // namespace fairgv::vgpu
