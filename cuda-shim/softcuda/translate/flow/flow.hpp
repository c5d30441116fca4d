// The analysis of a kernel's control flow: which registers an instruction reads and writes, whether threads
// of a block may take different ways to a barrier, and which registers must be kept where a thread stops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda-shim/softcuda/translate/flat.hpp"

namespace fairgv::softcuda {

/// Where a thread may have to wait for others: barriers and warp operations.
bool is_synchronisation(const FlatInstruction& instruction);
/// A barrier that all threads of the block reach: bar.sync with a constant id and no count.
bool is_block_barrier(const FlatInstruction& instruction);
/// Where a warp's lanes wait for each other, and nothing else happens: a barrier of the block serves as well,
/// if all threads come to it.
bool brings_warp_together(const FlatInstruction& instruction);

struct RegisterUse {
  std::vector<int> writes;
  std::vector<int> reads;  // the guard included
};
RegisterUse registers_of(const FlatInstruction& instruction);

class Bits;

class Flow {
 public:
  explicit Flow(const FlatKernel& kernel);

  /// True when every barrier is provably reached by all threads of a block together: no branch on the way to
  /// it depends on the thread, and no thread can have left before. Conservative.
  bool barriers_are_uniform() const;

  /// Bytes that live_after() and most_registers() need. A kernel that was crafted to use up memory needs far
  /// more than any real kernel.
  std::uint64_t liveness_bytes() const { return 3 * (exit_ + 1) * (kernel_.registers.size() / 8 + 1); }
  /// For every instruction index in `points`: the registers whose values are needed after the instruction,
  /// without the registers that it writes.
  std::vector<std::vector<int>> live_after(const std::vector<std::size_t>& points) const;
  /// The registers of 32 bits that hold needed values at one time, at most. Predicates are none of them.
  std::uint32_t most_registers() const;

 private:
  struct BasicBlock {
    std::size_t begin = 0;  // instructions [begin, end)
    std::size_t end = 0;
    std::vector<std::size_t> successors;  // exit_ for leaving the kernel
  };

  void find_blocks();
  std::vector<Bits> live_at_begin() const;
  Bits live_at_end(std::size_t block, const std::vector<Bits>& live_at_begin) const;
  std::vector<std::size_t> immediate_postdominators() const;
  std::vector<std::vector<std::size_t>> control_dependents() const;
  bool makes_divergent(const FlatInstruction& instruction, const std::vector<bool>& divergent) const;

  const FlatKernel& kernel_;
  std::vector<BasicBlock> blocks_;
  std::size_t exit_ = 0;  // the number of blocks
};

}  // namespace fairgv::softcuda
