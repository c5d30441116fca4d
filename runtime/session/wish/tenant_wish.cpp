#include "runtime/session/wish/tenant_wish.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "runtime/base/near_word.hpp"

namespace fairgv::session {
namespace {

using sched::Duration;
using sched::Reservation;
using sched::ServiceClass;
using sched::Share;

constexpr std::size_t kLongestWish = 64;

/// The period of a guarantee that is given as a share: long enough for turns of useful length, short enough
/// for a second to hold many.
constexpr Duration kUsualPeriod = std::chrono::milliseconds(50);
constexpr Duration kShortestBudget = std::chrono::milliseconds(2);
constexpr Duration kShortestPeriod = std::chrono::milliseconds(1);
constexpr Duration kLongestPeriod = std::chrono::seconds(1);
constexpr Duration kLongestResponse = std::chrono::seconds(1);
constexpr double kLeastPercent = 0.1;
constexpr Share kLeastShare{1'000};

constexpr std::array<std::pair<ServiceClass, const char*>, 3> kServices{{
    {ServiceClass::normal, "normal"},
    {ServiceClass::latency, "latency"},
    {ServiceClass::batch, "batch"},
}};

constexpr std::array<std::pair<const char*, std::int64_t>, 4> kUnits{
    {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};

/// The number that the text begins with; the rest stays in `text`.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<Duration> parse_time(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  for (const auto& [unit, ns] : kUnits) {
    if (text == unit && *number * static_cast<double>(ns) < 1e18) {
      return Duration(std::llround(*number * static_cast<double>(ns)));
    }
  }
  return std::nullopt;
}

std::optional<Share> parse_percent(std::string_view text) {
  const auto number = take_number(text);
  if (!number || text != "%" || *number < kLeastPercent || *number > 100) return std::nullopt;
  return Share{static_cast<std::uint32_t>(std::llround(*number * 1e4))};
}

std::string time_text(Duration time) {
  for (const auto& [unit, ns] : kUnits) {
    if (time.count() % ns == 0) return std::to_string(time.count() / ns) + unit;
  }
  return "0ns";
}

Reservation of_share(Share share) {
  const auto least =
      static_cast<Duration::rep>(std::ceil(static_cast<double>(kShortestBudget.count()) / share.fraction()));
  // A period in whole milliseconds makes the budget exact.
  const Duration wanted = std::max(kUsualPeriod, Duration(least));
  const Duration period =
      std::min<Duration>(std::chrono::ceil<std::chrono::milliseconds>(wanted), kLongestPeriod);
  return {share.of(period), period};
}

}  // namespace

void TenantWish::update(const TenantWish& newer) {
  if (newer.weight) weight = newer.weight;
  if (newer.min) min = newer.min;
  if (newer.max) max = newer.max;
  if (newer.service) service = newer.service;
}

Result<std::uint32_t> parse_weight(const std::string& text, const std::string& source) {
  std::uint32_t weight = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, weight);
  if (code != std::errc{} || stop != end || weight < kMinWeight || weight > kMaxWeight) {
    return Error{source + " is '" + printable(text, kLongestWish) + "': a weight is an integer from " +
                 std::to_string(kMinWeight) + " to " + std::to_string(kMaxWeight)};
  }
  return weight;
}

Result<Reservation> parse_min(const std::string& text, const std::string& source) {
  if (text == "none") return Reservation{};
  if (const auto share = parse_percent(text)) return of_share(*share);
  const auto slash = text.find('/');
  if (slash != std::string::npos) {
    const auto budget = parse_time(std::string_view(text).substr(0, slash));
    const auto period = parse_time(std::string_view(text).substr(slash + 1));
    if (budget && period && *period >= kShortestPeriod && *period <= kLongestPeriod && *budget <= *period &&
        *budget > Duration(0)) {
      return Reservation{*budget, *period};
    }
  }
  return Error{source + " is '" + printable(text, kLongestWish) +
               "': a guarantee is a part of the device, as 20%, or device time in a period of 1ms to 1s, as "
               "5ms/50ms, or none"};
}

Result<Share> parse_max(const std::string& text, const std::string& source) {
  if (const auto share = parse_percent(text)) return *share;
  return Error{source + " is '" + printable(text, kLongestWish) +
               "': a ceiling is a part of the device from 0.1% to 100%, as 50%"};
}

Result<ServiceWish> parse_service(const std::string& text, const std::string& source) {
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (const auto& [service, known] : kServices) {
    if (name != known) continue;
    if (colon == std::string::npos) return ServiceWish{service, Duration(0)};
    const auto response = parse_time(std::string_view(text).substr(colon + 1));
    if (service != ServiceClass::latency || !response || *response <= Duration(0) ||
        *response > kLongestResponse) {
      break;
    }
    return ServiceWish{service, *response};
  }
  return Error{
      source + " is '" + printable(text, kLongestWish) +
      "': " + did_you_mean(name, {"normal", "latency", "batch"}) +
      "a class is normal, latency, latency with the wanted time to its turn, as latency:5ms, or batch"};
}

std::string to_text(const Reservation& min) {
  if (min.empty()) return "none";
  const Share share{static_cast<std::uint32_t>(std::llround(
      static_cast<double>(min.budget.count()) / static_cast<double>(min.period.count()) * Share::kWholePpm))};
  if (share >= kLeastShare && of_share(share) == min) return to_text(share);
  return time_text(min.budget) + "/" + time_text(min.period);
}

std::string to_text(Share share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g%%", share.fraction() * 100);
  return text.data();
}

std::string to_text(const ServiceWish& service) {
  const std::string name = to_text(service.service);
  return service.response > Duration(0) ? name + ":" + time_text(service.response) : name;
}

std::string to_text(ServiceClass service) {
  for (const auto& [known, name] : kServices) {
    if (known == service) return name;
  }
  return "normal";
}

void add_to(nlohmann::json& object, const TenantWish& wish) {
  if (wish.weight) object["weight"] = *wish.weight;
  if (wish.min) object["min"] = to_text(*wish.min);
  if (wish.max) object["max"] = to_text(*wish.max);
  if (wish.service) object["service"] = to_text(*wish.service);
}

TenantWish read_tenant_wish(JsonFields& fields) {
  TenantWish wish;
  const auto read = [&fields]<class T>(const char* key, const char* source, std::optional<T>& to,
                                       Result<T> (*parse)(const std::string&, const std::string&)) {
    if (!fields.has(key)) return;
    const auto value = parse(fields.string(key, kLongestWish), source);
    if (value) {
      to = value.value();
    } else {
      fields.fail("is refused: " + value.error().message);
    }
  };
  if (fields.has("weight")) wish.weight = fields.integer32("weight", kMinWeight, kMaxWeight);
  read("min", "the guarantee", wish.min, parse_min);
  read("max", "the ceiling", wish.max, parse_max);
  read("service", "the class", wish.service, parse_service);
  return wish;
}

}  // namespace fairgv::session
