// The files that a text of OpenCL C may include, found without preprocessing it.
//
// Conditions are not evaluated: an #include below `#if 0` is found, too. Comments, strings, continued lines
// and digraphs are read as the language defines them (C99, 5.1.1.2 and 6.10); trigraphs are not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairgv::icd::includes {

struct Directive {
  enum class Form { quoted, angled, computed };
  Form form = Form::quoted;
  std::string name;       // without quotes or brackets; if computed, all text behind #include
  std::size_t begin = 0;  // where in the text the name begins
};

/// A macro without parameters. Its value is as it stands there, without comments.
struct Macro {
  std::string name;
  std::string value;
};

struct Directives {
  /// Of #include, #include_next, #import and __has_include.
  std::vector<Directive> includes;
  std::vector<Macro> macros;
};

Directives find_directives(std::string_view text);

/// Whether the text names a file by its whole path.
bool names_absolute_path(const Directives& directives);

/// The text with such paths moved below `root`: "/a/b.h" becomes "ROOT/a/b.h". `directives`: the text's.
std::string with_paths_below(std::string_view root, std::string_view text, const Directives& directives);

}  // namespace fairgv::icd::includes
