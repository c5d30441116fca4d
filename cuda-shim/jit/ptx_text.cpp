#include "cuda-shim/jit/ptx_text.hpp"

namespace fairgv::jit {

bool is_ptx(std::string_view text) {
  const auto skip_behind = [&](std::string_view end) {
    const auto at = text.find(end);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  };
  while (!text.empty()) {
    const auto at = text.find_first_not_of(" \t\r\n\v\f");
    text.remove_prefix(at == std::string_view::npos ? text.size() : at);
    if (text.starts_with("//")) {
      skip_behind("\n");
    } else if (text.starts_with("/*")) {
      skip_behind("*/");
    } else {
      return text.starts_with(".version");
    }
  }
  return false;
}

}  // namespace fairgv::jit
