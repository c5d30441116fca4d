// The application's functions that are called when an event gets somewhere (clSetEventCallback, the notify
// function of a build). They run on the session's notice thread, one at a time, or, once the session is lost,
// on the thread that adds them; with no lock of ours held, and may call OpenCL.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "icd/objects/object.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

class Connection;
class Event;
class Queue;

/// Any thread may call any method.
class Callbacks {
 public:
  /// Gets the status that was reached: the watched one, or a negative error.
  using Function = std::function<void(std::int32_t status)>;

  explicit Callbacks(Connection& connection);
  ~Callbacks();

  /// Has `function` called once, when the event has reached `status` or failed; at once if it already has.
  /// The event lives until then. If the session is lost before that, `function` is called with
  /// CL_DEVICE_NOT_AVAILABLE; if it is lost already, by this thread, before add() returns. If too many
  /// callbacks wait, returns false and `function` is not called.
  bool add(Event& event, std::int32_t status, Function function);

  /// Waits until the due functions of the queue's commands have been called and have returned, as after a
  /// clFinish of a driver that calls them before it reports an end. Returns no later than kPatience after the
  /// last function began, because a function may wait for this thread, and at once on the thread that calls
  /// the functions.
  void await_called(const Queue& queue);

 private:
  /// The longest time that await_called() waits for one function.
  static constexpr std::chrono::milliseconds kPatience{500};

  struct Entry {
    Ref<Event> event;
    std::int32_t status;
    Function function;
  };
  /// Calls an entry's function, and signals its return.
  void call(const Entry& entry, std::int32_t status);

  using Entries = std::unordered_multimap<std::uint64_t, Entry>;  // by the event's id

  void run(const wire::EventReached& notice);
  void run_all_lost();
  /// The entry of the event and status; end() if there is none. With mutex_ held.
  Entries::iterator find(std::uint64_t event, std::int32_t status);

  Connection& connection_;
  std::once_flag listening_;
  std::atomic<std::size_t> waiting_{0};    // entries_ and the running one; relaxed: a hint for the caller
  std::atomic<std::thread::id> caller_{};  // the notice thread; relaxed: only that thread must see it
  std::mutex mutex_;                       // guards the members below
  Entries entries_;
  std::condition_variable returned_;    // a function has returned
  const Queue* running_for_ = nullptr;  // the queue of the command whose function is being called
  std::uint64_t calls_ = 0;             // calls that have begun
};

}  // namespace fairgv::icd
