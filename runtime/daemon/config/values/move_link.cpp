#include "runtime/daemon/config/values/move_link.hpp"

#include <fmt/core.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace fairgv::daemon {
namespace {

constexpr std::uint64_t kMega = 1'000'000;
constexpr std::string_view kMegabytes = "MB/s ";
constexpr std::string_view kGigabytes = "GB/s ";

/// Takes the number at the beginning of the text, if there is one.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const char* const begin = text.data();
  const auto [end, error] = std::from_chars(begin, begin + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - begin));
  return true;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::chrono::nanoseconds MoveLink::time_for(std::uint64_t bytes) const {
  const std::chrono::duration<double> sending(static_cast<double>(bytes) /
                                              static_cast<double>(bytes_per_second));
  return latency + std::chrono::round<std::chrono::nanoseconds>(sending);
}

Result<MoveLink> parse_move_link(const std::string& text) {
  const Error fault{"it is '" + text +
                    "': a link has a bandwidth of 1MB/s to 1000GB/s and a latency of at most 10000ms, as "
                    "'100MB/s 1ms'"};
  std::string_view rest = text;
  std::uint64_t bandwidth = 0;
  std::uint64_t latency = 0;
  if (!take_number(rest, bandwidth)) return fault;
  std::uint64_t unit = kMega;
  if (!take(rest, kMegabytes)) {
    if (!take(rest, kGigabytes)) return fault;
    unit = 1'000 * kMega;
  }
  if (!take_number(rest, latency) || rest != "ms") return fault;
  if (bandwidth == 0 || bandwidth > MoveLink::kMostBandwidth / unit) return fault;
  if (latency > static_cast<std::uint64_t>(MoveLink::kMostLatency.count())) return fault;
  return MoveLink{bandwidth * unit, std::chrono::milliseconds(latency)};
}

std::string to_text(const MoveLink& link) {
  return fmt::format("{}MB/s {}ms", link.bytes_per_second / kMega, link.latency.count());
}

}  // namespace fairgv::daemon
