// The functions of ours that stand in front of the driver's.
#pragma once

#include <span>

#include "cuda-shim/direct/symbols.hpp"

namespace fairgv::cuda::direct {

struct GateFunction {
  Symbol symbol;
  void* function;
};

template <class Function>
GateFunction gate_at(Symbol symbol, Function* function) {
  return {symbol, reinterpret_cast<void*>(function)};
}

/// cuInit, and entry points by name.
std::span<const GateFunction> start_gates();
/// Functions that give the device work.
std::span<const GateFunction> work_gates();

/// Functions that have a stream wait for the program's own host code.
std::span<const GateFunction> host_gates();
/// Streams, contexts and captures that come and go.
std::span<const GateFunction> object_gates();
/// Device memory.
std::span<const GateFunction> memory_gates();
/// Executable graphs that have memory of their own.
std::span<const GateFunction> graph_gates();

/// Whether one of ours stands in front of this function.
bool is_gated(Symbol symbol);

}  // namespace fairgv::cuda::direct
