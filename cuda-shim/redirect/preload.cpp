// The library that `fairgv run` preloads. It redirects the runtime of the program and of its shared libraries
// when they are loaded, before their constructors register kernels with it; and the callers of run-time
// compilers (NVRTC, nvJitLink), before their functions can be found in them.
//
// How it hears of them: the start-up code that every linker driver puts first into a program or shared
// library (crti.o of glibc) calls the function __gmon_start__ in _init, if anything in the process defines
// it, and _init runs before all constructors of the object. It is meant for profilers; here it is the one
// hook that comes between an object's loading and its constructors, at the program's start and in dlopen(3)
// alike. The other ways do worse: an interposed dlopen() returns when the constructors have run, and changes
// whose RPATH counts; LD_AUDIT brings a second libc into each process, and /etc/ld.so.preload has no
// counterpart.
//
// Which threads: _init runs on the thread that loads the object, under the dynamic linker's lock (at the
// program's start, before there are threads as a rule). Until the object's constructors run nobody has an
// address of its code, so that no thread can be in a function that is being changed. For the same reason an
// object is only redirected in its own hook, or at the program's start. There is no lock here.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "cuda-shim/redirect/compiler.hpp"
#include "cuda-shim/redirect/loaded_object.hpp"
#include "cuda-shim/redirect/redirection.hpp"

#define FAIRGV_PRELOAD_EXPORT extern "C" __attribute__((visibility("default")))

namespace fairgv::redirect {
namespace {

// The bases of the objects that the program was started with, which stay loaded. Written once by the thread
// that starts the program, before it loads anything else; read by hooks (release, acquire). Never freed.
std::atomic<const std::vector<std::uintptr_t>*> initial_bases{nullptr};
std::atomic<bool> started{false};  // by the first hook or our constructor; guards nothing else

bool is_initial(const LoadedObject& object) {
  const auto* const bases = initial_bases.load(std::memory_order_acquire);
  return bases == nullptr || std::find(bases->begin(), bases->end(), object.base) != bases->end();
}

void redirect_all(const LoadedObject& object, const std::vector<LoadedObject>& objects) {
  const auto file = ObjectFile::open(object);
  if (!file) return;
  redirect(object, *file);
  redirect_compiler(object, *file, objects);
}

void redirect_initial_objects() {
  const auto objects = loaded_objects();
  auto* const bases = new std::vector<std::uintptr_t>;
  for (const LoadedObject& object : objects) bases->push_back(object.base);
  initial_bases.store(bases, std::memory_order_release);
  // Not this library itself, which names the texts by which a runtime is recognised.
  const auto self = reinterpret_cast<std::uintptr_t>(&started);
  for (const LoadedObject& object : objects) {
    if (!object.contains(self)) redirect_all(object, objects);
  }
}

void redirect_caller(std::uintptr_t address) {
  const auto objects = loaded_objects();
  for (const LoadedObject& object : objects) {
    if (!object.contains(address)) continue;
    if (!is_initial(object)) redirect_all(object, objects);
    return;
  }
}

void enter(std::uintptr_t caller) noexcept {
  try {
    if (!started.exchange(true, std::memory_order_relaxed)) {
      redirect_initial_objects();
    } else {
      redirect_caller(caller);
    }
  } catch (...) {
    // Memory has run out: the object stays as it is.
  }
}

// For programs all of whose libraries come without crti.o, and for nvcc. glibc hands main's arguments to
// constructors.
__attribute__((constructor)) void start(int, char** arguments, char**) {
  enter(0);
  try {
    redirect_nvcc(arguments);
  } catch (...) {
    // Memory has run out: nvcc does as it is told.
  }
}

}  // namespace
}  // namespace fairgv::redirect

FAIRGV_PRELOAD_EXPORT void __gmon_start__() {
  fairgv::redirect::enter(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}

// AddressSanitizer of GCC does not start when another library comes before it, which might hide what it
// intercepts. This one hides nothing. The program's own defaults and ASAN_OPTIONS still count.
FAIRGV_PRELOAD_EXPORT const char* __asan_default_options() {
  return "verify_asan_link_order=0";
}
