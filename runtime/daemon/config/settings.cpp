#include "runtime/daemon/config/settings.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <tuple>

#include "runtime/base/near_word.hpp"
#include "runtime/daemon/config/options.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::daemon {
namespace {

ConfigPlace place_of(const toml::source_region& where, const std::string& path) {
  return {path, where.begin.line, where.begin.column};
}

/// The reading of one value: the value, or the node that is not as it must be.
struct ReadValue {
  std::optional<OptionValue> value{};
  const toml::node* wrong = nullptr;
  std::string complaint{};  // instead of what is expected
};

ReadValue read_text(const toml::node& node, const TextType& type) {
  const auto* const text = node.as_string();
  const bool right =
      text != nullptr && !text->get().empty() && (type.allowed == nullptr || type.allowed(text->get()));
  return right ? ReadValue{OptionValue(text->get())} : ReadValue{{}, &node};
}

ReadValue read_choice(const toml::node& node, const ChoiceType& type) {
  const auto* const text = node.as_string();
  if (text == nullptr) return {{}, &node, "text in quotes"};
  const bool known = std::find(type.choices.begin(), type.choices.end(), text->get()) != type.choices.end();
  return known ? ReadValue{OptionValue(text->get())} : ReadValue{{}, &node};
}

ReadValue read_integer(const toml::node& node, const IntegerType& type) {
  const auto* const number = node.as_integer();
  const bool right = number != nullptr && number->get() >= type.least && number->get() <= type.most;
  return right ? ReadValue{OptionValue(number->get())} : ReadValue{{}, &node};
}

ReadValue read_number(const toml::node& node, const NumberType& type) {
  const auto number = node.is_number() ? node.value<double>() : std::nullopt;
  const bool right = number && *number >= type.least && *number <= type.most;
  return right ? ReadValue{OptionValue(*number)} : ReadValue{{}, &node};
}

ReadValue read_bytes(const toml::node& node, const BytesType& type) {
  const auto* const text = node.as_string();
  if (text == nullptr) return {{}, &node};
  const auto size = parse_memory_size(text->get(), "");
  const bool right = size && !size->percent && size->bytes >= type.least && size->bytes <= type.most;
  return right ? ReadValue{OptionValue(static_cast<std::int64_t>(size->bytes))} : ReadValue{{}, &node};
}

ReadValue read_list(const toml::node& node, const ListType& type) {
  const toml::array* const array = node.as_array();
  if (array == nullptr || array->size() > type.most) return {{}, &node};
  std::vector<std::string> texts;
  for (const toml::node& element : *array) {
    const auto* const text = element.as_string();
    if (text == nullptr || !type.allowed(text->get())) return {{}, &element};
    texts.push_back(text->get());
  }
  return {OptionValue(std::move(texts))};
}

/// One file's way into the settings.
class FileReader {
 public:
  FileReader(const std::string& path, Settings& settings, ConfigErrors& errors)
      : path_(path), settings_(settings), errors_(errors) {}

  void read(const toml::table& document) {
    std::vector<std::string> known;
    for (const SingleSection& section : single_sections()) {
      known.emplace_back(section.name);
      if (const toml::table* const table = as_table(document.get(section.name), section.name)) {
        read_single(*table, section);
      }
    }
    known.insert(known.end(), {kTenantSection, kClassSection, kMatchSection});
    read_named(document, kTenantSection, tenant_title, tenant_options(), settings_.tenants);
    read_named(document, kClassSection, class_title, class_options(), settings_.classes);
    read_matches(document);
    complain_of_unknown(document, "the file", known, [](std::string_view) { return false; });
  }

 private:
  template <class Rule>
  void read_section(const toml::table& table, const std::string& title, const ConfigOptions<Rule>& options,
                    SectionSettings& section, const std::function<bool(std::string_view)>& also = nullptr) {
    if (section.place.path.empty()) section.place = place_of(table.source(), path_);
    std::vector<std::string> known;
    for (const ConfigOption<Rule>& option : options) {
      known.emplace_back(option.facts.key);
      if (const toml::node* const node = table.get(option.facts.key)) {
        read_value(*node, option.facts, title, section);
      }
    }
    complain_of_unknown(table, title, known, also);
  }

