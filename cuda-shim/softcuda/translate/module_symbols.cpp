#include "cuda-shim/softcuda/translate/module_symbols.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace fairgv::softcuda {
namespace {

using slicing::ptx::Operand;
using slicing::ptx::Variable;

constexpr std::uint64_t kLargestSegment = std::uint64_t{1} << 32;

bool is_in(const std::vector<std::string>& words, std::string_view word) {
  for (const std::string& each : words) {
    if (each == word) return true;
  }
  return false;
}

std::uint64_t element_size(const Variable& variable) {
  const auto type = scalar_type(variable.type);
  return type ? (type->bits + 7) / 8 : 0;
}

bool is_power_of_two(std::uint64_t value) {
  return std::has_single_bit(value);
}

}  // namespace

std::uint64_t size_of(const Variable& variable) {
  std::uint64_t size = element_size(variable) * variable.vector_length;
  for (const std::uint64_t dimension : variable.dimensions) {
    if (size != 0 && dimension > kLargestSegment / size) return kLargestSegment + 1;
    size *= dimension;
  }
  return size;
}

std::uint64_t alignment_of(const Variable& variable) {
  if (variable.alignment != 0) return variable.alignment;
  return std::max<std::uint64_t>(1, element_size(variable) * variable.vector_length);
}

ModuleSymbols::ModuleSymbols(const slicing::ptx::Module& module) {
  // Functions first declared and then defined: the definition counts.
  for (const auto& item : module.items) {
    if (const auto* function = std::get_if<slicing::ptx::Function>(&item)) {
      const slicing::ptx::Function*& known = functions_[function->name];
      if (known == nullptr || !known->body) known = function;
    } else if (const auto* variable = std::get_if<slicing::ptx::ModuleVariable>(&item)) {
      current_ = variable->variable.name;
      declare(variable->variable, variable->span.line);
    }
  }
  read_aliases(module);
  std::uint64_t offset = 0;
  for (const auto& item : module.items) {
    const auto* variable = std::get_if<slicing::ptx::ModuleVariable>(&item);
    if (variable == nullptr || !variable->variable.initial || refused_.contains(variable->variable.name))
      continue;
    current_ = variable->variable.name;
    const Memory& memory = memories_.at(current_);
    offset = memory.offset;
    fill(*variable->variable.initial, *scalar_type(variable->variable.type), offset,
         memory.offset + memory.size, variable->span.line);
  }
}

const Memory* ModuleSymbols::memory(const std::string& name) const {
  const auto found = memories_.find(name);
  return found == memories_.end() ? nullptr : &found->second;
}

// ".alias a, b;" gives the function b a second name (PTX ISA, ".alias").
void ModuleSymbols::read_aliases(const slicing::ptx::Module& module) {
  for (const auto& item : module.items) {
    const auto* parsed = std::get_if<slicing::ptx::ModuleDirective>(&item);
    if (parsed == nullptr || parsed->directive.name != "alias" || parsed->directive.words.size() < 3)
      continue;
    const auto& words = parsed->directive.words;
    const auto found = functions_.find(words[2]);
    if (found != functions_.end() && found->second->body) functions_[words[0]] = found->second;
  }
}

std::uint64_t ModuleSymbols::pointer_to(const slicing::ptx::Function& function) const {
  // Never null. A data access through it is an access to the first page, which ends the program as on a GPU.
  const auto found = functions_.find(function.name);
  return 16 * (1 + static_cast<std::uint64_t>(std::distance(functions_.begin(), found)));
}

