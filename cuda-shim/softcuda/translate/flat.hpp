// A kernel with its functions: one list of instructions with every name resolved. The analyses read it, and
// it is written as OpenCL C.
//
// Most calls are inlined: a barrier or a warp operation in a called function belongs to the flow of the
// kernel, and OpenCL implementations on CPUs inline everything anyway. A function that may be called through
// a pointer, or from itself, stands in the list once (Frame), behind the kernel's own instructions. A call of
// it jumps there, with a frame on the thread's call stack, and its return jumps to the place that the frame
// names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda-shim/softcuda/translate/scalar_type.hpp"
#include "slicing/ptx/model.hpp"

namespace fairgv::softcuda {

struct Register {
  unsigned bits = 32;  // 1 for a predicate
};

/// A variable that instructions name.
struct Memory {
  enum class Space { kGlobal, kConst, kShared, kLocal, kCallParam, kKernelParam };
  Space space = Space::kGlobal;
  std::uint64_t offset = 0;  // in the data segment, the shared memory or the parameter block
  std::uint64_t size = 0;
  std::uint64_t alignment = 1;
  bool dynamic_shared = false;  // begins where the static part ends
  bool in_frame = false;        // of a function with a frame: `offset` is in the frame
};

struct Argument {
  enum class Kind {
    kRegister,  // id: register
    kInteger,
    kFloat,
    kMemory,   // id: memory; offset
    kLabel,    // id: label
    kTargets,  // id: list of labels of brx.idx
    kSpecial,  // %tid.x: text
    kSink,     // _
    kVector,
    kAddress,  // parts[0] plus offset
    kPair,
    kUnknown,  // a name that nothing declares: an error only where it is used
  };
  Kind kind = Kind::kUnknown;
  int id = -1;
  bool negated = false;
  bool single = false;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::string text;
  std::vector<Argument> parts;
};

struct FlatInstruction {
  const slicing::ptx::Instruction* source = nullptr;  // null for a label
  int line = 0;
  int label = -1;  // of a label statement
  int guard = -1;  // register
  bool guard_negated = false;
  int call = -1;                   // of "call.enter" and "call.return": the number in FlatKernel::calls
  std::string name;                // "ld"; "call.malloc" and the like: the device's own functions
  std::vector<std::string> words;  // the rest of the opcode
  std::vector<Argument> arguments;

  bool is_label() const { return source == nullptr; }
  bool has(std::string_view word) const {
    for (const std::string& each : words) {
      if (each == word) return true;
    }
    return false;
  }
};

/// A function that is called by a jump. A frame begins with the number of the call (4 bytes) that made it; at
/// kFrameHead follow the results, the parameters (parameter_place), its variables, and the registers that it
/// saves.
struct Frame {
  const slicing::ptx::Function* function = nullptr;
  std::uint64_t pointer = 0;  // what a pointer to it holds
  int label = -1;             // where it begins
  bool called_directly = false;
  std::size_t begin = 0;  // its instructions: [begin, end)
  std::size_t end = 0;
  int first_register = 0;  // its registers: [first_register, end_register)
  int end_register = 0;
  std::uint64_t bytes = 0;  // a multiple of 16
};
inline constexpr std::uint64_t kFrameHead = 16;

/// One place from which functions with frames are called.
struct Call {
  struct Passed {
    int memory = -1;           // of the caller
    std::uint64_t offset = 0;  // in the callee's frame
    std::uint64_t size = 0;
  };
  /// A function that has the right form for the call, but cannot be translated: calling it ends the launch.
  struct Refused {
    std::uint64_t value = 0;   // of a pointer to it
    std::uint64_t reason = 0;  // offset of a text in the data segment
  };
  int caller = -1;           // frame; -1: the kernel itself
  std::vector<int> targets;  // frames
  std::vector<Refused> refused;
  std::vector<Passed> arguments, results;
  int return_label = -1;
  std::vector<int> saved;  // registers of the caller that the call may change and that are needed after it
  std::uint64_t save_offset = 0;  // in the caller's frame
};

struct FlatKernel {
  std::vector<FlatInstruction> instructions;
  std::vector<Register> registers;
  std::vector<Memory> memories;
  std::vector<std::vector<int>> targets;  // of brx.idx, of calls and of returns
  std::vector<Frame> frames;
  std::vector<Call> calls;
  int labels = 0;
};

}  // namespace fairgv::softcuda
