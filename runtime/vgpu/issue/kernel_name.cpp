#include "runtime/vgpu/issue/kernel_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace fairgv::vgpu {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

}  // namespace

std::string kernel_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (demangled == nullptr) return symbol;
  std::string_view rest = demangled.get();
  std::string name;
  for (unsigned depth = 0; !rest.empty(); rest.remove_prefix(1)) {
    while (rest.starts_with(kAnonymous)) rest.remove_prefix(kAnonymous.size());
    if (rest.empty()) break;
    const char next = rest.front();
    if (next == '<') ++depth;
    if (depth == 0) {
      if (next == '(') break;
      // "void blur" of a template: the type comes first.
      next == ' ' ? name.clear() : name.push_back(next);
    }
    if (next == '>' && depth != 0) --depth;
  }
  return name.empty() ? symbol : name;
}

}  // namespace fairgv::vgpu
