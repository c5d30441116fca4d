#include "cuda-shim/redirect/redirection.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "cuda-shim/redirect/jump.hpp"
#include "cuda-shim/redirect/say.hpp"
#include "cuda-shim/redirect/sibling.hpp"

namespace fairgv::redirect {
namespace {

constexpr const char* kRemedy = "link it with -cudart shared";

std::string name_of(const LoadedObject& object) {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink(object.path.c_str(), path.data(), path.size());
  // /proc/self/exe is a link; of a library, the name by which it was loaded says more.
  if (object.path != "/proc/self/exe" || length <= 0) return object.path;
  path.resize(static_cast<std::size_t>(length));
  return path;
}

/// FairGV's runtime library of this release.
void* runtime_library(int release, std::string& error) {
  return open_sibling("libcudart.so." + std::to_string(release), error);
}

std::uintptr_t find_symbol(void* library, std::string_view name) {
  return reinterpret_cast<std::uintptr_t>(::dlsym(library, std::string(name).c_str()));
}

void say_stripped(const std::string& name) {
  // Of many such libraries in one process, the first says it for all. Only this flag is shared, no data.
  static std::atomic<bool> said{false};
  if (said.exchange(true, std::memory_order_relaxed)) return;
  say(name +
      " has NVIDIA's runtime linked into it and no symbols, so that its CUDA calls will fail with error "
      "801: " +
      kRemedy + ", do not strip it, or run the program in direct mode (fairgv run --direct)");
}

std::string listed(const std::vector<std::string_view>& names) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + std::string(names[i]);
  if (names.size() > kMost) text += " and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

void redirect_found(const LoadedObject& object, const ObjectFile& file, const StaticRuntime& runtime) {
  const std::string name = name_of(object);
  if (!kCanJump) {
    say(name + " has NVIDIA's runtime linked into it, which FairGV can replace on x86-64 only: " + kRemedy);
    return;
  }
  std::string error;
  void* const library = runtime_library(runtime.release, error);
  if (library == nullptr) {
    say(name + " has NVIDIA's runtime linked into it, and FairGV's cannot be loaded: " + error);
    return;
  }
  const Redirection redirection =
      plan(runtime, object, [&](std::string_view function) { return find_symbol(library, function); });
  // Lookups that found nothing are not the program's, which may ask dlerror(3) when its dlopen() has
  // returned.
  (void)::dlerror();
  if (!redirection.changes.empty()) {
    const auto mapping = file.mapping_of(object, redirection.changes.front().address);
    error = mapping ? write_code(redirection.changes, *mapping) : "its functions lie outside of its code";
    if (!error.empty()) {
      say(name + " has NVIDIA's runtime linked into it, which cannot be replaced, because " + error + ": " +
          kRemedy);
      return;
    }
  }
  if (!redirection.left.empty()) {
    say(name + " has functions of NVIDIA's runtime that cannot be replaced and will fail with error 801 (" +
        listed(redirection.left) + "): " + kRemedy);
  }
}

}  // namespace

Redirection plan(const StaticRuntime& runtime, const LoadedObject& object, const FindTarget& target_of) {
  Redirection redirection;
  for (const RuntimeFunction& function : runtime.functions) {
    const std::uintptr_t target = target_of(function.name);
    if (target == 0) continue;  // a name that only looks like the runtime's
    const std::uintptr_t address = object.base + function.address;
    const auto jump = jump_to(target, address, function.code);
    if (!jump || !object.has_code(address, function.code.size())) {
      redirection.left.push_back(function.name);
      continue;
    }
    const auto* const loaded = reinterpret_cast<const std::byte*>(address);
    const auto code = jump->code();
    if (std::equal(code.begin(), code.end(), loaded + jump->offset)) continue;
    if (std::equal(function.code.begin(), function.code.end(), loaded)) {
      redirection.changes.push_back({address + jump->offset, {code.begin(), code.end()}});
    } else {
      redirection.left.push_back(function.name);
    }
  }
  return redirection;
}

void redirect(const LoadedObject& object, const ObjectFile& file) {
  const StaticRuntime runtime = find_static_runtime(file.image());
  switch (runtime.kind) {
    case StaticRuntime::Kind::kNone:
      return;
    case StaticRuntime::Kind::kFound:
      return redirect_found(object, file, runtime);
    case StaticRuntime::Kind::kUnknown:
      say(name_of(object) +
          " has NVIDIA's runtime of another release than CUDA 12 and 13 linked into it, which FairGV "
          "cannot replace: build it with one of these");
      return;
    case StaticRuntime::Kind::kStripped:
      return say_stripped(name_of(object));
  }
}

}  // namespace fairgv::redirect
