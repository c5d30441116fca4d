// The contents of a configuration's files, option by option, each value with its place: read from TOML and
// checked for type and range, but not yet applied. Later files override earlier ones, key by key.
//
// Private to config*.cpp.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/option.hpp"

namespace fairgv::daemon {

/// Where in a file something stands.
struct ConfigPlace {
  std::string path;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// The mistakes, a line each.
class ConfigErrors {
 public:
  void add(const ConfigPlace& place, const std::string& what) { mistakes_.push_back({place, what}); }
  /// A mistake that has no place in a file.
  void add(const std::string& line) { mistakes_.push_back({{}, line}); }
  bool empty() const { return mistakes_.empty(); }
  /// All of them, in the order of the files and their lines. There must be one.
  Error all() const;

 private:
  struct Mistake {
    ConfigPlace place;
    std::string what;
  };
  std::vector<Mistake> mistakes_;
};

struct Setting {
  OptionValue value;
  ConfigPlace place;
};

/// A section's values by key.
struct SectionSettings {
  ConfigPlace place;  // of the section, where it was opened first
  std::map<std::string, Setting> values;
};

struct Settings {
  std::map<std::string, SectionSettings> sections;  // [daemon] and others that there is one of, by name
  std::map<std::uint32_t, SectionSettings> devices;
  std::map<std::string, SectionSettings> tenants;
  std::map<std::string, SectionSettings> classes;
  std::vector<SectionSettings> matches;  // in the files' order

  /// Keys whose value was left out somewhere, because it is wrong by itself.
  std::set<std::string> left_out;
  bool unread = false;  // a file is unknown; it might solve any contradiction

  /// Whether every value of these keys is known, in whichever section: only then are they compared.
  bool knows(std::initializer_list<const char*> keys) const;
};

/// A file's text. `what` it is, for the error: "the configuration".
Result<ConfigText> read_file(const std::string& path, const std::string& what);

/// Adds the settings of a file. Wrong ones are reported in the errors and left out.
void read_settings(const ConfigText& file, Settings& settings, ConfigErrors& errors);

}  // namespace fairgv::daemon
