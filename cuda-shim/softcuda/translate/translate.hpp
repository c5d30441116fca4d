// PTX to OpenCL C, for the software CUDA device. Pure: text in, text and tables out; no driver, no files,
// safe to call from any thread.
//
// Every kernel of the source has exactly these arguments:
//   0  a struct by value, `struct { ulong w[N]; }` with N = max(1, ceil(parameter_bytes / 8)):
//      the bytes of the parameter block as CUDA lays them out
//   1  `__local ulong*`: the block's shared memory, of KernelInfo::shared_bytes: the static part, and then
//   the
//      dynamic one
//   2  `ulong`: host address of the module's data segment
//   3  `ulong`: host address of the RuntimeBlock (runtime_block.hpp)
// Grid and block are those of the enqueue: three dimensions, global size = grid * block, local size = block.
// Kernels with `stepped` set need scratch memory: see KernelInfo and RuntimeBlock.
//
// The translation follows the PTX ISA; docs/SOFTCUDA.md says what is translated and what is refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fairgv::softcuda {

/// A parameter's place in the entry's parameter block (bytes).
struct Parameter {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;
};

struct KernelInfo {
  std::string name;      // the entry's name in PTX
  std::string function;  // its name in the source: a legal C identifier, unique in the module
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes =
      0;  // .shared of the module and of the functions, without the dynamic part
  std::uint32_t shared_alignment = 16;       // of the beginning of the shared memory and of its dynamic part
  std::uint32_t local_bytes = 0;             // .local per thread, called functions included
  std::uint32_t max_threads[3] = {0, 0, 0};  // .maxntid; 0 = not said
  std::uint32_t required_threads[3] = {0, 0, 0};  // .reqntid; 0 = not said
  std::uint32_t constant_bytes = 0;
  /// Registers of 32 bits with needed values at one time, at most; 0: the kernel is too large to be counted.
  std::uint32_t registers = 0;
  std::uint32_t most_registers = 0;  // .maxnreg; 0 = not said
  bool uses_barrier = false;
  bool uses_warp = false;
  bool uses_images = false;  // textures or surfaces
  bool uses_heap = false;    // malloc or free: RuntimeBlock::heap
  /// The threads of a block are run by one work-item, from one synchronisation to the next. Such a launch
  /// needs, for every block that runs at the same time, scratch_bytes_fixed + threads per block *
  /// scratch_bytes_per_thread.
  bool stepped = false;
  std::uint32_t scratch_bytes_fixed = 0;
  std::uint32_t scratch_bytes_per_thread = 0;
  /// Each thread needs a call stack besides, of RuntimeBlock::stack_bytes: functions are called through
  /// pointers or call themselves.
  bool uses_stack = false;
  /// Blocks may wait for each other: they need a scratch slot each, with their shared memory behind the rest
  /// of it (shared_bytes and 16 bytes more), and
  /// RuntimeBlock::grid. Any number of work-groups, in one dimension, run them all.
  bool cooperates = false;
  std::string source;  // the kernel's part of the module's source

  /// The static part up to where the dynamic one begins.
  std::uint64_t fixed_shared_bytes() const {
    const std::uint64_t alignment = shared_alignment;
    return (static_shared_bytes + alignment - 1) / alignment * alignment;
  }
  /// Of argument 1 for a launch with `dynamic` bytes. OpenCL's memory may begin between two aligned places.
  std::uint64_t shared_bytes(std::uint64_t dynamic) const {
    const std::uint64_t room = shared_alignment > 16 ? shared_alignment : 0;
    return std::max<std::uint64_t>(16, fixed_shared_bytes() + dynamic + room);
  }
};

/// The 8 bytes at `offset` of the data segment are the address of a variable, plus `addend`. On a device with
/// one flat address space `generic` makes no difference.
struct Relocation {
  std::uint64_t offset = 0;
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;
};

/// A .global or .const variable of the module. An external one has no place in the segment (offset 0).
struct VariableInfo {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t alignment = 1;
  std::uint64_t offset = 0;
  bool constant = false;
  bool external = false;
};

struct TranslationError {
  int line = 0;  // of the PTX text, from 1; 0 = of the whole module
  std::string instruction;
  std::string message;

  /// One line for a person.
  std::string text() const;
};

/// A kernel or a variable that cannot be translated. The rest of its module can be used.
struct Refused {
  std::string name;
  TranslationError error;
  bool kernel = true;
};

struct TranslatedModule {
  std::string prelude;  // in front of any number of the kernels' sources
  std::string build_options;
  std::vector<KernelInfo> kernels;
  std::vector<Refused> refused;
  std::vector<VariableInfo> variables;
  std::vector<std::byte> data;  // initial image of the data segment; relocations are not applied
  std::vector<Relocation> relocations;
  std::uint32_t architecture = 0;  // of the target: 75 of "sm_75"; 0: not said

  /// One OpenCL program with every kernel.
  std::string source() const;
};

/// A module or an error: check with `if (!translation)`.
class [[nodiscard]] Translation {
 public:
  Translation(TranslatedModule module) : state_(std::move(module)) {}
  Translation(TranslationError error) : state_(std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  TranslatedModule& value() { return std::get<0>(state_); }
  const TranslatedModule& value() const { return std::get<0>(state_); }
  const TranslationError& error() const { return std::get<1>(state_); }

 private:
  std::variant<TranslatedModule, TranslationError> state_;
};

Translation translate(std::string_view ptx);

}  // namespace fairgv::softcuda
