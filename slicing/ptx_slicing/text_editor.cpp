#include "slicing/ptx_slicing/text_editor.hpp"

#include <algorithm>

namespace fairgv::slicing::ptx {

void TextEditor::replace(std::size_t begin, std::size_t end, std::string text) {
  edits_.push_back({begin, end, std::move(text)});
}

std::string TextEditor::apply(std::string_view original, std::size_t begin, std::size_t end) const {
  std::vector<const Edit*> sorted;
  for (const Edit& edit : edits_) sorted.push_back(&edit);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Edit* a, const Edit* b) { return a->begin < b->begin; });
  std::string text;
  std::size_t done = begin;
  for (const Edit* edit : sorted) {
    text += original.substr(done, edit->begin - done);
    text += edit->text;
    done = edit->end;
  }
  text += original.substr(done, end - done);
  return text;
}

}  // namespace fairgv::slicing::ptx
