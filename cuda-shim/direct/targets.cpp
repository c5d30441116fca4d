// The jumps of all exported functions: set while this library is loaded.
#include <algorithm>
#include <array>

#include "cuda-shim/direct/driver.hpp"
#include "cuda-shim/direct/gates/gates.hpp"

namespace fairgv::cuda::direct {
namespace {

constexpr int kNoDevice = 100;      // CUDA_ERROR_NO_DEVICE
constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED

// The calling conventions of the systems that CUDA runs on allow a function to ignore its arguments.
extern "C" int fairgv_direct_no_driver() {
  return kNoDevice;
}
extern "C" int fairgv_direct_missing() {
  return kNotSupported;
}

std::array<bool, kSymbols> g_gated{};

void stand(std::span<const GateFunction> gates) {
  for (const GateFunction& gate : gates) {
    const std::size_t at = index_of(gate.symbol);
    // A function that the driver lacks stays missing: programs may try it.
    if (g_driver_functions[at] == nullptr) continue;
    fairgv_direct_targets[at] = gate.function;
    g_gated[at] = true;
  }
}

[[gnu::constructor]] void set_targets() {
  const LoadedDriver& driver = load_driver();
  const bool loaded = driver.handle != nullptr;
  for (std::size_t at = 0; at < kSymbols; ++at) {
    void* const function = g_driver_functions[at];
    fairgv_direct_targets[at] =
        function != nullptr
            ? function
            : reinterpret_cast<void*>(loaded ? &fairgv_direct_missing : &fairgv_direct_no_driver);
  }
  if (loaded) {
    stand(start_gates());
    stand(work_gates());
    stand(host_gates());
    stand(object_gates());
    stand(memory_gates());
    stand(graph_gates());
  } else {
    // cuInit says why there is no device.
    for (const GateFunction& gate : start_gates()) {
      if (gate.symbol == Symbol::cuInit_) fairgv_direct_targets[index_of(gate.symbol)] = gate.function;
    }
  }
}

}  // namespace

bool is_gated(Symbol symbol) {
  return g_gated[index_of(symbol)];
}

}  // namespace fairgv::cuda::direct

void* fairgv_direct_targets[fairgv::cuda::direct::kSymbols];
