#include "icd/includes/options.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/wire/insertion.hpp"

namespace fairgv::icd::includes {
namespace {

/// A word of the options without its quotes, and where each of its characters stands.
struct Word {
  std::string text;
  std::vector<std::uint32_t> places;

  void add(char c, std::size_t place) {
    text += c;
    places.push_back(static_cast<std::uint32_t>(place));
  }
  Word from(std::size_t first) const {
    return {text.substr(first), {places.begin() + static_cast<std::ptrdiff_t>(first), places.end()}};
  }
};

/// Words end at blanks outside of quotes; a backslash takes the meaning from a quote, a blank or itself.
std::vector<Word> words_of(std::string_view options) {
  std::vector<Word> words;
  Word word;
  bool quoted = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const char c = options[i];
    const bool escapes = c == '\\' && i + 1 < options.size() &&
                         (options[i + 1] == '"' || options[i + 1] == ' ' || options[i + 1] == '\\');
    if (escapes) {
      ++i;
      word.add(options[i], i);
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ' ' || c == '\t' || c == '\n')) {
      if (!word.text.empty()) words.push_back(std::exchange(word, {}));
    } else {
      word.add(c, i);
    }
  }
  if (!word.text.empty()) words.push_back(std::move(word));
  return words;
}

enum class Takes { folder, file, macro };

struct Option {
  std::string_view name;
  Takes takes;
};

/// No name is a prefix of a later name.
constexpr Option kOptions[] = {{"-I", Takes::folder},      {"-isystem", Takes::folder},
                               {"-iquote", Takes::folder}, {"-idirafter", Takes::folder},
                               {"-include", Takes::file},  {"-imacros", Takes::file},
                               {"-D", Takes::macro}};

/// A value in quotes may have lost its quotes on the way here, or not.
void add_macro(const Word& definition, FileOptions& result) {
  const std::size_t equals = definition.text.find('=');
  if (equals == std::string::npos || equals + 1 == definition.text.size()) return;
  const std::string name = definition.text.substr(0, equals);
  Word value;
  for (std::size_t i = equals + 1; i < definition.text.size(); ++i) {
    if (definition.text[i] != '"') value.add(definition.text[i], definition.places[i]);
  }
  if (value.text.starts_with('/')) result.path_macros.push_back({value.text, value.places.front()});
  result.macros.push_back({name, '"' + value.text + '"'});
  result.macros.push_back({name, std::move(value.text)});
}

void take_value(Takes takes, Word value, FileOptions& result) {
  if (takes == Takes::macro) {
    add_macro(value, result);
    return;
  }
  if (value.text.front() == '/') result.absolute.push_back(value.places.front());
  (takes == Takes::folder ? result.folders : result.files).push_back(std::move(value.text));
}

}  // namespace

FileOptions read_file_options(std::string_view options) {
  FileOptions result;
  const std::vector<Word> words = words_of(options);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto option = std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& each) {
      return words[i].text.starts_with(each.name);
    });
    if (option == std::end(kOptions)) continue;
    Word value = words[i].from(option->name.size());
    if (value.text.empty() && i + 1 < words.size()) value = words[++i];
    // Some drivers take the blank in "-I /a" for a part of the path.
    const std::size_t first = value.text.find_first_not_of(" \t=");
    if (first != std::string::npos) take_value(option->takes, value.from(first), result);
  }
  return result;
}

std::string with_paths_below(std::string_view root, std::string_view options,
                             const std::set<std::uint32_t>& places, std::vector<std::uint32_t>& marks) {
  for (std::uint32_t& mark : marks) {
    const auto before = std::distance(places.begin(), places.lower_bound(mark));
    mark += static_cast<std::uint32_t>(before) * static_cast<std::uint32_t>(root.size());
  }
  return wire::with_insertions(options, places, root);
}

}  // namespace fairgv::icd::includes
