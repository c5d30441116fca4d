// An option of the configuration: its name, type, range, unit, when a change holds, what it does, and where
// its value lies. That place says where the value goes: each worker is told all of session::WorkerTuning, and
// nothing else of the configuration. Everything that knows options (reading, `fairgv config show`, the man
// page, the differences that a reload finds) goes by these rows (config/options.hpp), so that none of them
// can be old.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/memory_size.hpp"

namespace fairgv::daemon {

/// A value of the right type and in its range.
using OptionValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, MemorySize>;

struct TextType {
  const char* what = "text in quotes";                // the text after "must be"
  bool (*allowed)(std::string_view value) = nullptr;  // null: all but the empty text
};
struct ChoiceType {
  std::vector<std::string> choices;
};
struct IntegerType {
  std::int64_t least, most;
};
struct NumberType {
  double least, most;
};
struct TruthType {};
/// Of a device's memory: bytes or per cent (MemorySize).
struct DeviceMemoryType {};
/// Text such as "8GiB"; the value is an integer.
struct BytesType {
  std::uint64_t least, most;
};
struct ListType {
  std::size_t most;
  bool (*allowed)(std::string_view value);
  const char* what;  // in the plural
};
using OptionType = std::variant<TextType, ChoiceType, IntegerType, NumberType, TruthType, DeviceMemoryType,
                                BytesType, ListType>;

/// For whom a value that was read again holds.
enum class Applies {
  at_once,       // for everybody, running programs included
  new_programs,  // for programs that start from then on
  restart,       // once the daemon was stopped and started
};

struct OptionFacts {
  const char* key;
  OptionType type;
  const char* unit;  // of a number, or empty
  Applies applies;
  const char* unset;  // the default in words, where there is no value to show; else empty
  const char* doc;    // whole sentences
};

/// Where an option's value lies in a Rule.
template <class Rule>
struct OptionAccess {
  /// Returns the fault of the value beyond its type and range, as the text after "KEY in SECTION: "; empty if
  /// there is none.
  std::function<std::string(Rule&, const OptionValue&)> set;
  /// None: it is not set, or another option shows it.
  std::function<std::optional<OptionValue>(const Rule&)> get;
};

template <class Rule>
struct ConfigOption {
  OptionFacts facts;
  OptionAccess<Rule> access;
};

template <class Rule>
using ConfigOptions = std::vector<ConfigOption<Rule>>;

namespace option_value {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
T from(const OptionValue& value) {
  if constexpr (IsOptional<T>::value) {
    return from<typename T::value_type>(value);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<T>(std::get<std::int64_t>(value));
  } else {
    return std::get<T>(value);
  }
}

template <class T>
std::optional<OptionValue> to(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? to(*value) : std::nullopt;
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return OptionValue(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>>) {
    return value.empty() ? std::nullopt : std::optional<OptionValue>(value);
  } else {
    return OptionValue(value);
  }
}

}  // namespace option_value

/// A member that holds the value as it is. An empty text or list counts as not set.
template <class Rule, class T>
OptionAccess<Rule> field(T Rule::*member) {
  return {[member](Rule& rule, const OptionValue& value) {
            rule.*member = option_value::from<T>(value);
            return std::string();
          },
          [member](const Rule& rule) { return option_value::to(rule.*member); }};
}

/// A duration; the file has it in units of `Unit`.
template <class Unit, class Rule, class Duration>
OptionAccess<Rule> time_field(Duration Rule::*member) {
  using Fraction = std::chrono::duration<double, typename Unit::period>;
  return {[member](Rule& rule, const OptionValue& value) {
            const Fraction time(std::get<double>(value));
            if constexpr (std::is_floating_point_v<typename Duration::rep>) {
              rule.*member = time;
            } else {
              rule.*member = std::chrono::round<Duration>(time);
            }
            return std::string();
          },
          [member](const Rule& rule) { return OptionValue(Fraction(rule.*member).count()); }};
}

/// A truth that the file has as one of two words.
template <class Rule>
OptionAccess<Rule> words_field(bool Rule::*member, const char* yes, const char* no) {
  return {[member, yes](Rule& rule, const OptionValue& value) {
            rule.*member = std::get<std::string>(value) == yes;
            return std::string();
          },
          [member, yes, no](const Rule& rule) { return OptionValue(std::string(rule.*member ? yes : no)); }};
}

/// The same option, of a rule that lies within another.
template <class Outer, class Inner>
OptionAccess<Outer> within(Inner Outer::*member, OptionAccess<Inner> access) {
  return {[member, access](Outer& rule, const OptionValue& value) { return access.set(rule.*member, value); },
          [member, access](const Outer& rule) { return access.get(rule.*member); }};
}

/// The values that are allowed, as the text after "must be"; the man page uses the same words.
std::string expected(const OptionType& type);
/// The value as TOML.
std::string to_toml(const OptionValue& value, const OptionType& type);
/// Text in TOML's quotes.
std::string toml_text(std::string_view text);

}  // namespace fairgv::daemon
