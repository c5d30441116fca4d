#include "cuda-shim/softcuda/link/unit.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "cuda-shim/softcuda/link/names.hpp"
#include "cuda-shim/softcuda/translate/module_symbols.hpp"

namespace fairgv::softcuda::link {
namespace {

using slicing::ptx::Function;
using slicing::ptx::Module;
using slicing::ptx::ModuleDirective;
using slicing::ptx::ModuleVariable;
using slicing::ptx::Variable;

bool is_in(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Binding binding_of(const std::vector<std::string>& linkage) {
  if (is_in(linkage, "weak")) return Binding::kWeak;
  if (is_in(linkage, "common")) return Binding::kCommon;
  return is_in(linkage, "visible") || is_in(linkage, "extern") ? Binding::kStrong : Binding::kPrivate;
}

std::optional<std::uint64_t> stated_size(const Variable& variable) {
  const std::uint64_t size = size_of(variable);
  if (size != 0) return size;
  if (!variable.initial) return std::nullopt;
  Variable element = variable;  // `a[] = {1, 2}` has the size of its values
  element.dimensions.clear();
  return size_of(element) * variable.initial->parts.size();
}

Symbol symbol_of(const Function& function) {
  Symbol symbol;
  symbol.name = function.name;
  symbol.binding = binding_of(function.linkage);
  symbol.defined = function.body.has_value();
  symbol.external = is_in(function.linkage, "extern") && !symbol.defined;
  symbol.shape.space = function.entry ? "entry" : "func";
  for (const Variable& each : function.returns) symbol.shape.results.push_back(size_of(each));
  for (const Variable& each : function.parameters) symbol.shape.parameters.push_back(size_of(each));
  return symbol;
}

Symbol symbol_of(const Variable& variable) {
  Symbol symbol;
  symbol.name = variable.name;
  symbol.binding = binding_of(variable.linkage);
  symbol.external = is_in(variable.linkage, "extern");
  symbol.defined = !symbol.external;
  symbol.shape.space = variable.space.substr(0, variable.space.find(':'));  // shared::cta is shared
  symbol.shape.size = stated_size(variable);
  symbol.alignment = alignment_of(variable);
  return symbol;
}

/// A name that is declared and then defined is what its definition says.
void add(Unit& unit, Symbol symbol, std::size_t item) {
  symbol.item = item;
  const auto known = unit.symbols.find(symbol.name);
  if (known == unit.symbols.end()) {
    unit.symbols.emplace(symbol.name, std::move(symbol));
  } else if (symbol.defined && !known->second.defined) {
    known->second = std::move(symbol);
  }
}

void read_aliases(Unit& unit) {
  for (const auto& item : unit.module.items) {
    const auto* parsed = std::get_if<ModuleDirective>(&item);
    if (parsed == nullptr || parsed->directive.name != "alias" || parsed->directive.words.size() < 3)
      continue;
    const auto found = unit.symbols.find(parsed->directive.words[0]);
    if (found == unit.symbols.end() || found->second.defined) continue;
    Symbol& alias = found->second;
    alias.alias_of = parsed->directive.words[2];
    alias.needs.insert(*alias.alias_of);
    alias.defined = true;
    alias.external = false;
  }
}

void read_needs(Unit& unit) {
  for (auto& [name, symbol] : unit.symbols) {
    const NameVisitor note = [&unit, &needs = symbol.needs](const std::string& mentioned) {
      if (unit.symbols.contains(mentioned)) needs.insert(mentioned);
    };
    auto& item = unit.module.items[symbol.item];
    if (auto* function = std::get_if<Function>(&item)) {
      visit_names(*function, note);
    } else if (auto* variable = std::get_if<ModuleVariable>(&item)) {
      visit_names(variable->variable, note);
    }
  }
}

/// By functions that nothing else may define.
bool is_device_runtime(const Unit& unit) {
  const Symbol* const symbol = unit.symbol("cudaGetParameterBufferV2");
  return symbol != nullptr && symbol->defined;
}

}  // namespace

const Symbol* Unit::symbol(std::string_view symbol_name) const {
  const auto found = symbols.find(symbol_name);
  return found != symbols.end() ? &found->second : nullptr;
}

Unit make_unit(std::string name, Module module, Inclusion inclusion) {
  Unit unit{std::move(name), inclusion, std::move(module), {}};
  for (std::size_t at = 0; at < unit.module.items.size(); ++at) {
    const auto& item = unit.module.items[at];
    if (const auto* function = std::get_if<Function>(&item)) {
      add(unit, symbol_of(*function), at);
    } else if (const auto* variable = std::get_if<ModuleVariable>(&item)) {
      add(unit, symbol_of(variable->variable), at);
    }
  }
  read_aliases(unit);
  read_needs(unit);
  if (is_device_runtime(unit)) unit.inclusion = Inclusion::kReached;
  return unit;
}

}  // namespace fairgv::softcuda::link
