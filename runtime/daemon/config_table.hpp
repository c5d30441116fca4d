// Reading one table of a TOML file: each key is asked for by name, type and range; what was not asked for is
// an unknown key. The first thing that is wrong is kept, with its place.
//
// Private to config.cpp.
#pragma once

#include <toml++/toml.h>
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ring/result.hpp"
#include "runtime/session/memory_size.hpp"

namespace fairgv::daemon {

/// The first error in a file.
class ConfigErrors {
 public:
  explicit ConfigErrors(std::string path) : path_(std::move(path)) {}

  void add(const toml::source_region& where, const std::string& what) {
    if (first_) return;
    first_ = Error{path_ + ":" + std::to_string(where.begin.line) + ":" + std::to_string(where.begin.column) +
                   ": " + what};
  }
  const std::optional<Error>& first() const { return first_; }

 private:
  std::string path_;
  std::optional<Error> first_;
};

class ConfigTable {
 public:
  /// `title` as people write it: "[device]".
  ConfigTable(const toml::table& table, std::string title, ConfigErrors& errors)
      : table_(table), title_(std::move(title)), errors_(errors) {}

  std::optional<std::string> text(const char* key) {
    const toml::node* const node = find(key);
    if (node == nullptr) return std::nullopt;
    if (const auto* value = node->as_string(); value != nullptr && !value->get().empty()) return value->get();
    return wrong(*node, key, "text in quotes");
  }

  std::optional<std::string> one_of(const char* key, const std::vector<std::string>& choices) {
    const auto value = text(key);
    if (!value || std::find(choices.begin(), choices.end(), *value) != choices.end()) return value;
    return wrong(*table_.get(key), key, "one of " + list(choices));
  }

  std::optional<std::int64_t> integer(const char* key, std::int64_t smallest, std::int64_t largest) {
    const toml::node* const node = find(key);
    if (node == nullptr) return std::nullopt;
    const auto* value = node->as_integer();
    if (value != nullptr && value->get() >= smallest && value->get() <= largest) return value->get();
    return wrong(*node, key,
                 "an integer from " + std::to_string(smallest) + " to " + std::to_string(largest));
  }

  std::optional<double> number(const char* key, double smallest, double largest) {
    const toml::node* const node = find(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (value && *value >= smallest && *value <= largest) return value;
    return wrong(*node, key, "a number from " + short_number(smallest) + " to " + short_number(largest));
  }

  /// Bytes as an integer, or what session::parse_memory_size() reads.
  std::optional<session::MemorySize> memory(const char* key) {
    const toml::node* const node = find(key);
    if (node == nullptr) return std::nullopt;
    if (const auto* bytes = node->as_integer(); bytes != nullptr && bytes->get() >= 0) {
      return session::MemorySize{static_cast<std::uint64_t>(bytes->get())};
    }
    const auto* const text = node->as_string();
    if (text == nullptr) return wrong(*node, key, "bytes, or text such as \"512MiB\" or \"25%\"");
    const auto size = session::parse_memory_size(text->get(), std::string(key) + " in " + title_);
    if (size) return size.value();
    errors_.add(node->source(), size.error().message);
    return std::nullopt;
  }

  /// Bytes, as "8GiB" or the like.
  std::optional<std::uint64_t> bytes(const char* key, std::uint64_t smallest, std::uint64_t largest) {
    const auto value = text(key);
    if (!value) return std::nullopt;
    const auto size = session::parse_memory_size(*value, key);
    if (size && !size->percent && size->bytes >= smallest && size->bytes <= largest) return size->bytes;
    return wrong(*table_.get(key), key,
                 "an amount of memory in quotes, from \"" + to_text(session::MemorySize{smallest}) +
                     "\" to \"" + to_text(session::MemorySize{largest}) + "\"");
  }

  std::optional<bool> truth(const char* key) {
    const toml::node* const node = find(key);
    if (node == nullptr) return std::nullopt;
    if (const auto* value = node->as_boolean(); value != nullptr) return value->get();
    return wrong(*node, key, "true or false");
  }

  /// A list of at most `most` texts that `allowed` allows. `names` says in words what they are.
  std::optional<std::vector<std::string>> texts(const char* key, std::size_t most,
                                                bool (*allowed)(std::string_view), const std::string& names) {
    const toml::node* const node = find(key);
    if (node == nullptr) return std::nullopt;
    const std::string expected = "a list of at most " + std::to_string(most) + " " + names;
    const toml::array* const array = node->as_array();
    if (array == nullptr || array->size() > most) return wrong(*node, key, expected);
    std::vector<std::string> list;
    for (const toml::node& element : *array) {
      const auto* const value = element.as_string();
      if (value == nullptr || !allowed(value->get())) return wrong(element, key, expected);
      list.push_back(value->get());
    }
    return list;
  }

  /// A table inside this one, or null.
  const toml::table* table(const char* key) {
    const toml::node* const node = find(key);
    if (node == nullptr || node->is_table()) return node == nullptr ? nullptr : node->as_table();
    (void)wrong(*node, key, "a table");
    return nullptr;
  }

  /// Call last: complains about keys that nobody asked for.
  void finish() {
    for (const auto& [key, value] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      errors_.add(key.source(), "unknown key '" + std::string(key.str()) + "' in " + title_ + ": known are " +
                                    list(known_));
    }
  }

 private:
  const toml::node* find(const char* key) {
    known_.emplace_back(key);
    return table_.get(key);
  }

  std::nullopt_t wrong(const toml::node& node, const char* key, const std::string& expected) {
    errors_.add(node.source(), std::string(key) + " in " + title_ + " must be " + expected);
    return std::nullopt;
  }

  static std::string short_number(double number) {
    std::string digits = std::to_string(number);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits;
  }

  static std::string list(const std::vector<std::string>& names) {
    std::string joined;
    for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
    return joined;
  }

  const toml::table& table_;
  std::string title_;
  ConfigErrors& errors_;
  std::vector<std::string> known_;
};

}  // namespace fairgv::daemon
