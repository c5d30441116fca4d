#include "tools/fairgv/sim/sim_tenant.hpp"

#include "runtime/base/near_word.hpp"
#include "runtime/session/wish/tenant_wish.hpp"
#include "sched/policies/timegraph/spec.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

namespace fairgv::tools {
namespace {

using sched::TenantSpec;

constexpr std::uint32_t kMost = 1'000'000;  // of what is counted
constexpr double kMostSleep = 0.999;
constexpr double kLongestNs = 3.6e12;

/// The number that the text begins with, and where it ends.
std::optional<double> leading_number(const std::string& text, const char*& rest) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  rest = end;
  return number;
}

std::optional<double> whole_number(const std::string& text) {
  const char* rest = nullptr;
  const auto number = leading_number(text, rest);
  if (!number || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<void> set_count(std::uint32_t& to, const std::string& key, const std::string& text,
                       std::uint32_t most) {
  const auto number = whole_number(text);
  if (!number || *number < 1 || *number > most || *number != std::floor(*number)) {
    return Error{key + " must be an integer from 1 to " + std::to_string(most) + ", not '" + text + "'"};
  }
  to = static_cast<std::uint32_t>(*number);
  return {};
}

Result<void> set_fraction(double& to, const std::string& key, const std::string& text, double most) {
  const auto number = whole_number(text);
  if (!number || *number < 0 || *number > most) {
    std::ostringstream message;
    message << key << " must be a number from 0 to " << most << ", not '" << text << "'";
    return Error{message.str()};
  }
  to = *number;
  return {};
}

template <class T>
Result<void> set_part(T& to, Result<T> value) {
  if (!value) return value.error();
  to = value.value();
  return {};
}

Result<void> set_time(sched::Duration& to, const std::string& key, const std::string& text) {
  const auto time = parse_duration(text);
  if (!time) return Error{key + " must be a time such as 200us, not '" + text + "'"};
  to = time.value();
  return {};
}

/// A line of TimeGraph's specification file without its name.
Result<void> set_task(sched::TimeGraphTask& task, const std::string& text) {
  const std::string place = "spec:1: ";
  const sched::Spec line = sched::parse_spec("task:" + text, "spec");
  if (!line.errors.empty()) return Error{"spec: " + line.errors.front().substr(place.size())};
  if (line.entries.empty()) return Error{"spec must be sched:resv:prio:C:T, not '" + text + "'"};
  task = line.entries.front().task;
  return {};
}

Result<void> set(TenantSpec& spec, const std::string& key, const std::string& value) {
  if (key == "weight") return set_count(spec.attributes.weight, key, value, sched::kMaxWeight);
  if (key == "burst") return set_count(spec.burst, key, value, kMost);
  if (key == "sessions") return set_count(spec.sessions, key, value, kMost);
  if (key == "count") return set_count(spec.count, key, value, kMost);
  if (key == "jitter") return set_fraction(spec.jitter, key, value, 1);
  if (key == "sleep") return set_fraction(spec.sleep, key, value, kMostSleep);
  if (key == "min") return set_part(spec.attributes.min, session::parse_min(value, key));
  if (key == "max") return set_part(spec.attributes.max, session::parse_max(value, key));
  if (key == "class") {
    FAIRGV_TRY(service, session::parse_service(value, key));
    spec.attributes.service = service->service;
    spec.attributes.response = service->response;
    return {};
  }
  if (key == "spec") return set_task(spec.attributes.timegraph, value);
  if (key == "period") return set_time(spec.period, key, value);
  if (key == "kernel") return set_time(spec.kernel, key, value);
  return Error{"'" + key + "' is no property of a tenant: " +
               guess_and_list(key,
                              "weight, kernel, jitter, sleep, burst, sessions, count, min, max, class, "
                              "spec, period")};
}

}  // namespace

Result<TenantSpec> parse_tenant(const std::string& text) {
  TenantSpec spec;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      return Error{"'" + word + "' is no property of a tenant: write it as in weight=2,kernel=200us"};
    }
    FAIRGV_CHECK(set(spec, word.substr(0, equals), word.substr(equals + 1)));
  }
  return spec;
}

Result<sched::Duration> parse_duration(const std::string& text) {
  const char* rest = nullptr;
  const auto number = leading_number(text, rest);
  const std::string unit = number ? std::string(rest, text.data() + text.size()) : "";
  const double scale = unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
  const double ns = number.value_or(0) * scale;
  if (ns < 1 || ns > kLongestNs) {
    return Error{"'" + text + "' is no time: write it as in 200us, 6ms or 1.5s, an hour at most"};
  }
  return sched::Duration(std::llround(ns));
}

}  // namespace fairgv::tools
