// Events that processes share (CUDA Driver API: CU_EVENT_INTERPROCESS, cuIpcGetEventHandle).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/shared/event_page.hpp"
#include "cuda-shim/api/shared/signal.hpp"
#include "runtime/base/exchange/exchange.hpp"

namespace fairgv::cuda {

class Driver;
struct Event;
class Stream;

/// The events that this process shares with others. Any thread may call.
class SharedEvents {
 public:
  CUresult make(CUcontext owner, unsigned flags, std::shared_ptr<Event>& event);
  CUresult export_event(const Event& event, CUipcEventHandle& handle);
  CUresult open(CUcontext owner, const CUipcEventHandle& handle, std::shared_ptr<Event>& event);

  /// Records a shared event, beside the marker that it has here.
  static CUresult record(Driver& driver, const std::shared_ptr<Stream>& stream, const Event& event);
  /// Holds the stream up until a record that another process has made ends.
  CUresult wait(Driver& driver, const std::shared_ptr<Stream>& stream, const Event& event);
  /// The context ends: its streams wait for other processes no more.
  void give_up(CUcontext context);
  /// The process ends.
  void stop();

 private:
  struct Waiting {
    CUcontext context;
    std::weak_ptr<Signal> until;
  };
  /// With the lock. Null: processes cannot meet.
  std::shared_ptr<Exchange> exchange();

  std::mutex lock_;  // guards what follows
  std::shared_ptr<Exchange> exchange_;
  std::vector<Waiting> waiting_;
};

/// Whether the latest record is another process': else the event's marker says everything.
bool is_recorded_elsewhere(const Event& event);
/// Of the latest record.
bool has_ended_elsewhere(const Event& event);
void wait_elsewhere(const Event& event);

}  // namespace fairgv::cuda
