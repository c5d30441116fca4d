// Accesses of options that several sections have, beside those of config/option.hpp, and their ranges.
#pragma once

#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/option.hpp"
#include "runtime/session/direct/direct_mode.hpp"
#include "runtime/session/worker_options.hpp"

namespace fairgv::daemon {

constexpr IntegerType kWeights{sched::kMinWeight, sched::kMaxWeight};
constexpr IntegerType kSessions{1, kMostSessions};
constexpr IntegerType kIds{0, std::numeric_limits<uid_t>::max() - 1};

inline bool is_folder_name(std::string_view path) {
  return path.size() > 1 && path.starts_with('/');
}

/// A user or group by name, beside the option that has the number and shows both.
template <class Rule, class Id>
OptionAccess<Rule> name_field(std::optional<Id> Rule::*member, std::optional<Id> (*find)(const std::string&),
                              const char* kind, const char* other) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            const auto& name = std::get<std::string>(value);
            if (rule.*member) return std::string("there is a ") + other + ", too: keep one";
            rule.*member = find(name);
            return rule.*member ? "" : std::string("there is no ") + kind + " '" + name + "' on this system";
          },
          [](const Rule&) { return std::nullopt; }};
}

/// A part of a tenant's entitlement, in the text that people write (session/wish/tenant_wish.hpp).
template <class Rule, class T>
OptionAccess<Rule> wish_field(std::optional<T> Rule::*member,
                              Result<T> (*parse)(const std::string&, const std::string&)) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            const auto parsed = parse(std::get<std::string>(value), "it");
            if (!parsed) return parsed.error().message;
            rule.*member = parsed.value();
            return "";
          },
          [=](const Rule& rule) -> std::optional<OptionValue> {
            if (!(rule.*member)) return std::nullopt;
            return OptionValue(session::to_text(*(rule.*member)));
          }};
}

inline const ChoiceType kDirect{{std::begin(session::kDirectModes), std::end(session::kDirectModes)}};

/// A session::DirectMode, or an optional one. Its type is kDirect.
template <class Rule, class T>
OptionAccess<Rule> direct_field(T Rule::*member) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            rule.*member = session::parse_direct_mode(std::get<std::string>(value)).value();
            return "";
          },
          [=](const Rule& rule) -> std::optional<OptionValue> {
            const std::optional<session::DirectMode> mode = rule.*member;
            return mode ? std::optional(OptionValue(std::string(session::to_text(*mode)))) : std::nullopt;
          }};
}

/// A part of a device as text, "20%" or "none"; from the least to the most that the option allows.
template <class Rule>
OptionAccess<Rule> share_field(sched::Share Rule::*member) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            const auto& text = std::get<std::string>(value);
            const auto share =
                text == "none" ? Result<sched::Share>(sched::Share{}) : session::parse_max(text, "it");
            if (!share) return "it is '" + text + "': a part of the device is none or 0.1% to 100%, as 50%";
            rule.*member = share.value();
            return "";
          },
          [=](const Rule& rule) -> std::optional<OptionValue> {
            const sched::Share share = rule.*member;
            return OptionValue(share.ppm == 0 ? std::string("none") : session::to_text(share));
          }};
}

/// A field of what workers are told: a row with it needs no other line for its way there.
template <class T>
OptionAccess<Config> tuning(T session::WorkerTuning::*member) {
  return within(&Config::tuning, field(member));
}

}  // namespace fairgv::daemon
