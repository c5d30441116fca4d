#include "icd/includes/collector.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <optional>

#include "runtime/base/handle.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd::includes {
namespace {

/// The deepest chain of macros that name macros, in `#include NAME`.
constexpr int kDeepestMacro = 8;
constexpr int kMostLookups = 1'000;
constexpr std::size_t kMostExpansions = 100;

std::string folder_of(const std::string& spelled) {
  const std::size_t slash = spelled.rfind('/');
  return slash == 0 ? "/" : spelled.substr(0, slash);
}

std::string join(std::string folder, std::string_view name) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (folder != "/") folder += '/';
  return folder += name;
}

/// The file's bytes, up to one more than `most`. Only regular files are read: reading another kind might
/// never end.
std::optional<std::string> contents_of(const std::string& path, std::size_t most) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string text;
  std::array<char, 1 << 16> part;
  while (text.size() <= most) {
    const ssize_t length = ::read(file.get(), part.data(), part.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return std::nullopt;
    if (length == 0) break;
    text.append(part.data(), static_cast<std::size_t>(length));
  }
  return text;
}

bool is_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

constexpr std::string_view kOwnName = "__FILE__";

/// Makes a compiler name the file as the program does. Not for every text, because some compilers count the
/// additional line in their messages.
std::string named(const std::string& spelled, std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string result = "#line 1 \"";
  for (const char c : spelled) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  result += "\"\n";
  result += text;
  return result;
}

bool is_part_of_word(unsigned char c) {
  return std::isalnum(c) != 0 || c == '_';
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_part_of_word);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// "a" or <a>.
std::optional<Directive> literal_name(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const std::string name(text.substr(1, text.size() - 2));
  if (text.front() == '"' && text.back() == '"') return Directive{Directive::Form::quoted, name};
  if (text.front() == '<' && text.back() == '>') return Directive{Directive::Form::angled, name};
  return std::nullopt;
}

}  // namespace

Collector::Collector(std::string directory, const FileOptions& options, const Limits& limits)
    : directory_(std::move(directory)), options_(options), limits_(limits) {
  for (const Macro& macro : options.macros) {
    macros_[macro.name].insert(macro.value);
    shows_names_ |= macro.value.find(kOwnName) != std::string::npos;
  }
  for (const std::string& file : options.files) {
    look_for({Directive::Form::quoted, file}, {});
  }
}

void Collector::add_source(std::string_view text) {
  auto directives = std::make_shared<const Directives>(find_directives(text));
  found_.names_absolute_path |= names_absolute_path(*directives);
  note_macros(*directives);
  shows_names_ |= text.find(kOwnName) != std::string_view::npos;
  to_look_into_.push_back({std::move(directives), {}, 0});
}

Collection Collector::collect() && {
  std::size_t files = 0;
  do {
    files = seen_.size();
    while (!to_look_into_.empty()) {
      const Includer includer = std::move(to_look_into_.front());
      to_look_into_.pop_front();
      look_into(includer);
    }
    for (std::size_t i = 0; i < computed_.size(); ++i) {
      lookups_left_ = kMostLookups;
      // A copy, because a found file may add more computed includes.
      const auto [text, includer] = computed_[i];
      look_for_computed(text, includer, 0);
    }
  } while (seen_.size() != files);
  for (std::size_t i = 0; shows_names_ && i < spelled_.size(); ++i) {
    found_.files[i].text = named(spelled_[i], found_.files[i].text);
  }
  return std::move(found_);
}

void Collector::look_into(const Includer& includer) {
  for (const Directive& directive : includer.directives->includes) {
    if (directive.form == Directive::Form::computed) {
      computed_.emplace_back(directive.name, includer);
    } else {
      look_for(directive, includer);
    }
  }
}

void Collector::look_for(const Directive& directive, const Includer& includer) {
  const std::size_t depth = includer.depth + 1;
  if (directive.name.front() == '/') return take_file(directive.name, depth);
  if (!includer.folder.empty() && directive.form == Directive::Form::quoted) {
    take_file(join(includer.folder, directive.name), depth);
  }
  take_file(join(".", directive.name), depth);
  for (const std::string& folder : options_.folders) take_file(join(folder, directive.name), depth);
}

/// NAME, or NAME(argument) of a macro that makes a string of its argument or passes it on.
void Collector::look_for_computed(std::string_view text, const Includer& includer, int depth) {
  text = trimmed(text);
  if (const auto name = literal_name(text)) return look_for(*name, includer);
  if (depth == kDeepestMacro || lookups_left_-- <= 0) return;
  if (const auto values = macros_.find(std::string(text)); values != macros_.end()) {
    // A copy, because a found file may define the macro once more.
    for (const std::string& value : std::set(values->second)) look_for_computed(value, includer, depth + 1);
  }
  const std::size_t opening = text.find('(');
  if (opening == std::string_view::npos || text.back() != ')' || !is_word(trimmed(text.substr(0, opening)))) {
    return;
  }
  const std::string argument(trimmed(text.substr(opening + 1, text.size() - opening - 2)));
  look_for_computed(argument, includer, depth + 1);
  for (const std::string& expanded : expansions_of(argument)) look_for_text(expanded, includer);
}

