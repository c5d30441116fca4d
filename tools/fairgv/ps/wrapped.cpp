#include <sstream>

#include "tools/fairgv/ps/ps_table.hpp"
#include "tools/fairgv/top/text.hpp"

namespace fairgv::tools {

std::vector<std::string> wrapped(const std::string& text, std::size_t width, std::size_t first,
                                 std::size_t others) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  std::string line(first, ' ');
  bool empty = true;
  for (std::string word; words >> word;) {
    if (!empty && top::width_of(line) + 1 + top::width_of(word) > width) {
      lines.push_back(std::move(line));
      line = std::string(others, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace fairgv::tools
