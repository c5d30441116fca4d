// The gates at which a program comes in: cuInit, and the question for entry points by name.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "cuda-shim/api/entry/entry_points.hpp"
#include "cuda-shim/direct/gates/gates.hpp"
#include "cuda-shim/direct/gates/pass.hpp"
#include "runtime/session/client/standard_error.hpp"

namespace fairgv::cuda::direct {
namespace {

CUresult init(unsigned int flags) {
  return Tenancy::begin(flags);
}

/// The exported functions by Symbol, whose rows are in the same order.
std::span<const EntryPoint> exported() {
  return entry_points();
}

/// Our function for the driver's, if one stands in front of it.
void* gate_of_address(const void* address) {
  for (std::size_t at = 0; at < kSymbols; ++at) {
    if (g_driver_functions[at] == address && is_gated(static_cast<Symbol>(at))) return exported()[at].address;
  }
  return nullptr;
}

/// The same by what the program asked for: a driver may answer with another address than it exports.
void* gate_of_name(const char* name, int version, bool of_thread) {
  const EntryPointLookup found = find_entry_point(name, version, of_thread);
  const auto row = std::ranges::find(exported(), found.address, &EntryPoint::address);
  if (found.address == nullptr || row == exported().end()) return nullptr;
  return is_gated(static_cast<Symbol>(row - exported().begin())) ? found.address : nullptr;
}

int newest_version() {
  static const int kNewest = std::ranges::max(exported(), {}, &EntryPoint::version).version;
  return kNewest;
}

/// The answer to a program that asked for an entry point, and got this one from the driver. Null: a version
/// newer than this release, of a function that must not be called past its gate.
void* gated(const char* name, int version, cuuint64_t flags, void* answer) {
  if (void* const gate = gate_of_address(answer)) return gate;
  const bool of_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const int known = std::min(version, newest_version());
  void* const gate = gate_of_name(name, known, of_thread);
  if (gate == nullptr || version == known) return gate != nullptr ? gate : answer;
  void* older = nullptr;
  FAIRGV_DRIVER(cuGetProcAddress)(name, &older, known, flags);
  if (older == answer) return gate;
  static std::atomic<bool> told{false};  // relaxed: one line is enough
  if (!told.exchange(true, std::memory_order_relaxed)) {
    session::say(
        "direct mode does not know " + std::string(name) + " of CUDA " + std::to_string(version) +
        ", which is newer than this release, and refuses it: build the program with CUDA 13.0 or older, or "
        "install a newer FairGV");
  }
  return nullptr;
}

CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t flags) {
  const CUresult code = FAIRGV_DRIVER(cuGetProcAddress)(name, function, version, flags);
  if (code != CUDA_SUCCESS || *function == nullptr) return code;
  *function = gated(name, version, flags, *function);
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult get_proc_address_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  const CUresult code = FAIRGV_DRIVER(cuGetProcAddress_v2)(name, function, version, flags, status);
  if (code != CUDA_SUCCESS || function == nullptr || *function == nullptr) return code;
  *function = gated(name, version, flags, *function);
  if (*function != nullptr) return CUDA_SUCCESS;
  if (status != nullptr) *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace

// Made at the first call, which may come before this file's own objects are made.
std::span<const GateFunction> start_gates() {
  static const std::array kStartGates{
      GateFunction{Symbol::cuInit_, reinterpret_cast<void*>(&init)},
      GateFunction{Symbol::cuGetProcAddress_, reinterpret_cast<void*>(&get_proc_address)},
      GateFunction{Symbol::cuGetProcAddress_v2_, reinterpret_cast<void*>(&get_proc_address_v2)},
  };
  return kStartGates;
}

}  // namespace fairgv::cuda::direct
