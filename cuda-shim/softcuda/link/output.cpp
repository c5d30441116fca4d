#include "cuda-shim/softcuda/link/output.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "cuda-shim/softcuda/link/names.hpp"
#include "cuda-shim/softcuda/translate/module_symbols.hpp"

namespace fairgv::softcuda::link {
namespace {

using slicing::ptx::Block;
using slicing::ptx::Directive;
using slicing::ptx::Function;
using slicing::ptx::Module;
using slicing::ptx::ModuleDirective;
using slicing::ptx::ModuleVariable;
using slicing::ptx::Statement;
using slicing::ptx::Variable;

/// 90 of "sm_90a".
unsigned number_of(std::string_view target) {
  unsigned number = 0;
  const std::size_t digits = std::min(target.find('_') + 1, target.size());
  std::from_chars(target.data() + digits, target.data() + target.size(), number);
  return number;
}

bool is_higher(const std::string& target, const std::string& than) {
  return std::pair(number_of(target), target.size()) > std::pair(number_of(than), than.size());
}

void add_target(const Module& from, std::vector<std::string>& targets) {
  if (from.targets.empty()) return;
  if (targets.empty()) {
    targets.push_back(from.targets[0]);
  } else if (is_higher(from.targets[0], targets[0])) {
    targets[0] = from.targets[0];
  }
  for (std::size_t at = 1; at < from.targets.size(); ++at) {
    const std::string& word = from.targets[at];
    if (word != "debug" && std::find(targets.begin(), targets.end(), word) == targets.end())
      targets.push_back(word);
  }
}

void drop_lines(Block& block) {
  std::erase_if(block.statements, [](const Statement& statement) {
    const auto* const directive = std::get_if<Directive>(&statement.content);
    return directive != nullptr && directive->name == "loc";
  });
  for (Statement& statement : block.statements) {
    if (auto* const inner = std::get_if<Block>(&statement.content)) drop_lines(*inner);
  }
}

class Output {
 public:
  Output(const std::deque<Unit>& units, const Selection& selection,
         const std::map<std::string, std::uint64_t>& alignments)
      : units_(units), selection_(selection), alignments_(alignments), new_names_(units.size()) {}

  Module write() {
    head();
    choose_names();
    for (const auto& [name, place] : selection_.declarations) declare(place);
    each_function([this](const Place& place) { prototype(place); });
    for (const Place& place : selection_.definitions) variable(place);
    for (const Place& place : selection_.definitions) body(place);
    for (const Place& place : selection_.definitions) alias(place);
    return std::move(module_);
  }

 private:
  void head() {
    for (const Unit& unit : units_) {
      const std::pair version(unit.module.version_major, unit.module.version_minor);
      if (version > std::pair(module_.version_major, module_.version_minor))
        std::tie(module_.version_major, module_.version_minor) = version;
      if (unit.inclusion != Inclusion::kReached) add_target(unit.module, module_.targets);
    }
    if (module_.targets.empty()) module_.targets.emplace_back("sm_75");  // nothing is in it
    if (module_.version_major == 0) module_.version_major = 8;
  }

  void choose_names() {
    std::set<std::string> taken;
    std::set<std::string> avoided;
    for (const auto& [name, place] : selection_.declarations) taken.insert(name);
    for (const Place& place : selection_.definitions) {
      if (place.symbol->binding == Binding::kPrivate) continue;
      taken.insert(place.symbol->name);
      in_common_.emplace(place.symbol->name, place);
    }
    for (const Unit& unit : units_) {
      for (const auto& [name, symbol] : unit.symbols) avoided.insert(name);
    }
    for (const Place& place : selection_.definitions) {
      const std::string& name = place.symbol->name;
      if (place.symbol->binding != Binding::kPrivate || taken.insert(name).second) continue;
      std::string other;
      for (int number = 2; other.empty() || avoided.contains(other) || taken.contains(other); ++number)
        other = name + "$" + std::to_string(number);
      taken.insert(other);
      new_names_[place.unit][name] = other;
    }
  }

