// Where the lanes of a warp go together though no barrier says so.
//
// Code for GPUs before sm_70 counts on that at its volatile accesses to shared memory: all lanes have made
// one before any lane makes the next. Threads that run one after the other come to the same values if between
// two stops there are loads only, or a single access.
#pragma once

#include "cuda-shim/softcuda/translate/flat.hpp"

namespace fairgv::softcuda {

class Lockstep {
 public:
  /// Other ways lead here, with accesses that are not known.
  void join() { open_ = {true, true}; }
  /// Whether all lanes stop right before this instruction, those that its guard keeps from it, too. Each
  /// instruction is given once, in order.
  bool stops_before(const FlatInstruction& next);

 private:
  struct Accesses {
    bool loads = false;
    bool stores = false;
  };
  static Accesses to_shared(const FlatInstruction& instruction);

  Accesses open_;  // to shared memory since the last stop
};

}  // namespace fairgv::softcuda
