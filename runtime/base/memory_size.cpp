#include "runtime/base/memory_size.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "runtime/base/json_fields.hpp"

namespace fairgv {
namespace {

constexpr std::array<std::string_view, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};

/// Bytes of a unit, or none if there is no such unit.
std::optional<std::uint64_t> bytes_of_unit(std::string_view unit) {
  if (unit.empty()) return 1;
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (unit == kUnits.at(i) || unit == kUnits.at(i).substr(0, 1)) return std::uint64_t{1} << (10 * (i + 1));
  }
  return std::nullopt;
}

std::optional<MemorySize> read(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc{}) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (unit == "%") {
    if (number > 100) return std::nullopt;
    return MemorySize{0, static_cast<std::uint32_t>(number)};
  }
  const auto factor = bytes_of_unit(unit);
  std::uint64_t bytes = 0;
  if (!factor || __builtin_mul_overflow(number, *factor, &bytes)) return std::nullopt;
  return MemorySize{bytes};
}

}  // namespace

std::uint64_t MemorySize::of(std::uint64_t device_bytes) const {
  if (!percent) return bytes;
  // In two steps: the product may be beyond 64 bits.
  return device_bytes / 100 * *percent + device_bytes % 100 * *percent / 100;
}

Result<MemorySize> parse_memory_size(const std::string& text, const std::string& source) {
  if (const auto size = read(text)) return *size;
  return Error{
      source + " is '" + printable(text, kLongestMemorySize) +
      "': an amount of memory is a whole number of bytes, or one with KiB, MiB, GiB or TiB behind it, "
      "or 0% to 100% of a device"};
}

Result<MemorySize> parse_memory_limit(const std::string& text, const std::string& source) {
  auto size = parse_memory_size(text, source);
  if (size && size->bytes == 0 && size->percent.value_or(0) == 0) {
    return Error{
        source + " is '" + printable(text, kLongestMemorySize) +
        "', and without memory a program gets no buffer: name more, such as 64MiB or 10%, or leave it "
        "out for all that the tenant may have"};
  }
  return size;
}

std::string to_text(const MemorySize& size) {
  if (size.percent) return std::to_string(*size.percent) + "%";
  for (std::size_t i = kUnits.size(); i-- > 0 && size.bytes != 0;) {
    const std::uint64_t unit = std::uint64_t{1} << (10 * (i + 1));
    if (size.bytes % unit == 0) return std::to_string(size.bytes / unit) + std::string(kUnits.at(i));
  }
  return std::to_string(size.bytes);
}

std::string readable_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  std::size_t unit = 0;
  double amount = static_cast<double>(bytes) / 1024;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", amount, kUnits.at(unit).data());
  return text.data();
}

}  // namespace fairgv
