// Insertions and replacements in a text, given in any order by places of the original and made all at once in
// a part of it. Private to the PTX slicer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairgv::slicing::ptx {

class TextEditor {
 public:
  /// Edits may not overlap. Insertions at one place stand in the order in which they were given.
  void insert(std::size_t at, std::string text) { replace(at, at, std::move(text)); }
  void replace(std::size_t begin, std::size_t end, std::string text);

  /// The part of the original from `begin` to `end`, in which all edits are.
  std::string apply(std::string_view original, std::size_t begin, std::size_t end) const;

 private:
  struct Edit {
    std::size_t begin;
    std::size_t end;
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace fairgv::slicing::ptx