  void read_single(const toml::table& table, const SingleSection& section) {
    const bool devices = std::string_view(section.name) == kDeviceSection;
    read_section(table, "[" + std::string(section.name) + "]", section.options,
                 settings_.sections[section.name], [&](std::string_view key) {
                   const auto index = devices ? device_index(key) : std::nullopt;
                   if (index) read_device(table, std::string(key), *index);
                   return index.has_value();
                 });
  }

  void read_device(const toml::table& table, const std::string& key, std::uint32_t index) {
    const toml::node* const node = table.get(key);
    if (!node->is_table()) return complain(*node, key + " in [device] must be a table");
    read_section(*node->as_table(), device_title(index), device_options(), settings_.devices[index]);
  }

  /// [tenant."NAME"], [class."NAME"]
  template <class Rule>
  void read_named(const toml::table& document, const std::string& kind,
                  std::string (*title)(const std::string&), const ConfigOptions<Rule>& options,
                  std::map<std::string, SectionSettings>& sections) {
    const toml::table* const tables = as_table(document.get(kind), kind);
    if (tables == nullptr) return;
    for (const auto& [key, node] : *tables) {
      const std::string name(key.str());
      if (!session::is_tenant_name(name)) {
        const std::string source = "the name in [" + kind + ".\"...\"]";
        errors_.add(place_of(key.source(), path_), session::tenant_name_error(name, source).message);
      } else if (const toml::table* const table = node.as_table()) {
        read_section(*table, title(name), options, sections[name]);
      } else {
        complain(node, std::string(kind).append(".").append(name) + " must be a table: " + title(name));
      }
    }
  }

  void read_matches(const toml::table& document) {
    const toml::node* const node = document.get(kMatchSection);
    if (node == nullptr) return;
    const toml::array* const list = node->as_array();
    if (list == nullptr) return complain(*node, "match must be tables in a list: [[match]]");
    for (const toml::node& element : *list) {
      const toml::table* const table = element.as_table();
      if (table == nullptr) {
        complain(element, "match must be tables in a list: [[match]]");
        continue;
      }
      const std::string title = match_title(settings_.matches.size());
      read_section(*table, title, match_options(), settings_.matches.emplace_back());
      if (table->get("tenant") == nullptr) complain(*table, "tenant in " + title + " must be there");
    }
  }

  void read_value(const toml::node& node, const OptionFacts& facts, const std::string& title,
                  SectionSettings& section) {
    const ReadValue read = value_of(node, facts, title);
    if (read.value) {
      section.values[facts.key] = {*read.value, place_of(node.source(), path_)};
      return;
    }
    settings_.left_out.insert(facts.key);
    if (!read.complaint.empty() && std::holds_alternative<DeviceMemoryType>(facts.type)) {
      complain(node, read.complaint);
    } else {
      complain(*read.wrong, std::string(facts.key) + " in " + title + " must be " +
                                (read.complaint.empty() ? expected(facts.type) : read.complaint) +
                                guess(*read.wrong, facts.type));
    }
  }

  /// For a choice: the word that may have been meant.
  static std::string guess(const toml::node& wrong, const OptionType& type) {
    const auto* const choice = std::get_if<ChoiceType>(&type);
    const auto* const text = wrong.as_string();
    if (choice == nullptr || text == nullptr) return "";
    const std::string word = near_word(text->get(), choice->choices);
    return word.empty() ? "" : ": did you mean '" + word + "'?";
  }

  static ReadValue value_of(const toml::node& node, const OptionFacts& facts, const std::string& title) {
    const OptionType& type = facts.type;
    if (const auto* text = std::get_if<TextType>(&type)) return read_text(node, *text);
    if (const auto* choice = std::get_if<ChoiceType>(&type)) return read_choice(node, *choice);
    if (const auto* range = std::get_if<IntegerType>(&type)) return read_integer(node, *range);
    if (const auto* range = std::get_if<NumberType>(&type)) return read_number(node, *range);
    if (const auto* range = std::get_if<BytesType>(&type)) return read_bytes(node, *range);
    if (const auto* list = std::get_if<ListType>(&type)) return read_list(node, *list);
    if (std::holds_alternative<DeviceMemoryType>(type)) return read_memory(node, facts.key, title);
    const auto* const truth = node.as_boolean();
    return truth != nullptr ? ReadValue{OptionValue(truth->get())} : ReadValue{{}, &node};
  }

