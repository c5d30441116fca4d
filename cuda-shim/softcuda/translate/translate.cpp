#include "cuda-shim/softcuda/translate/translate.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include "cuda-shim/softcuda/translate/call_graph.hpp"
#include "cuda-shim/softcuda/translate/device_library.hpp"
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

bool calls(const std::vector<KernelInfo>& kernels, std::string_view functions) {
  return std::any_of(kernels.begin(), kernels.end(), [functions](const KernelInfo& each) {
    return each.source.find(functions) != std::string::npos;
  });
}

std::string prelude(const std::vector<KernelInfo>& kernels) {
  std::string text;
  for (const std::string_view part : {kPreludeBase, kPreludeInteger, kPreludeFloat, kPreludeAtomic})
    text += part;
  const auto any = [&kernels](bool KernelInfo::*uses) {
    return std::any_of(kernels.begin(), kernels.end(), [uses](const KernelInfo& each) { return each.*uses; });
  };
  if (calls(kernels, "fgv_d64_")) text += kPreludeDouble;
  if (calls(kernels, "fgv_mma_")) text += kPreludeMatrix;
  if (any(&KernelInfo::stepped)) text += kPreludeStepped;
  if (any(&KernelInfo::cooperates)) text += kPreludeGrid;
  if (any(&KernelInfo::uses_images)) text += kPreludeImage;
  if (any(&KernelInfo::uses_heap)) text += kPreludeHeap;
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

namespace {

// More kernels than any real one give up: each try writes the whole kernel anew.
constexpr int kMostTries = 64;

class ModuleTranslator {
 public:
  explicit ModuleTranslator(const slicing::ptx::Module& module)
      : module_(module), symbols_(module), graph_(module, symbols_) {
    result_.data = symbols_.data();
  }

  TranslatedModule run() {
    for (const auto& [name, error] : symbols_.refused()) result_.refused.push_back({name, error, false});
    for (const auto& item : module_.items) {
      const auto* function = std::get_if<slicing::ptx::Function>(&item);
      if (function != nullptr && function->entry && function->body) kernel(*function);
    }
    result_.prelude = prelude(result_.kernels);
    result_.build_options = "-cl-std=CL1.2 -w";
    result_.variables = symbols_.variables();
    result_.relocations = symbols_.relocations();
    result_.architecture = architecture_of(module_);
    return std::move(result_);
  }

 private:
  void kernel(const slicing::ptx::Function& function) {
    for (int tries = 0;; ++tries) {
      auto error = attempt(function);
      if (!error) return;
      // A function that this kernel may only call through a pointer fails when it is called.
      if (error->target == nullptr || tries == kMostTries) {
        result_.refused.push_back({function.name, std::move(error->error)});
        return;
      }
      refused_targets_[error->target] =
          place_text(error->target->name + " cannot run on the soft device: " + error->error.text());
    }
  }

  std::optional<FlattenError> attempt(const slicing::ptx::Function& function) {
    auto flattened = flatten(function, symbols_, graph_, refused_targets_);
    if (auto* error = std::get_if<FlattenError>(&flattened)) return std::move(*error);
    auto& kernel = std::get<Flattened>(flattened);
    kernel.info.function = identifier(function.name, result_.kernels.size());
    if (auto error = write_kernel(kernel, kernel.info.source)) return error;
    result_.kernels.push_back(std::move(kernel.info));
    return std::nullopt;
  }

  std::uint64_t place_text(const std::string& text) {
    const std::uint64_t offset = result_.data.size();
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.c_str());
    result_.data.insert(result_.data.end(), bytes, bytes + text.size() + 1);
    return offset;
  }

  const slicing::ptx::Module& module_;
  const ModuleSymbols symbols_;
  const CallGraph graph_;
  RefusedTargets refused_targets_;
  TranslatedModule result_;
};

}  // namespace

std::string TranslatedModule::source() const {
  std::string text = prelude;
  for (const KernelInfo& kernel : kernels) text += kernel.source;
  return text;
}

Translation translate(std::string_view ptx) {
  auto parsed = slicing::ptx::parse(ptx);
  if (const auto* error = std::get_if<slicing::ptx::ParseError>(&parsed)) {
    return TranslationError{error->line, "", error->message};
  }
  auto& module = std::get<slicing::ptx::Module>(parsed);
  if (module.address_size != 64)
    return TranslationError{0, ".address_size", "only 64-bit modules are supported"};
  define_device_functions(module);
  return ModuleTranslator(module).run();
}

}  // namespace fairgv::softcuda
