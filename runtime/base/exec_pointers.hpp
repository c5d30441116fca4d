// Lists of texts as execve(2) and its kin take them.
#pragma once

#include <string>
#include <vector>

namespace fairgv {

/// Pointers to the texts, and null at the end: valid as long as the texts are, unchanged. The called functions do not
/// write through them.
inline std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace fairgv
