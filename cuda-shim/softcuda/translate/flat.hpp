// A kernel with all called functions inlined: one list of instructions with every name resolved. The analyses
// read it, and it is written as OpenCL C.
//
// Why calls are inlined: a barrier or a warp operation in a called function belongs to the flow of the
// kernel, OpenCL implementations on CPUs inline everything anyway, and PTX without recursion always can be.
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
  std::string name;                // "ld"; "call.vprintf" and "call.__assertfail": the device's own
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

struct FlatKernel {
  std::vector<FlatInstruction> instructions;
  std::vector<Register> registers;
  std::vector<Memory> memories;
  std::vector<std::vector<int>> targets;  // of brx.idx
  int labels = 0;
};

}  // namespace fairgv::softcuda
