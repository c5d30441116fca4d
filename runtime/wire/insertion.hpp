// Inserts a text into another at several places, as both sides of a session do with paths in build options.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fairgv::wire {

/// `text` with `inserted` before the character at each of `places`, which ascend and lie in the text.
template <class Places>
std::string with_insertions(std::string_view text, const Places& places, std::string_view inserted) {
  std::string result;
  std::size_t done = 0;
  for (const std::size_t place : places) {
    result += text.substr(done, place - done);
    result += inserted;
    done = place;
  }
  result += text.substr(done);
  return result;
}

}  // namespace fairgv::wire
