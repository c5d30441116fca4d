#include "cuda-shim/direct/gates/pass.hpp"

#include "runtime/session/client/standard_error.hpp"

namespace fairgv::cuda::direct {

thread_local constinit LastPass t_last_pass;

bool Pass::is_captured(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return FAIRGV_DRIVER(cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/// False: the driver answers the call, or the device is not for this program.
bool Pass::find_gate(Tenancy& tenancy, CUcontext context, std::uint32_t handles) {
  LastPass& last = t_last_pass;
  Gate* const gate = tenancy.gate_of(stream_, context);
  if (gate == nullptr) return false;
  if (tenancy.is_hidden(*gate)) {
    static std::atomic<bool> told{false};  // relaxed: one line is enough
    if (!told.exchange(true, std::memory_order_relaxed)) {
      session::say(
          "the daemon has chosen another device for this program than the one that it uses: name one in "
          "CUDA_VISIBLE_DEVICES (`fairgv whoami` says which)");
    }
    code_ = CUDA_ERROR_DEVICE_UNAVAILABLE;
    return false;
  }
  last = {.tenancy = &tenancy, .gate = gate, .stream = stream_, .context = context, .handles = handles};
  return true;
}

/// The first command of this thread in this stream and run.
void Pass::note() {
  LastPass& last = t_last_pass;
  last.run = gate_->run();
  last.own_mark = nullptr;
  // Marks of a thread's own default stream are its own affair, see mark_own().
  if (stream_ == CU_STREAM_PER_THREAD) return;
  StreamUse use{last.context, stream_};
  if (!is_default(stream_) && FAIRGV_DRIVER(cuStreamGetCtx)(stream_, &use.context) != CUDA_SUCCESS) return;
  if (use.context != nullptr) gate_->note(use);
}

/// No other thread can put a mark behind this thread's default stream.
void Pass::mark_own() {
  LastPass& last = t_last_pass;
  if (last.context == nullptr) return;
  if (last.own_mark != nullptr) return MarkPool::put_again({last.context, last.own_mark}, stream_);
  last.own_mark = gate_->mark_own(last.context).event;
}

}  // namespace fairgv::cuda::direct