/// Looks for a file by a name that a macro has made as a string.
void Collector::look_for_text(const std::string& text, const Includer& includer) {
  if (text.empty() || literal_name(text)) return;
  look_for({Directive::Form::quoted, text}, includer);
  if (text.front() != '/' || !is_regular_file(text)) return;
  for (const PathMacro& macro : options_.path_macros) {
    if (!text.starts_with(macro.value)) continue;
    found_.path_macros.insert(macro.place);
    found_.names_absolute_path = true;
  }
}

/// The text with its words expanded by macros, in every possible way.
std::set<std::string> Collector::expansions_of(const std::string& text) const {
  std::set<std::string> results;
  std::vector<std::string> left{text};
  while (!left.empty() && results.size() < kMostExpansions) {
    const std::string now = std::move(left.back());
    left.pop_back();
    if (!results.insert(now).second) continue;
    for (std::size_t begin = 0; begin < now.size();) {
      const auto end = static_cast<std::size_t>(
          std::find_if_not(now.begin() + static_cast<std::ptrdiff_t>(begin), now.end(), is_part_of_word) -
          now.begin());
      const auto values = end == begin ? macros_.end() : macros_.find(now.substr(begin, end - begin));
      if (values != macros_.end()) {
        for (const std::string& value : values->second) {
          left.push_back(now.substr(0, begin) + value + now.substr(end));
        }
      }
      begin = std::max(end, begin + 1);
    }
  }
  return results;
}

std::string Collector::from_root(const std::string& spelled) const {
  return spelled.front() == '/' ? spelled : join(directory_, spelled);
}

void Collector::take_file(const std::string& spelled, std::size_t depth) {
  const std::string path = from_root(spelled);
  if (!is_regular_file(path)) return;
  Ways ways;
  const auto folder = trace_path(folder_of(path), ways);
  const auto end = trace_path(path, ways);
  if (!folder || !end || seen_.contains(join(*folder, path.substr(path.rfind('/') + 1)))) return;
  if (depth > limits_.depth) {
    return exceeded("nested more than " + std::to_string(limits_.depth) + " deep", spelled);
  }
  if (seen_.size() >= limits_.files) {
    return exceeded("more than " + std::to_string(limits_.files) + " files", spelled);
  }
  const auto directives = read(*end, spelled);
  if (directives == nullptr) return;
  seen_.insert(join(*folder, path.substr(path.rfind('/') + 1)));
  found_.ways.links.merge(ways.links);
  found_.ways.folders.merge(ways.folders);
  to_look_into_.push_back({directives, folder_of(spelled), depth});
}

/// Adds the file to the found texts and returns its includes; null if that cannot be done.
std::shared_ptr<const Directives> Collector::read(const std::string& path, const std::string& spelled) {
  if (const auto found = known_.find(path); found != known_.end()) return found->second;
  const std::size_t left = limits_.bytes - bytes_;
  auto text = contents_of(path, left);
  if (!text) return known_[path] = nullptr;
  if (text->size() > left) {
    exceeded("more than " + std::to_string(limits_.bytes >> 20) + " MiB", spelled);
    return nullptr;
  }
  bytes_ += text->size();
  auto directives = std::make_shared<const Directives>(find_directives(*text));
  const bool absolute = names_absolute_path(*directives);
  found_.names_absolute_path |= absolute;
  found_.may_print |= text->find("printf") != std::string::npos;
  shows_names_ |= text->find(kOwnName) != std::string::npos;
  found_.files.push_back(
      {path, absolute ? with_paths_below(wire::kIncludeRoot, *text, *directives) : std::move(*text)});
  spelled_.push_back(spelled);
  note_macros(*directives);
  return known_[path] = std::move(directives);
}

void Collector::note_macros(const Directives& directives) {
  constexpr std::size_t kLongest = 256;
  for (const Macro& macro : directives.macros) {
    // Other macros name neither a file nor a part of its name.
    if (literal_name(macro.value) ||
        (macro.value.size() <= kLongest && macro.value.find_first_of(" ()\"") == std::string::npos)) {
      macros_[macro.name].insert(macro.value);
    }
  }
}

void Collector::exceeded(const std::string& limit, const std::string& spelled) {
  if (!found_.remark.empty()) return;
  found_.remark = "fairgv: the headers that this build may include are " + limit +
                  ": some were not sent to the driver, which will not find them; the first is " + spelled +
                  " (see Headers in docs/OPENCL.md)\n";
}

}  // namespace fairgv::icd::includes
