#include "runtime/daemon/worker/process_stat.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "runtime/base/handle.hpp"

namespace fairgv::daemon {

std::optional<ProcessStat> process_stat(const std::string& pid) {
  const UniqueFd file(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t length = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (length <= 0) return std::nullopt;
  return parse_process_stat({text.data(), static_cast<std::size_t>(length)});
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // proc_pid_stat(5): number, (name), state, parent, group, session, 13 others, threads
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || text.size() < name_end + 4) return std::nullopt;
  const char state = text[name_end + 2];
  const char* at = text.data() + name_end + 3;
  const char* const end = text.data() + text.size();
  std::array<std::int64_t, 17> numbers{};
  for (std::int64_t& number : numbers) {
    if (at == end || *at != ' ') return std::nullopt;
    const auto [rest, error] = std::from_chars(at + 1, end, number);
    if (error != std::errc()) return std::nullopt;
    at = rest;
  }
  const bool ended = state == 'Z' || state == 'X';
  return ProcessStat{.runs = !ended || numbers[16] > 1,
                     .parent = static_cast<pid_t>(numbers[0]),
                     .session = static_cast<pid_t>(numbers[2]),
                     .waited_ticks = numbers[12] + numbers[13]};
}

}  // namespace fairgv::daemon