  /// Bytes as an integer, or a text for parse_memory_size().
  static ReadValue read_memory(const toml::node& node, const std::string& key, const std::string& title) {
    if (const auto* const bytes = node.as_integer(); bytes != nullptr && bytes->get() >= 0) {
      return {OptionValue(MemorySize{static_cast<std::uint64_t>(bytes->get())})};
    }
    const auto* const text = node.as_string();
    if (text == nullptr) return {{}, &node};
    const auto size = parse_memory_size(text->get(), key + " in " + title);
    return size ? ReadValue{OptionValue(size.value())} : ReadValue{{}, &node, size.error().message};
  }

  /// The N of [device.N]; none if it is no number of a device.
  static std::optional<std::uint32_t> device_index(std::string_view key) {
    std::uint32_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc() || end != key.data() + key.size() || index >= session::kMaxDevices) {
      return std::nullopt;
    }
    return index;
  }

  /// Keys that no option has, and that `also` does not take.
  void complain_of_unknown(const toml::table& table, const std::string& title,
                           const std::vector<std::string>& known,
                           const std::function<bool(std::string_view)>& also) {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      if (also && also(key.str())) continue;
      std::string list;
      for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
      errors_.add(place_of(key.source(), path_), "unknown key '" + std::string(key.str()) + "' in " + title +
                                                     ": " + did_you_mean(key.str(), known) + "known are " +
                                                     list);
    }
  }

  /// The table, if there is one; complains if the node is no table.
  const toml::table* as_table(const toml::node* node, const std::string& key) {
    if (node == nullptr || node->is_table()) return node == nullptr ? nullptr : node->as_table();
    complain(*node, key + " in the file must be a table: [" + key + "]");
    return nullptr;
  }

  void complain(const toml::node& node, const std::string& what) {
    errors_.add(place_of(node.source(), path_), what);
  }

  const std::string& path_;
  Settings& settings_;
  ConfigErrors& errors_;
};

}  // namespace

Error ConfigErrors::all() const {
  // As they stand in the files. A drop-in folder's name begins like the file's, so its files come after it.
  std::vector<Mistake> mistakes = mistakes_;
  std::stable_sort(mistakes.begin(), mistakes.end(), [](const Mistake& a, const Mistake& b) {
    return std::tie(a.place.path, a.place.line, a.place.column) <
           std::tie(b.place.path, b.place.line, b.place.column);
  });
  std::string text;
  for (const auto& [place, what] : mistakes) {
    text += text.empty() ? "" : "\n";
    if (!place.path.empty()) {
      text += place.path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
    }
    text += what;
  }
  return Error{text};
}

bool Settings::knows(std::initializer_list<const char*> keys) const {
  return !unread &&
         std::none_of(keys.begin(), keys.end(), [this](const char* key) { return left_out.contains(key); });
}

Result<ConfigText> read_file(const std::string& path, const std::string& what) {
  std::ifstream file(path);
  std::ostringstream text;
  // A folder opens, but cannot be read; an empty file has nothing to be read.
  if (!file || std::filesystem::is_directory(path) ||
      (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf()))) {
    return system_error("cannot read " + what + " " + path, errno != 0 ? errno : EISDIR);
  }
  return ConfigText{path, text.str()};
}

void read_settings(const ConfigText& file, Settings& settings, ConfigErrors& errors) {
  try {
    const toml::table document = toml::parse(file.text, file.path);
    FileReader(file.path, settings, errors).read(document);
  } catch (const toml::parse_error& error) {
    settings.unread = true;
    errors.add(place_of(error.source(), file.path), std::string(error.description()));
  }
}

}  // namespace fairgv::daemon
