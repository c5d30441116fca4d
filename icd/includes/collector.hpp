// Reads the files that a build may include, in the program's own process: with its rights, in its view of the
// file system, from its working folder. The worker sees none of them (docs/OPENCL.md, Headers).
//
// The driver decides by its own order which of several files of one name an #include takes. So every existing
// file is read: beside the text that includes it, in the working folder, and in every folder of the options.
// Missing files are left out, and the driver reports them if it needs them.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "icd/includes/directives.hpp"
#include "icd/includes/options.hpp"
#include "icd/includes/traced_path.hpp"

namespace fairgv::icd::includes {

struct Limits {
  std::size_t files = 4'000;
  std::size_t bytes = std::size_t{32} << 20;
  std::size_t depth = 200;  // compilers go no deeper
};

struct File {
  std::string path;  // absolute, without links
  std::string text;  // as the driver is to read it
};

struct Collection {
  std::vector<File> files;
  Ways ways;
  bool names_absolute_path = false;  // some text does; now below wire::kIncludeRoot
  /// Positions in the options of paths that texts name by a macro: they have to be rewritten, too.
  std::set<std::uint32_t> path_macros;
  bool may_print = false;
  std::string remark;  // a line for the build log if a limit was reached, else empty
};

class Collector {
 public:
  /// `directory`: the working folder, absolute. The options must outlive this object.
  Collector(std::string directory, const FileOptions& options, const Limits& limits = {});

  /// A text of the program that is compiled or, for clCompileProgram, included by its own name.
  void add_source(std::string_view text);
  /// Reads the included files, the files that they include, and so on.
  Collection collect() &&;

 private:
  /// A text that includes other files.
  struct Includer {
    std::shared_ptr<const Directives> directives;
    std::string folder;  // as the program spells it; empty: the driver alone knows where it lies
    std::size_t depth = 0;
  };

  void look_into(const Includer& includer);
  void look_for(const Directive& directive, const Includer& includer);
  void look_for_computed(std::string_view text, const Includer& includer, int depth);
  void look_for_text(const std::string& text, const Includer& includer);
  std::set<std::string> expansions_of(const std::string& text) const;
  void take_file(const std::string& spelled, std::size_t depth);
  std::shared_ptr<const Directives> read(const std::string& path, const std::string& spelled);
  void note_macros(const Directives& directives);
  void exceeded(const std::string& limit, const std::string& spelled);
  std::string from_root(const std::string& spelled) const;

  const std::string directory_;
  const FileOptions& options_;
  const Limits limits_;
  Collection found_;
  std::vector<std::string> spelled_;  // how the program names found_.files
  bool shows_names_ = false;          // by __FILE__, in any text
  std::size_t bytes_ = 0;
  std::deque<Includer> to_look_into_;
  /// Computed includes. Evaluated again until nothing new is found, because they depend on macros of all
  /// texts.
  std::vector<std::pair<std::string, Includer>> computed_;
  int lookups_left_ = 0;        // for the current computed name
  std::set<std::string> seen_;  // where files were reached: their includes depend on it
  std::unordered_map<std::string, std::shared_ptr<const Directives>> known_;  // by path; null: not readable
  std::unordered_map<std::string, std::set<std::string>> macros_;
};

}  // namespace fairgv::icd::includes
