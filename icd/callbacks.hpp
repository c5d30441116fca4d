// The application's functions that are called when an event gets somewhere (clSetEventCallback, the notify
// function of a build). They run on the session's notice thread, one at a time, with no lock of ours held,
// and may call OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "icd/object.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

class Connection;
class Event;

/// Any thread may call any method.
class Callbacks {
 public:
  /// Gets the status that was reached: the watched one, or a negative error.
  using Function = std::function<void(std::int32_t status)>;

  explicit Callbacks(Connection& connection);
  ~Callbacks();

  /// Has `function` called once, when the event has reached `status` or failed; at once if it already has.
  /// The event lives until then. If the session is lost before, it is called with CL_DEVICE_NOT_AVAILABLE.
  /// False, and it is not called, if the session is lost by now.
  bool add(Event& event, std::int32_t status, Function function);

 private:
  struct Entry {
    Ref<Event> event;
    std::int32_t status;
    Function function;
  };

  using Entries = std::unordered_multimap<std::uint64_t, Entry>;  // by the event's id

  void run(const wire::EventReached& notice);
  void run_all_lost();
  /// The entry of the event and status; end() if there is none. With mutex_ held.
  Entries::iterator find(std::uint64_t event, std::int32_t status);

  Connection& connection_;
  std::once_flag listening_;
  std::mutex mutex_;  // guards entries_
  Entries entries_;
};

}  // namespace fairgv::icd
