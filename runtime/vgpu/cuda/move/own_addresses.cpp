#include "runtime/vgpu/cuda/move/own_addresses.hpp"

#include <fmt/core.h>

#include <utility>
#include <variant>

#include "runtime/vgpu/cuda/module_image.hpp"
#include "slicing/ptx/model.hpp"
#include "slicing/ptx/parser.hpp"

namespace fairgv::vgpu::cuda {
namespace {

namespace ptx = slicing::ptx;
using Reason = std::optional<std::string>;

Reason reason_in(const ptx::Variable& variable) {
  if (variable.space != "global" && variable.space != "const") return std::nullopt;
  return fmt::format("it has variables ({}), which lie where the driver puts them", variable.name);
}

Reason reason_in(const ptx::Directive& directive) {
  if (directive.name != "callprototype" && directive.name != "calltargets") return std::nullopt;
  return "it calls functions by their addresses";
}

Reason reason_in(const ptx::Instruction&) {
  return std::nullopt;
}
Reason reason_in(const ptx::Label&) {
  return std::nullopt;
}

Reason reason_in(const ptx::Block& block) {
  for (const ptx::Statement& statement : block.statements) {
    if (auto reason = std::visit([](const auto& content) { return reason_in(content); }, statement.content))
      return reason;
  }
  return std::nullopt;
}

Reason reason_in(const ptx::Function& function) {
  if (function.body) return reason_in(*function.body);
  if (function.name != "malloc" && function.name != "free") return std::nullopt;
  return "its kernels allocate memory";
}

Reason reason_in(const ptx::ModuleVariable& variable) {
  return reason_in(variable.variable);
}
Reason reason_in(const ptx::ModuleDirective& directive) {
  return reason_in(directive.directive);
}

}  // namespace

std::optional<std::string> own_addresses(std::span<const std::byte> image, std::uint32_t capability) {
  const auto text = text_of(image, capability);
  if (const auto* const whole = std::get_if<WholeImage>(&text)) return whole->why;
  const auto parsed = ptx::parse(std::get<std::string>(text));
  const auto* const module = std::get_if<ptx::Module>(&parsed);
  if (module == nullptr) return "its PTX cannot be read";
  for (const auto& item : module->items) {
    if (auto reason = std::visit([](const auto& each) { return reason_in(each); }, item)) return reason;
  }
  return std::nullopt;
}

}  // namespace fairgv::vgpu::cuda
