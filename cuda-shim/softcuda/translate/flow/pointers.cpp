#include "cuda-shim/softcuda/translate/flow/pointers.hpp"

#include "cuda-shim/softcuda/translate/flow/flow.hpp"

namespace fairgv::softcuda {
namespace {

bool is_pointer(const Argument& argument, const std::vector<bool>& pointers) {
  return argument.kind == Argument::Kind::kRegister && pointers[static_cast<std::size_t>(argument.id)];
}

bool keeps_pointer(const FlatKernel& kernel, const FlatInstruction& i, const std::vector<bool>& pointers) {
  if (i.arguments.size() < 2 || i.arguments[0].kind != Argument::Kind::kRegister) return false;
  const Argument& source = i.arguments[1];
  if (i.name == "cvta") return i.has("to") && i.has("global") && source.kind == Argument::Kind::kRegister;
  if (i.name == "mov") {
    if (source.kind != Argument::Kind::kMemory) return is_pointer(source, pointers);
    const Memory::Space space = kernel.memories[static_cast<std::size_t>(source.id)].space;
    return space == Memory::Space::kGlobal || space == Memory::Space::kConst;
  }
  return i.name == "add" && i.arguments.size() == 3 && (i.has("s64") || i.has("u64")) && !i.has("cc") &&
         (is_pointer(i.arguments[1], pointers) || is_pointer(i.arguments[2], pointers));
}

}  // namespace

std::size_t pointer_operand(const FlatInstruction& add, const std::vector<bool>& pointers) {
  return is_pointer(add.arguments[1], pointers) ? 1 : 2;
}

std::vector<bool> find_pointers(const FlatKernel& kernel) {
  std::vector<bool> pointers(kernel.registers.size());
  for (std::size_t id = 0; id < pointers.size(); ++id) pointers[id] = kernel.registers[id].bits == 64;
  for (bool changed = true; changed;) {
    changed = false;
    for (const FlatInstruction& i : kernel.instructions) {
      if (i.is_label()) continue;
      for (const int id : registers_of(i).writes) {
        if (!pointers[static_cast<std::size_t>(id)] || keeps_pointer(kernel, i, pointers)) continue;
        pointers[static_cast<std::size_t>(id)] = false;
        changed = true;
      }
    }
  }
  return pointers;
}

}  // namespace fairgv::softcuda
