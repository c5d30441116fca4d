// The variables and functions of a module, and the image of its data segment: storage for .global and .const
// variables, their initialisers, and the addresses among them as relocations (PTX ISA, "Variables",
// "Initializers").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cuda-shim/softcuda/translate/flat.hpp"
#include "cuda-shim/softcuda/translate/translate.hpp"

namespace fairgv::softcuda {

class ModuleSymbols {
 public:
  /// `module` must outlive this object.
  explicit ModuleSymbols(const slicing::ptx::Module& module);

  /// Variables that cannot be had: kernels that name them are refused. By name.
  const std::map<std::string, TranslationError>& refused() const { return refused_; }

  /// A declared .global or .const variable, or a .shared one (whose offset is not set: each kernel lays out
  /// its own).
  const Memory* memory(const std::string& name) const;
  const slicing::ptx::Function* function(const std::string& name) const;
  /// The value of a pointer to the function: not an address, but a number that is the function's in its
  /// module.
  std::uint64_t pointer_to(const slicing::ptx::Function& function) const;

  const std::vector<VariableInfo>& variables() const { return variables_; }
  const std::vector<std::byte>& data() const { return data_; }
  const std::vector<Relocation>& relocations() const { return relocations_; }
  std::uint32_t constant_bytes() const { return constant_bytes_; }

 private:
  Memory place(const slicing::ptx::Variable& variable, int line);
  void declare(const slicing::ptx::Variable& variable, int line);
  void fill(const slicing::ptx::Operand& initial, ScalarType type, std::uint64_t& offset, std::uint64_t end,
            int line);
  void element(const slicing::ptx::Operand& initial, ScalarType type, std::uint64_t offset, int line);
  void address(const slicing::ptx::Operand& name, bool generic, std::uint64_t offset, int line);
  bool address_byte(const slicing::ptx::Operand& initial, std::uint64_t offset, int line);
  void read_aliases(const slicing::ptx::Module& module);
  void fail(int line, const std::string& what, const std::string& message);

  std::map<std::string, Memory> memories_;
  std::map<std::string, const slicing::ptx::Function*> functions_;
  std::vector<VariableInfo> variables_;
  std::vector<std::byte> data_;
  std::vector<Relocation> relocations_;
  std::uint32_t constant_bytes_ = 0;
  std::string current_;  // the variable that is being declared or filled
  std::map<std::string, TranslationError> refused_;
};

/// Bytes of a variable or parameter; a size that is not given counts as 0.
std::uint64_t size_of(const slicing::ptx::Variable& variable);
std::uint64_t alignment_of(const slicing::ptx::Variable& variable);
inline std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace fairgv::softcuda
