// Writing one kernel's instructions as OpenCL C statements: values, results and addresses of operands. The
// families of instructions (write_*.cpp) are functions on it.
//
// Names in the source: vN registers, mN .local and .param variables, LN labels, P the parameter block, S the
// address of the shared memory, D of the data segment, R of the runtime block, TX TY TZ the thread's index,
// BX BY BZ the block's, NX NY NZ the grid's extents, C (stepped kernels) the thread's scratch memory, CC the
// carry.
#pragma once

#include <string>
#include <string_view>

#include "cuda-shim/softcuda/translate/flat.hpp"
#include "cuda-shim/softcuda/translate/translate.hpp"

namespace fairgv::softcuda {

class Writer {
 public:
  /// `info` is the kernel's, complete but for the members that the writer finds out (uses_barrier,
  /// uses_warp). `pointers`: the registers that have a C pointer qN beside them (pointers.hpp).
  Writer(const FlatKernel& kernel, const KernelInfo& info, std::vector<bool> pointers)
      : kernel_(kernel), info_(info), pointers_(std::move(pointers)) {}

  const FlatKernel& kernel() const { return kernel_; }
  const KernelInfo& info() const { return info_; }

  // ---- text
  void line(const std::string& text) { text_ += "  " + text + "\n"; }
  std::string take_text() { return std::move(text_); }

  // ---- errors: the first one stays
  void begin(const FlatInstruction& instruction) { current_ = &instruction; }
  void refuse(const std::string& message);
  bool failed() const { return failed_; }
  const TranslationError& error() const { return error_; }

  // ---- operands
  /// The C expression of an operand read as `type`, of the C type value_name(type).
  std::string value(const Argument& argument, ScalarType type);
  /// Argument `index` of the current instruction; refuses when there is none.
  std::string operand(std::size_t index, ScalarType type);
  const Argument& argument(std::size_t index);
  /// A predicate, as a C condition.
  std::string condition(const Argument& argument);
  /// "dest = expression", where the expression has the C type value_name(type); a wider register is extended.
  void assign(const Argument& dest, ScalarType type, const std::string& expression);
  void result(ScalarType type, const std::string& expression) { assign(argument(0), type, expression); }

  /// The meaning of an address in a state space: an offset from S, a place in P or a memory of this thread, a
  /// plain address.
  enum class Space { kPlain, kShared, kParam };
  /// The lvalue expression `*(T*)(address + byte_offset)` for an access in `space`.
  std::string access(const Argument& address, Space space, const std::string& type,
                     std::int64_t byte_offset = 0, std::string_view qualifier = "");
  /// The plain 64-bit address of an access in `space`.
  std::string plain_address(const Argument& address, Space space, std::int64_t byte_offset = 0);
  /// Keeps the C pointer of the instruction's result, where it has one.
  void follow_pointer(const FlatInstruction& instruction);
  /// The address of a variable in its own space (mov, or an operand of an arithmetic instruction).
  std::string variable_address(const Argument& argument);

  /// The last word of the opcode (or the one `back` before it) as a type.
  ScalarType type(std::size_t back = 0);
  unsigned bits_of(const Argument& argument) const;
  static std::string name_of(const Argument& reg) { return "v" + std::to_string(reg.id); }

  /// A constant in brackets, "(-3)" or "12345ul".
  static std::string number(std::uint64_t bits, ScalarType type);

 private:
  bool has_pointer(const Argument& argument) const {
    return argument.kind == Argument::Kind::kRegister && pointers_[static_cast<std::size_t>(argument.id)];
  }
  std::string special(const Argument& argument);
  std::string float_literal(const Argument& argument, ScalarType type);

  const FlatKernel& kernel_;
  const KernelInfo& info_;
  const std::vector<bool> pointers_;
  const FlatInstruction* current_ = nullptr;
  std::string text_;
  bool failed_ = false;
  TranslationError error_;
};

// The families. Each returns whether it took the instruction, and refuses an instruction of its own that it
// cannot write.
bool write_integer(Writer& writer, const FlatInstruction& instruction);
bool write_bits(Writer& writer, const FlatInstruction& instruction);
bool write_float(Writer& writer, const FlatInstruction& instruction);
bool write_half(Writer& writer, const FlatInstruction& instruction);
bool write_compare(Writer& writer, const FlatInstruction& instruction);
bool write_convert(Writer& writer, const FlatInstruction& instruction);
bool write_move(Writer& writer, const FlatInstruction& instruction);
bool write_memory(Writer& writer, const FlatInstruction& instruction);
bool write_atomic(Writer& writer, const FlatInstruction& instruction);

/// Textures and surfaces, which need prelude/image.cl. `leave`: the statement that ends the thread.
bool is_image_instruction(const FlatInstruction& instruction);
void write_image(Writer& writer, const FlatInstruction& instruction, const std::string& leave);

}  // namespace fairgv::softcuda
