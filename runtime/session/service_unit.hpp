// Units of service: the things of a tenant's work that are counted for its service level, units per second
// (gOver, sections 3.2 and 5: frames, or another count of processed units). Texts, as people write them:
//
//   kernel:NAME    ended launches of the kernel of this name; of C++, as session/trace.hpp shows it
//   calls          calls of the program that wait for the device, as clFinish and blocking reads do
//   marks          marks that the program has set (icd/extensions/fairgv/mark.h) and that have ended
//   marks:LABEL    the same, of this label alone
//   none           nothing
//
// The worker counts kernels and marks when they end, the program's front end counts calls when they return;
// both only if the daemon says so. What they count is a claim: it moves its own tenant's cap, and nothing
// else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace fairgv::session {

inline constexpr std::size_t kLongestUnitName = 256;

struct ServiceUnit {
  enum class Kind : std::uint8_t { none = 0, kernel = 1, calls = 2, marks = 3 };
  Kind kind = Kind::none;
  std::string name{};  // of the kernel; of the marks, empty: all of them

  friend bool operator==(const ServiceUnit&, const ServiceUnit&) = default;
};

/// `source` names where the text came from, for the error's text.
Result<ServiceUnit> parse_service_unit(const std::string& text, const std::string& source);
std::string to_text(const ServiceUnit& unit);

/// The number that stands for the unit in shared memory; 0: none. Names of one kind have different numbers,
/// but for one chance in 2^61.
constexpr std::uint64_t number_of(ServiceUnit::Kind kind, std::string_view name) {
  std::uint64_t hash = 0;
  if (!name.empty()) {
    hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash |= std::uint64_t{1} << 61;  // no name has the number of no name
  }
  return hash << 2 | static_cast<std::uint64_t>(kind);
}
inline std::uint64_t number_of(const ServiceUnit& unit) {
  return number_of(unit.kind, unit.name);
}
constexpr ServiceUnit::Kind kind_of(std::uint64_t number) {
  return static_cast<ServiceUnit::Kind>(number & 3U);
}

}  // namespace fairgv::session
