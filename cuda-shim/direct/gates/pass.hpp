// A command's way through its device's gate, on the calling thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda-shim/direct/cuda.hpp"
#include "cuda-shim/direct/driver.hpp"
#include "cuda-shim/direct/tenancy.hpp"

namespace fairgv::cuda::direct {

/// The thread's latest command: mostly the next one is like it.
struct LastPass {
  const Tenancy* tenancy = nullptr;
  Gate* gate = nullptr;
  CUstream stream = nullptr;
  CUcontext context = nullptr;  // of a default stream
  std::uint32_t handles = 0;    // see Tenancy
  bool inside = false;          // a driver that calls an exported function of its own passes
  std::uint64_t run = 0;        // in which the stream was noted
  CUevent own_mark = nullptr;   // behind its commands of this run in its own default stream
};

extern thread_local constinit LastPass t_last_pass;

enum class Work { launch, other };

class Pass {
 public:
  /// Waits until the command may be given to the driver. `stream`: as the call means it, with
  /// CU_STREAM_LEGACY or CU_STREAM_PER_THREAD for the default stream.
  Pass(Tenancy& tenancy, CUstream stream, Work work) : stream_(stream) {
    LastPass& last = t_last_pass;
    if (last.inside) return;
    // Relaxed: a capture that another thread begins at this moment is none of this call's.
    if (tenancy.captures.load(std::memory_order_relaxed) != 0 && is_captured(stream)) return;
    CUcontext context = nullptr;
    if (is_default(stream)) FAIRGV_DRIVER(cuCtxGetCurrent)(&context);
    const std::uint32_t handles = tenancy.handles.load(std::memory_order_relaxed);
    if (last.tenancy != &tenancy || last.stream != stream || last.context != context ||
        last.handles != handles) [[unlikely]] {
      if (!find_gate(tenancy, context, handles)) return;
    }
    Gate* const gate = last.gate;
    if (!gate->enter()) [[unlikely]] {
      code_ = gate->wait_and_enter();
      if (code_ != CUDA_SUCCESS) return;
    }
    gate_ = gate;
    last.inside = true;
    if (last.run != gate->run()) [[unlikely]]
      note();
    if (work == Work::other) gate->note_other();
  }
  ~Pass() {
    if (gate_ == nullptr) return;
    if (stream_ == CU_STREAM_PER_THREAD) [[unlikely]]
      mark_own();
    t_last_pass.inside = false;
    gate_->leave();
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  /// Not CUDA_SUCCESS: the call's answer; the command must not be given to the driver.
  CUresult code() const { return code_; }

 private:
  static bool is_default(CUstream stream) {
    return stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
  }
  static bool is_captured(CUstream stream);
  bool find_gate(Tenancy& tenancy, CUcontext context, std::uint32_t handles);
  void note();
  void mark_own();

  Gate* gate_ = nullptr;  // null: nothing to leave
  const CUstream stream_;
  CUresult code_ = CUDA_SUCCESS;
};

}  // namespace fairgv::cuda::direct
