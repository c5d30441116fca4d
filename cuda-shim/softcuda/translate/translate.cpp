#include "cuda-shim/softcuda/translate/translate.hpp"

#include <algorithm>
#include <charconv>

#include "cuda-shim/softcuda/translate/flatten.hpp"
#include "cuda-shim/softcuda/translate/module_symbols.hpp"
#include "cuda-shim/softcuda/translate/prelude_text.hpp"
#include "cuda-shim/softcuda/translate/write/kernel.hpp"
#include "slicing/ptx/parser.hpp"

namespace fairgv::softcuda {
namespace {

// A legal and unique name, short enough for a driver that makes it a file's name.
std::string identifier(const std::string& name, std::size_t number) {
  std::string text = "k" + std::to_string(number) + "_";
  for (const char c : name.substr(0, 80)) {
    const bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    text += legal ? c : '_';
  }
  return text;
}

std::string prelude(const std::vector<KernelInfo>& kernels) {
  std::string text;
  for (const std::string_view part : {kPreludeBase, kPreludeInteger, kPreludeFloat, kPreludeAtomic})
    text += part;
  const auto any = [&kernels](bool KernelInfo::*uses) {
    return std::any_of(kernels.begin(), kernels.end(), [uses](const KernelInfo& each) { return each.*uses; });
  };
  if (any(&KernelInfo::stepped)) text += kPreludeStepped;
  if (any(&KernelInfo::uses_images)) text += kPreludeImage;
  return text;
}

// 75 of "sm_75" and "compute_75", 90 of "sm_90a".
std::uint32_t architecture_of(const slicing::ptx::Module& module) {
  std::uint32_t number = 0;
  if (module.targets.empty()) return number;
  const std::string& target = module.targets.front();
  const std::string_view digits =
      std::string_view(target).substr(std::min(target.find('_') + 1, target.size()));
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

std::string TranslationError::text() const {
  std::string line_text = line > 0 ? "PTX line " + std::to_string(line) + ": " : "PTX: ";
  return line_text + (instruction.empty() ? "" : "`" + instruction + "`: ") + message;
}

Translation translate(std::string_view ptx) {
  auto parsed = slicing::ptx::parse(ptx);
  if (const auto* error = std::get_if<slicing::ptx::ParseError>(&parsed)) {
    return TranslationError{error->line, "", error->message};
  }
  const auto& module = std::get<slicing::ptx::Module>(parsed);
  if (module.address_size != 64)
    return TranslationError{0, ".address_size", "only 64-bit modules are supported"};
  const ModuleSymbols symbols(module);
  if (symbols.error() != nullptr) return *symbols.error();
  TranslatedModule result;
  std::string kernels;
  for (const auto& item : module.items) {
    const auto* function = std::get_if<slicing::ptx::Function>(&item);
    if (function == nullptr || !function->entry || !function->body) continue;
    auto flattened = flatten(*function, symbols);
    if (auto* error = std::get_if<TranslationError>(&flattened)) return std::move(*error);
    auto& kernel = std::get<Flattened>(flattened);
    kernel.info.function = identifier(function->name, result.kernels.size());
    if (auto error = write_kernel(kernel, kernels)) return std::move(*error);
    result.kernels.push_back(std::move(kernel.info));
  }
  result.source = prelude(result.kernels) + kernels;
  result.build_options = "-cl-std=CL1.2 -w";
  result.variables = symbols.variables();
  result.data = symbols.data();
  result.relocations = symbols.relocations();
  result.architecture = architecture_of(module);
  return result;
}

}  // namespace fairgv::softcuda
