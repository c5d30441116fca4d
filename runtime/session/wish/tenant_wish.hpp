// A wish for a tenant's part of the devices: what a program asks for (FAIRGV_WEIGHT, FAIRGV_MIN, FAIRGV_MAX,
// FAIRGV_CLASS), or `fairgv set` changes. And the texts in which people, the protocols and the hand-over
// write its parts:
//
//   weight    3                 an integer from 1 to 10000
//   min       20%               of each device, guaranteed while the tenant has work
//             5ms/50ms          the same as device time in a period, the period from 1 ms to 1 s
//             none              no guarantee
//   max       50%               the most of each device in any second; 100%: no ceiling
//   class     normal            latency: answers soon; latency:5ms: the wanted time from waking to its turn;
//                               batch: what the others leave
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/json_fields.hpp"
#include "runtime/base/result.hpp"
#include "sched/attributes.hpp"

namespace fairgv::session {

inline constexpr std::uint32_t kMinWeight = 1;
inline constexpr std::uint32_t kMaxWeight = 10'000;

struct ServiceWish {
  sched::ServiceClass service = sched::ServiceClass::normal;
  sched::Duration response{0};  // of latency; 0: as soon as may be

  friend bool operator==(const ServiceWish&, const ServiceWish&) = default;
};

/// Parts that are not there: the configuration decides.
struct TenantWish {
  std::optional<std::uint32_t> weight{};
  std::optional<sched::Reservation> min{};
  std::optional<sched::Share> max{};
  std::optional<ServiceWish> service{};

  bool empty() const { return !weight && !min && !max && !service; }
  /// Takes the parts that are there.
  void update(const TenantWish& newer);

  friend bool operator==(const TenantWish&, const TenantWish&) = default;
};

/// Each takes a text as above. `source` names where it came from, for the error's text.
Result<std::uint32_t> parse_weight(const std::string& text, const std::string& source);
Result<sched::Reservation> parse_min(const std::string& text, const std::string& source);
Result<sched::Share> parse_max(const std::string& text, const std::string& source);
Result<ServiceWish> parse_service(const std::string& text, const std::string& source);

/// The shortest text that is read as the same.
std::string to_text(const sched::Reservation& min);
std::string to_text(sched::Share share);
std::string to_text(const ServiceWish& service);
/// "normal", "latency" or "batch".
std::string to_text(sched::ServiceClass service);

/// Sets the fields weight, min, max and class of the parts that are there; reads them again.
void add_to(nlohmann::json& object, const TenantWish& wish);
TenantWish read_tenant_wish(JsonFields& fields);

}  // namespace fairgv::session
