#include "tools/fairgv/promises.hpp"

namespace fairgv::tools {

std::string promises_text(const Promises& promises) {
  std::string text;
  const auto add = [&](bool differs, const std::string& part) {
    if (differs) text += (text.empty() ? "" : ", ") + part;
  };
  add(promises.has_min(), "min " + promises.min);
  add(promises.has_max(), "max " + promises.max);
  add(promises.has_service(), "class " + promises.service);
  return text;
}

}  // namespace fairgv::tools
