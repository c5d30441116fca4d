// The gates in front of functions after which a handle means nothing, or something else, and of captures,
// whose commands are no work yet.
#include <array>
#include <type_traits>

#include "cuda-shim/direct/gates/gates.hpp"
#include "cuda-shim/direct/gates/pass.hpp"
#include "cuda-shim/direct/gates/stream_of.hpp"
#include "cuda-shim/direct/marks.hpp"

namespace fairgv::cuda::direct {
namespace {

// ---- streams

template <Symbol kSymbol>
CUresult destroy_stream(CUstream stream) {
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy == nullptr) return call_driver(kSymbol, stream);
  StreamUse use{nullptr, stream};
  Gate* gate = nullptr;
  if (stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD &&
      FAIRGV_DRIVER(cuStreamGetCtx)(stream, &use.context) == CUDA_SUCCESS)
    gate = tenancy->gate_of(use.context);
  if (gate != nullptr) gate->before_stream_goes(use);
  // Relaxed: a thread that uses a handle while another destroys it has no promise.
  tenancy->handles.fetch_add(1, std::memory_order_relaxed);
  return call_driver(kSymbol, stream);
}

// ---- contexts

void before_context_goes(Tenancy& tenancy, CUcontext context) {
  for (const auto& gate : tenancy.gates()) gate->before_context_goes(context);
  tenancy.handles.fetch_add(1, std::memory_order_relaxed);
}

template <Symbol kSymbol>
CUresult destroy_context(CUcontext context) {
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy != nullptr) before_context_goes(*tenancy, context);
  const CUresult code = call_driver(kSymbol, context);
  if (tenancy != nullptr && code == CUDA_SUCCESS) tenancy->ledger().context_gone(context);
  return code;
}

CUresult retain_primary(CUcontext* context, CUdevice device) {
  const CUresult code = call_driver(Symbol::cuDevicePrimaryCtxRetain_, context, device);
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy != nullptr && code == CUDA_SUCCESS) tenancy->note_primary(device, *context);
  return code;
}

/// Releasing and resetting: the context goes with its last user.
template <Symbol kSymbol>
CUresult leave_primary(CUdevice device) {
  Tenancy* const tenancy = Tenancy::current();
  const CUcontext context = tenancy != nullptr ? tenancy->primary_of(device) : nullptr;
  if (context != nullptr) before_context_goes(*tenancy, context);
  const CUresult code = call_driver(kSymbol, device);
  if (context == nullptr || code != CUDA_SUCCESS) return code;
  unsigned flags = 0;
  int active = 1;
  if (FAIRGV_DRIVER(cuDevicePrimaryCtxGetState)(device, &flags, &active) == CUDA_SUCCESS && active == 0)
    tenancy->ledger().context_gone(context);
  return code;
}

// ---- captures

template <Symbol kSymbol, class Function>
struct BeginCapture;
template <Symbol kSymbol, class... Arguments>
struct BeginCapture<kSymbol, CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    Tenancy* const tenancy = Tenancy::current();
    // Before it begins: from then on this thread's commands in the stream are none.
    if (tenancy != nullptr) tenancy->captures.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard no_mark_is_put(captures_begin());
    const CUresult code = call_driver(kSymbol, arguments...);
    if (tenancy != nullptr && code != CUDA_SUCCESS) tenancy->captures.fetch_sub(1, std::memory_order_relaxed);
    return code;
  }
};

bool is_capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return FAIRGV_DRIVER(cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

template <Symbol kSymbol, bool kOfThread>
CUresult end_capture(CUstream stream, CUgraph* graph) {
  const CUstream its = stream_of(kOfThread, stream);
  const bool captured = is_capturing(its);
  const CUresult code = call_driver(kSymbol, stream, graph);
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy != nullptr && captured && !is_capturing(its))
    tenancy->captures.fetch_sub(1, std::memory_order_relaxed);
  return code;
}

}  // namespace

// Made at the first call, which may come before this file's own objects are made.
std::span<const GateFunction> object_gates() {
#define FAIRGV_GATE(name, symbol) gate_at(Symbol::symbol##_, &name<Symbol::symbol##_>)
#define FAIRGV_CAPTURE(symbol) \
  gate_at(Symbol::symbol##_,   \
          &BeginCapture<Symbol::symbol##_, std::remove_pointer_t<decltype(&::symbol)>>::call)
  static const std::array kObjectGates{
      FAIRGV_GATE(destroy_stream, cuStreamDestroy),
      FAIRGV_GATE(destroy_stream, cuStreamDestroy_v2),
      FAIRGV_GATE(destroy_context, cuCtxDestroy),
      FAIRGV_GATE(destroy_context, cuCtxDestroy_v2),
      FAIRGV_GATE(destroy_context, cuCtxDetach),
      gate_at(Symbol::cuDevicePrimaryCtxRetain_, &retain_primary),
      FAIRGV_GATE(leave_primary, cuDevicePrimaryCtxRelease),
      FAIRGV_GATE(leave_primary, cuDevicePrimaryCtxRelease_v2),
      FAIRGV_GATE(leave_primary, cuDevicePrimaryCtxReset),
      FAIRGV_GATE(leave_primary, cuDevicePrimaryCtxReset_v2),
      FAIRGV_CAPTURE(cuStreamBeginCapture),
      FAIRGV_CAPTURE(cuStreamBeginCapture_ptsz),
      FAIRGV_CAPTURE(cuStreamBeginCapture_v2),
      FAIRGV_CAPTURE(cuStreamBeginCapture_v2_ptsz),
      FAIRGV_CAPTURE(cuStreamBeginCaptureToGraph),
      FAIRGV_CAPTURE(cuStreamBeginCaptureToGraph_ptsz),
      gate_at(Symbol::cuStreamEndCapture_, &end_capture<Symbol::cuStreamEndCapture_, false>),
      gate_at(Symbol::cuStreamEndCapture_ptsz_, &end_capture<Symbol::cuStreamEndCapture_ptsz_, true>),
  };
#undef FAIRGV_GATE
#undef FAIRGV_CAPTURE
  return kObjectGates;
}

}  // namespace fairgv::cuda::direct
