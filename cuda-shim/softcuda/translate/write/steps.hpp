// The parts of a stepped kernel: the loop that runs the threads, the places where a thread stops and goes on,
// and the values that it keeps meanwhile. prelude/stepped.cl decides which thread may go on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cuda-shim/softcuda/translate/flow/flow.hpp"
#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {

/// Where the block's shared memory begins, of the memory that is at `address`.
std::string aligned_shared(const KernelInfo& info, const std::string& address);

class Steps {
 public:
  /// Lays out the thread's own memory: registers that outlive a stop, then .local and .param variables, whose
  /// offsets are set in `kernel`. Completes the scratch sizes of `info`.
  Steps(FlatKernel& kernel, const Flow& flow, KernelInfo& info);

  /// A barrier or warp operation.
  void write(Writer& writer, const FlatInstruction& instruction);

  /// Jumps to where the thread stopped.
  std::string entry_switch() const;
  /// The whole kernel around `prologue` (declarations and switch) and `body`.
  std::string wrap(const std::string& prologue, const std::string& body) const;

 private:
  struct Stop {
    int number = 0;
    std::vector<int> kept;
    std::vector<int> computed_again;
  };

  std::string run_block(const std::string& prologue, const std::string& body) const;
  void stop(Writer& writer, const FlatInstruction& instruction, const std::string& kind);
  void warp(Writer& writer, const FlatInstruction& instruction);
  void barrier(Writer& writer, const FlatInstruction& instruction);
  void product(Writer& writer, const FlatInstruction& instruction);
  void matrix(Writer& writer, const FlatInstruction& instruction);
  void find_constants();
  std::string slot(int id) const;
  bool has_stack() const { return !kernel_.calls.empty(); }

  const FlatKernel& kernel_;
  const KernelInfo& info_;
  std::map<const FlatInstruction*, Stop> stops_;
  // Registers that one instruction sets, always to the same value: cheaper to compute again than to keep.
  std::map<int, const FlatInstruction*> constants_;
  std::map<int, std::uint64_t> slots_;  // register: its place in the thread's memory
  std::uint64_t context_bytes_ = 0;
  std::uint64_t matrix_offset_ = 0;  // of the lane's two areas for products of matrices
};

}  // namespace fairgv::softcuda
