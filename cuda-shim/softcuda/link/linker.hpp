// Links PTX texts into one, as nvlink links machine code: names are resolved between the units, private names
// that clash are renamed, and library members come in when something needs them. Pure logic, for one thread
// at a time.
//
// Messages have nvlink's words, a line for each name.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda-shim/softcuda/link/unit.hpp"

namespace fairgv::softcuda::link {

using Messages = std::vector<std::string>;

/// A symbol of a unit that was taken.
struct Place {
  std::size_t unit = 0;
  const Symbol* symbol = nullptr;

  bool operator==(const Place&) const = default;
};

/// The parts of the result, in the order of units and of their texts.
struct Selection {
  std::vector<Place> definitions;
  std::map<std::string, Place> declarations;     // functions of the driver, and memory that a launch sizes
  std::map<std::string, std::size_t> undefined;  // names, and the unit that needs each
};

class Linker {
 public:
  /// Whole units are checked against the others at once: not empty: why the unit cannot be linked, and it is
  /// left out. Members of libraries wait until they are needed.
  Messages add(Unit unit);
  /// A line that explains a name that stays undefined: something could not be added.
  void add_remark(std::string line) { remarks_.push_back(std::move(line)); }

  /// The result, if no error is added to `errors`. More units may follow, and another call.
  slicing::ptx::Module link(Messages& errors);

 private:
  /// A name that units have in common.
  struct Global {
    Place first;  // definition or declaration
    std::optional<Place> definition;
    std::uint64_t alignment = 1;  // the largest that a unit has asked for
  };

  Messages take(Unit unit);
  std::optional<std::string> conflict(const Unit& unit, const Symbol& symbol) const;
  void note(std::size_t unit, const Symbol& symbol);
  Selection select() const;
  bool is_chosen(const Place& place) const;
  /// Where the unit's name leads. Nothing: it is declared, and not defined.
  std::optional<Place> resolve(std::size_t unit, const Symbol& symbol) const;
  bool take_member_for(const Selection& selection, Messages& errors);

  std::deque<Unit> units_;  // symbols are pointed to
  std::deque<Unit> members_;
  std::map<std::string, Global, std::less<>> globals_;
  Messages remarks_;
};

}  // namespace fairgv::softcuda::link
