// The gates in front of functions that give a device work: each looks at the turn, and is then the driver's
// function.
#include <array>
#include <type_traits>

#include "cuda-shim/direct/gates/gates.hpp"
#include "cuda-shim/direct/gates/pass.hpp"
#include "cuda-shim/direct/gates/stream_of.hpp"

namespace fairgv::cuda::direct {
namespace {

// ---- the gates

template <Symbol kSymbol, Work kWork, bool kOfThread, class Function>
struct WorkGate;
template <Symbol kSymbol, Work kWork, bool kOfThread, class... Arguments>
struct WorkGate<kSymbol, kWork, kOfThread, CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    auto* const real = driver_function<CUresult (*)(Arguments...)>(kSymbol);
    Tenancy* const tenancy = Tenancy::current();
    if (tenancy == nullptr) [[unlikely]]
      return real(arguments...);
    const Pass pass(*tenancy, stream_of(kOfThread, arguments...), kWork);
    if (pass.code() != CUDA_SUCCESS) [[unlikely]]
      return pass.code();
    return real(arguments...);
  }
};

/// Before the driver has it: commands behind it may be there at once.
template <Symbol kSymbol, bool kOfThread, class Function>
struct HostGate;
template <Symbol kSymbol, bool kOfThread, class... Arguments>
struct HostGate<kSymbol, kOfThread, CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    if (Tenancy* const tenancy = Tenancy::current()) {
      CUcontext context = nullptr;
      FAIRGV_DRIVER(cuCtxGetCurrent)(&context);
      Gate* const gate = tenancy->gate_of(stream_of(kOfThread, arguments...), context);
      if (gate != nullptr) gate->note_host();
    }
    return driver_function<CUresult (*)(Arguments...)>(kSymbol)(arguments...);
  }
};

}  // namespace

// Made at the first call, which may come before this file's own objects are made.
std::span<const GateFunction> work_gates() {
#define FAIRGV_WORK(symbol, work)                                                                      \
  GateFunction{Symbol::symbol##_,                                                                      \
               reinterpret_cast<void*>(&WorkGate<Symbol::symbol##_, Work::work, is_of_thread(#symbol), \
                                                 std::remove_pointer_t<decltype(&::symbol)>>::call)},
  static const std::array kWorkGates{
#include "cuda-shim/direct/gates/work_gates.def"
  };
#undef FAIRGV_WORK
  return kWorkGates;
}

std::span<const GateFunction> host_gates() {
#define FAIRGV_HOST(symbol)                                                                \
  GateFunction{Symbol::symbol##_,                                                          \
               reinterpret_cast<void*>(&HostGate<Symbol::symbol##_, is_of_thread(#symbol), \
                                                 std::remove_pointer_t<decltype(&::symbol)>>::call)},
  static const std::array kHostGates{
#include "cuda-shim/direct/gates/host_gates.def"
  };
#undef FAIRGV_HOST
  return kHostGates;
}

}  // namespace fairgv::cuda::direct