  NameVisitor renaming(std::size_t unit) const {
    return [&names = new_names_[unit]](std::string& name) {
      const auto found = names.find(name);
      if (found != names.end()) name = found->second;
    };
  }

  template <typename Item>
  const Item* item(const Place& place) const {
    return std::get_if<Item>(&units_[place.unit].module.items[place.symbol->item]);
  }

  template <typename Each>
  void each_function(const Each& each) const {
    for (const Place& place : selection_.definitions) {
      const auto* const function = item<Function>(place);
      if (function != nullptr && !function->entry) each(place);
    }
  }

  Function renamed(const Function& from, std::size_t unit) const {
    Function function = from;
    const NameVisitor rename = renaming(unit);
    rename(function.name);
    visit_names(function, rename);
    return function;
  }

  Variable renamed(const Variable& from, std::size_t unit) const {
    Variable variable = from;
    const NameVisitor rename = renaming(unit);
    rename(variable.name);
    visit_names(variable, rename);
    const auto asked = alignments_.find(variable.name);
    if (!variable.linkage.empty() && asked != alignments_.end() && asked->second > alignment_of(variable))
      variable.alignment = static_cast<std::uint32_t>(asked->second);
    return variable;
  }

  void declare(const Place& place) {
    if (const auto* const function = item<Function>(place)) {
      module_.items.emplace_back(*function);
    } else if (const auto* const declared = item<ModuleVariable>(place)) {
      module_.items.emplace_back(ModuleVariable{{}, renamed(declared->variable, place.unit)});
    }
  }

  void prototype(const Place& place) {
    Function function = *item<Function>(place);
    renaming(place.unit)(function.name);
    function.body.reset();
    module_.items.emplace_back(std::move(function));
  }

  /// Behind the variables whose addresses are among its values. Of two that point to each other one comes
  /// first.
  void variable(const Place& place) {
    std::vector<Place> open{place};  // chains may be long
    while (!open.empty()) {
      const Place at = open.back();
      const auto* const defined = at.symbol->defined ? item<ModuleVariable>(at) : nullptr;
      if (defined != nullptr && entered_.insert(at.symbol).second) {
        for (const std::string& name : at.symbol->needs) open.push_back(definition(at.unit, name));
        continue;
      }
      open.pop_back();
      if (defined != nullptr && written_.insert(at.symbol).second)
        module_.items.emplace_back(ModuleVariable{{}, renamed(defined->variable, at.unit)});
    }
  }

  /// Where a name leads, or the unit's own declaration.
  Place definition(std::size_t unit, const std::string& name) const {
    const Symbol& symbol = *units_[unit].symbol(name);
    const auto common = in_common_.find(name);
    return symbol.binding == Binding::kPrivate || common == in_common_.end() ? Place{unit, &symbol}
                                                                             : common->second;
  }

  void body(const Place& place) {
    const auto* const defined = item<Function>(place);
    if (defined == nullptr || !defined->body) return;
    Function function = renamed(*defined, place.unit);
    drop_lines(*function.body);
    module_.items.emplace_back(std::move(function));
  }

  void alias(const Place& place) {
    if (!place.symbol->alias_of) return;
    std::string name = place.symbol->name;
    std::string target = *place.symbol->alias_of;
    renaming(place.unit)(name);
    renaming(place.unit)(target);
    module_.items.emplace_back(ModuleDirective{{}, {"alias", {name, ",", target, ";"}}});
  }

  const std::deque<Unit>& units_;
  const Selection& selection_;
  const std::map<std::string, std::uint64_t>& alignments_;
  std::vector<std::map<std::string, std::string>> new_names_;  // by unit
  std::map<std::string, Place> in_common_;                     // definitions that all units know
  std::set<const Symbol*> entered_;                            // variables
  std::set<const Symbol*> written_;
  Module module_;
};

}  // namespace

Module write_output(const std::deque<Unit>& units, const Selection& selection,
                    const std::map<std::string, std::uint64_t>& alignments) {
  return Output(units, selection, alignments).write();
}

}  // namespace fairgv::softcuda::link