const slicing::ptx::Function* ModuleSymbols::function(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

void ModuleSymbols::fail(int line, const std::string& what, const std::string& message) {
  refused_.try_emplace(current_, TranslationError{line, what, message});
}

void ModuleSymbols::declare(const Variable& variable, int line) {
  const std::string what = "." + variable.space + " ." + variable.type + " " + variable.name;
  if (variable.type.ends_with("ref"))  // .texref, .samplerref, .surfref
    return fail(line, what,
                "texture and surface references are not supported: use texture and surface objects");
  if (!scalar_type(variable.type)) return fail(line, what, "variables of this type are not supported");
  if (!is_power_of_two(alignment_of(variable)) || alignment_of(variable) > 4096) {
    return fail(line, what, "no alignment");
  }
  const bool external = is_in(variable.linkage, "extern");
  // PTX ISA, "Initializers". Other variables are not laid out here, so there is no place for their values.
  if (variable.initial && (external || (variable.space != "global" && variable.space != "const"))) {
    return fail(line, what, "only variables of .global and .const that are defined here have initial values");
  }
  // A definition may follow its declaration.
  if (memories_.contains(variable.name) && external) return;
  Memory memory;
  memory.size = size_of(variable);
  memory.alignment = alignment_of(variable);
  if (variable.space.starts_with("shared")) {
    memory.space = Memory::Space::kShared;
    memory.dynamic_shared = external || (!variable.dimensions.empty() && variable.dimensions[0] == 0);
  } else if (variable.space == "global" || variable.space == "const") {
    if (external) {
      memory.space = variable.space == "const" ? Memory::Space::kConst : Memory::Space::kGlobal;
      variables_.push_back(
          {variable.name, memory.size, memory.alignment, 0, variable.space == "const", true});
      memories_[variable.name] = memory;
      return;
    }
    memory = place(variable, line);
  } else {
    return fail(line, what, "variables of this space are not supported outside functions");
  }
  memories_[variable.name] = memory;
}

Memory ModuleSymbols::place(const Variable& variable, int line) {
  Memory memory;
  memory.space = variable.space == "const" ? Memory::Space::kConst : Memory::Space::kGlobal;
  memory.size = size_of(variable);
  memory.alignment = alignment_of(variable);
  // `int a[] = {1, 2, 3}` takes its size from its initialiser.
  if (memory.size == 0 && variable.initial) {
    memory.size = variable.initial->parts.size() * element_size(variable) * variable.vector_length;
  }
  memory.offset = round_up(data_.size(), memory.alignment);
  if (memory.offset + memory.size > kLargestSegment) {
    fail(line, variable.name, "the module's variables are larger than 4 GiB");
    return memory;
  }
  data_.resize(memory.offset + memory.size);
  if (memory.space == Memory::Space::kConst) constant_bytes_ += static_cast<std::uint32_t>(memory.size);
  variables_.push_back({variable.name, memory.size, memory.alignment, memory.offset,
                        memory.space == Memory::Space::kConst, false});
  return memory;
}

// Elements in the order of memory. Each brace below the outermost is a row: elements that it leaves out are
// zero.
void ModuleSymbols::fill(const Operand& initial, ScalarType type, std::uint64_t& offset, std::uint64_t end,
                         int line) {
  const std::uint64_t size = (type.bits + 7) / 8;
  if (initial.kind != Operand::Kind::kVector) {
    if (offset + size > end) return fail(line, initial.text, "more initial values than elements");
    element(initial, type, offset, line);
    offset += size;
    return;
  }
  std::size_t rows = 0;
  for (const Operand& part : initial.parts) rows += part.kind == Operand::Kind::kVector ? 1 : 0;
  const std::uint64_t row_bytes = rows > 0 ? (end - offset) / std::max<std::size_t>(rows, 1) : 0;
  for (const Operand& part : initial.parts) {
    const std::uint64_t begin = offset;
    fill(part, type, offset, end, line);
    if (part.kind == Operand::Kind::kVector) offset = begin + row_bytes;
  }
}

void ModuleSymbols::element(const Operand& initial, ScalarType type, std::uint64_t offset, int line) {
  const std::size_t size = (type.bits + 7) / 8;
  std::uint64_t bits = initial.bits;
  switch (initial.kind) {
    case Operand::Kind::kInteger:
      break;
    case Operand::Kind::kFloat:
      if (type.bits == 32 && !initial.single) {
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      } else if (type.bits == 64 && initial.single) {
        bits = std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
      }
      break;
    case Operand::Kind::kName:
      if (size != 8) return fail(line, initial.text, "an address needs 8 bytes");
      return address(initial, false, offset, line);
    case Operand::Kind::kWrapped:
      if (initial.parts.size() != 1) return fail(line, initial.text, "one name is expected here");
      if (initial.text == "generic" && size == 8) {
        Operand name = initial.parts[0];
        name.offset += initial.offset;  // generic(a)+8
        return address(name, true, offset, line);
      }
      if (size == 1 && address_byte(initial, offset, line)) return;
      return fail(line, initial.text, "this form of an address is not supported");
    default:
      return fail(line, initial.text, "no initial value");
  }
  std::memcpy(data_.data() + offset, &bits, std::min<std::size_t>(size, 8));
}

// Bytes 0 to 7 of an address one by one: the first brings the relocation, the others are part of it.
bool ModuleSymbols::address_byte(const Operand& initial, std::uint64_t offset, int line) {
  const Operand& inner = initial.parts[0];
  const Operand& name =
      inner.kind == Operand::Kind::kWrapped && !inner.parts.empty() ? inner.parts[0] : inner;
  if (const slicing::ptx::Function* called = function(name.text)) {
    if (initial.bits == 0 || std::popcount(initial.bits) != 8) return false;
    data_[offset] =
        static_cast<std::byte>((pointer_to(*called) & initial.bits) >> std::countr_zero(initial.bits));
    return true;
  }
  if (initial.bits == 0xff) {
    address(name, true, offset, line);
    return true;
  }
  return !relocations_.empty() && offset - relocations_.back().offset < 8 &&
         initial.bits == std::uint64_t{0xff} << (8 * (offset - relocations_.back().offset));
}

void ModuleSymbols::address(const Operand& name, bool generic, std::uint64_t offset, int line) {
  if (const slicing::ptx::Function* called = function(name.text)) {
    const std::uint64_t value = pointer_to(*called);
    std::memcpy(data_.data() + offset, &value, sizeof value);
    return;
  }
  const Memory* target = memory(name.text);
  if (target == nullptr || target->space == Memory::Space::kShared) {
    return fail(line, name.text, "no variable with an address");
  }
  relocations_.push_back({offset, name.text, name.offset, generic});
}

}  // namespace fairgv::softcuda
