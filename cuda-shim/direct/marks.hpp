// Which streams of a program have commands under way, and events of ours behind these commands: how a gate
// learns that everything which it let through has ended, without a synchronisation of the whole context.
//
// Externally synchronised: a gate's lock.
#pragma once

#include <mutex>
#include <vector>

#include "cuda-shim/direct/cuda.hpp"

namespace fairgv::cuda::direct {

/// A stream by a handle that means the same to every thread.
struct StreamUse {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  bool operator==(const StreamUse&) const = default;
};

/// An event of ours, recorded behind commands.
struct Mark {
  CUcontext context = nullptr;
  CUevent event = nullptr;
};

/// Makes a context current while it exists, and captures of other threads none of our business: an event of
/// ours must not end them.
class InContext {
 public:
  explicit InContext(CUcontext context);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  bool ok() const { return pushed_; }

 private:
  bool pushed_ = false;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Held while a capture begins, and while a mark is put behind a look whether its stream is captured: a mark
/// that another thread's capture takes in would end that capture when it is asked for.
std::mutex& captures_begin();

/// Events to use again, since making one takes longer than recording it.
class MarkPool {
 public:
  /// A mark behind everything in the stream; one without an event if the driver refuses it, as for a stream
  /// that is being captured.
  Mark put(const StreamUse& use);
  /// Records it again, behind what the stream has got since.
  static void put_again(const Mark& mark, CUstream stream);
  /// Whether everything before it has ended, or cannot end any more.
  static bool has_passed(const Mark& mark);
  void take_back(const Mark& mark) { free_.push_back(mark); }
  /// The context is about to go, and its events with it.
  void forget(CUcontext context);

 private:
  std::vector<Mark> free_;
};

}  // namespace fairgv::cuda::direct
