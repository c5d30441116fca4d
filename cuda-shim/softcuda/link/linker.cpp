#include "cuda-shim/softcuda/link/linker.hpp"

#include <algorithm>
#include <set>

#include "cuda-shim/softcuda/link/output.hpp"

namespace fairgv::softcuda::link {
namespace {

/// Functions that the driver has, by the names that nvlink leaves open.
bool is_of_driver(const Symbol& symbol) {
  constexpr std::string_view kNames[] = {"vprintf", "vfprintf",     "malloc",
                                         "free",    "__assertfail", "cudaGraphSetConditional"};
  if (!symbol.is_function()) return false;
  return std::find(std::begin(kNames), std::end(kNames), symbol.name) != std::end(kNames) ||
         symbol.name.starts_with("__cuda_syscall_") || symbol.name.starts_with("cnp");
}

/// gABI, "Symbol Table": a common definition counts more than a weak one.
int strength(const Symbol& symbol) {
  switch (symbol.binding) {
    case Binding::kStrong:
      return 3;
    case Binding::kCommon:
      return 2;
    default:
      return 1;
  }
}

std::string in_quotes(const std::string& name) {
  return "'" + name + "'";
}

bool same_prototype(const Shape& one, const Shape& other) {
  return one.results == other.results && one.parameters == other.parameters;
}

}  // namespace

Messages Linker::add(Unit unit) {
  if (unit.inclusion == Inclusion::kWhole) return take(std::move(unit));
  members_.push_back(std::move(unit));
  return {};
}

Messages Linker::take(Unit unit) {
  Messages errors;
  if (unit.module.address_size != 64) {
    errors.push_back(in_quotes(unit.name) + " has addresses of " + std::to_string(unit.module.address_size) +
                     " bits: only 64-bit modules are supported");
  }
  for (const auto& [name, symbol] : unit.symbols) {
    if (auto error = conflict(unit, symbol)) errors.push_back(std::move(*error));
  }
  if (!errors.empty()) return errors;
  units_.push_back(std::move(unit));
  for (const auto& [name, symbol] : units_.back().symbols) note(units_.size() - 1, symbol);
  return {};
}

std::optional<std::string> Linker::conflict(const Unit& unit, const Symbol& symbol) const {
  const auto known = globals_.find(symbol.name);
  if (symbol.binding == Binding::kPrivate || known == globals_.end()) return std::nullopt;
  const Global& global = known->second;
  const auto says = [&](const char* what, const char* first, const Place& place) {
    return std::string(what) + ' ' + in_quotes(symbol.name) + " in " + in_quotes(unit.name) + ", first " +
           first + " in " + in_quotes(units_[place.unit].name);
  };
  const Place& other = global.definition ? *global.definition : global.first;
  if (symbol.defined && global.definition && symbol.binding == Binding::kStrong &&
      other.symbol->binding == Binding::kStrong)
    return says("Multiple definition of", "defined", other);
  if (symbol.shape.space != other.symbol->shape.space)
    return says("Memory space doesn't match for", "specified", other);
  if (symbol.is_function() && !same_prototype(symbol.shape, other.symbol->shape))
    return says("Prototype doesn't match for", "specified", other);
  const bool may_differ = symbol.binding == Binding::kCommon || other.symbol->binding == Binding::kCommon ||
                          !symbol.shape.size || !other.symbol->shape.size;
  if (!may_differ && symbol.shape.size != other.symbol->shape.size)
    return says("Size doesn't match for", "specified", other);
  return std::nullopt;
}

void Linker::note(std::size_t unit, const Symbol& symbol) {
  if (symbol.binding == Binding::kPrivate) return;
  const Place place{unit, &symbol};
  Global& global = globals_.try_emplace(symbol.name, Global{place, std::nullopt, 1}).first->second;
  global.alignment = std::max(global.alignment, symbol.alignment);
  if (!symbol.defined) return;
  const auto larger = [&] {
    return symbol.binding == Binding::kCommon && symbol.shape.size > global.definition->symbol->shape.size;
  };
  const int gained = global.definition ? strength(symbol) - strength(*global.definition->symbol) : 1;
  if (gained > 0 || (gained == 0 && larger())) global.definition = place;
}

std::optional<Place> Linker::resolve(std::size_t unit, const Symbol& symbol) const {
  if (symbol.binding == Binding::kPrivate)
    return symbol.defined ? std::optional(Place{unit, &symbol}) : std::nullopt;
  return globals_.find(symbol.name)->second.definition;
}

bool Linker::is_chosen(const Place& place) const {
  return place.symbol->defined && resolve(place.unit, *place.symbol) == place;
}

Selection Linker::select() const {
  Selection selection;
  std::set<std::pair<std::size_t, const Symbol*>> seen;
  std::vector<Place> open;
  const auto reach = [&](const Place& place) {
    if (seen.emplace(place.unit, place.symbol).second) open.push_back(place);
  };
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (units_[unit].inclusion == Inclusion::kReached) continue;
    for (const auto& [name, symbol] : units_[unit].symbols) {
      if (is_chosen({unit, &symbol})) reach({unit, &symbol});
    }
  }
  while (!open.empty()) {
    const Place at = open.back();
    open.pop_back();
    selection.definitions.push_back(at);
    for (const std::string& name : at.symbol->needs) {
      const Symbol& needed = *units_[at.unit].symbol(name);
      if (const auto place = resolve(at.unit, needed)) {
        reach(*place);
      } else if (is_of_driver(needed) || needed.is_dynamic_shared()) {
        selection.declarations.try_emplace(name, Place{at.unit, &needed});
      } else {
        selection.undefined.try_emplace(name, at.unit);
      }
    }
  }
  std::sort(selection.definitions.begin(), selection.definitions.end(), [](const Place& a, const Place& b) {
    return std::pair(a.unit, a.symbol->item) < std::pair(b.unit, b.symbol->item);
  });
  return selection;
}

bool Linker::take_member_for(const Selection& selection, Messages& errors) {
  const auto serves = [&selection](const Unit& member) {
    return std::any_of(selection.undefined.begin(), selection.undefined.end(), [&member](const auto& each) {
      const Symbol* const symbol = member.symbol(each.first);
      return symbol != nullptr && symbol->defined && symbol->binding != Binding::kPrivate;
    });
  };
  const auto found = std::find_if(members_.begin(), members_.end(), serves);
  if (found == members_.end()) return false;
  Unit member = std::move(*found);
  members_.erase(found);
  const Messages refused = take(std::move(member));
  errors.insert(errors.end(), refused.begin(), refused.end());
  return true;
}

slicing::ptx::Module Linker::link(Messages& errors) {
  const std::size_t before = errors.size();
  Selection selection = select();
  while (!selection.undefined.empty() && take_member_for(selection, errors)) selection = select();
  for (const auto& [name, unit] : selection.undefined)
    errors.push_back("Undefined reference to " + in_quotes(name) + " in " + in_quotes(units_[unit].name));
  if (errors.size() != before) {
    errors.insert(errors.end(), remarks_.begin(), remarks_.end());
    return {};
  }
  std::map<std::string, std::uint64_t> alignments;
  for (const auto& [name, global] : globals_) alignments[name] = global.alignment;
  return write_output(units_, selection, alignments);
}

}  // namespace fairgv::softcuda::link
