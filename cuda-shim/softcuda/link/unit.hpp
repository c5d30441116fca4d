// One input of a linking, as a table of the names of its module scope (PTX ISA, "Linking Directives").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "slicing/ptx/model.hpp"

namespace fairgv::softcuda::link {

/// How a name is known to other units: not at all, as the only one of its name (.visible), unless there is a
/// strong one (.weak), or as memory that all units share (.common).
enum class Binding { kPrivate, kStrong, kWeak, kCommon };

/// The form of a symbol: two units that mean the same thing must agree about it.
struct Shape {
  std::string space;                  // "global", "const", "shared", "func", "entry"
  std::optional<std::uint64_t> size;  // bytes of a variable; nothing: an array whose size is not said
  std::vector<std::uint64_t> results;
  std::vector<std::uint64_t> parameters;  // bytes
};

struct Symbol {
  std::string name;
  Binding binding = Binding::kPrivate;
  bool external = false;  // .extern, and no definition in the unit
  Shape shape;
  std::uint64_t alignment = 1;
  std::size_t item = 0;                 // of the module's: the definition, or else a declaration
  bool defined = false;                 // here
  std::optional<std::string> alias_of;  // a function's second name (.alias)
  std::set<std::string> needs;          // names of the unit that it mentions

  bool is_function() const { return shape.space == "func" || shape.space == "entry"; }
  /// `.extern .shared` memory of the size that a launch says. It has no definition anywhere.
  bool is_dynamic_shared() const { return external && shape.space == "shared" && !shape.size; }
};

/// How much of a unit becomes part of the result.
enum class Inclusion {
  kWhole,    // all, as of an input that is named by itself
  kMember,   // all, if another unit needs one of its names: a library's member
  kReached,  // what other units need: the toolkit's device runtime, with its many kernels
};

struct Unit {
  std::string name;  // for messages
  Inclusion inclusion = Inclusion::kWhole;
  slicing::ptx::Module module;
  std::map<std::string, Symbol, std::less<>> symbols;

  /// Null: the unit has no such name.
  const Symbol* symbol(std::string_view symbol_name) const;
};

/// `inclusion` gives way to kReached for the device runtime (libcudadevrt.a).
Unit make_unit(std::string name, slicing::ptx::Module module, Inclusion inclusion);

}  // namespace fairgv::softcuda::link
