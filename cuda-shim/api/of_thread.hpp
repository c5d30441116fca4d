// Data that a thread keeps between its calls, and may still need when its other thread-local objects are
// gone: the main thread's are destroyed before the program's static objects, whose destructors may call us.
#pragma once

#include <unistd.h>

namespace fairgv::cuda {

/// This thread's T; made at the first call. It ends with the thread; the main thread's T never ends. If a
/// thread's last destructors ask again after its T has ended, the new T is never freed.
template <typename T>
T& of_thread() {
  static constinit thread_local T* object = nullptr;
  struct Ending {
    ~Ending() {
      if (::gettid() == ::getpid()) return;
      delete object;
      object = nullptr;
    }
  };
  if (object == nullptr) {
    object = new T;
    static thread_local const Ending ending;
    static_cast<void>(ending);
  }
  return *object;
}

}  // namespace fairgv::cuda
