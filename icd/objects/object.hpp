// The base of every OpenCL object: the dispatch pointer that the loader reads, a tag that tells a live object
// from anything else, and reference counts.
//
// Two counts are kept. The application counts its own references (clRetain*, clRelease*,
// CL_*_REFERENCE_COUNT); all of them together are one hold on the object. Objects hold each other through Ref
// (a kernel its program, a queue its context...). The object is destroyed with the last hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "icd/cl.hpp"
#include "icd/objects/pool.hpp"

namespace fairgv::icd {

/// The table of our entry points (dispatch.cpp).
const cl_icd_dispatch& dispatch_table();

enum class Kind : std::uint32_t {
  platform = 0xFA1C0001,
  device,
  context,
  queue,
  memory,
  program,
  kernel,
  event,
  sampler,
  command_buffer,
};

/// Base of class T. T names its `Handle` (cl_context...), its `kKind`, and whether it may be the same in the
/// child of a fork (`kSurvivesFork`: platforms and devices, whose handles the loader keeps).
template <class T>
class Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  static void* operator new(std::size_t) { return pool().take(); }
  static void operator delete(void* memory) { pool().give_back(memory); }
  static Pool<T>& pool() {
    static auto* const instance = new Pool<T>;  // outlives static destructors: the application may still call
    return *instance;
  }

  /// In the child of a fork: the parent's objects are dead, except those that survive.
  static void forget_all() {
    live_tag_ += kOneFork;
    pool().forget();
  }

  /// Acquire: pairs with the release store of the constructor.
  bool alive() const {
    const std::uint64_t tag = tag_.load(std::memory_order_acquire);
    if (T::kSurvivesFork && tag == kLastingTag) [[likely]]
      return true;
    return tag == live_tag_;
  }

  auto handle() { return reinterpret_cast<typename T::Handle>(static_cast<T*>(this)); }

  // -- the application's references

  std::uint32_t references() const { return references_.load(std::memory_order_relaxed); }

  void retain() {
    if (references_.fetch_add(1, std::memory_order_relaxed) == 0) hold();
  }

  /// False if the application has no reference left to release.
  bool release() {
    std::uint32_t count = references_.load(std::memory_order_relaxed);
    do {
      if (count == 0) return false;
    } while (!references_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel));
    if (count == 1) drop();
    return true;
  }

  // -- holds

  void hold() { holds_.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    // Acquire-release: the thread that destroys the object sees what every other holder did to it.
    if (holds_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      tag_.store(0, std::memory_order_release);
      delete static_cast<T*>(this);
    }
  }

 protected:
  explicit Object(bool survives_fork = T::kSurvivesFork) {
    tag_.store(survives_fork ? kLastingTag : live_tag_, std::memory_order_release);
  }
  ~Object() = default;

 private:
  // A tag is the kind, and above it the number of forks that led to this process, counted from one; zero in
  // objects that survive forks.
  static constexpr std::uint64_t kOneFork = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kLastingTag = static_cast<std::uint32_t>(T::kKind);
  static inline std::uint64_t live_tag_ = kOneFork + kLastingTag;

  const cl_icd_dispatch* dispatch_ = &dispatch_table();  // first: the loader's ABI (cl_khr_icd)
  std::atomic<std::uint64_t> tag_;
  std::atomic<std::uint32_t> references_{0};
  std::atomic<std::uint32_t> holds_{1};
};

/// One hold on an object.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T& object) : object_(&object) { object_->hold(); }
  /// Creates an object that the application has no reference to yet.
  template <class... Args>
  static Ref make(Args&&... args) {
    Ref ref;
    ref.object_ = new T(std::forward<Args>(args)...);
    return ref;
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) object_->hold();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->drop();
  }

  /// Gives the application its first reference.
  auto publish() const {
    object_->retain();
    return object_->handle();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

/// The object behind a handle, or nullptr if there is no live object of that kind. The handle must be null or
/// a present or former handle of ours; the loader has relied on that already.
template <class T>
T* downcast(typename T::Handle handle) {
  auto* const object = reinterpret_cast<T*>(handle);
  return object != nullptr && object->alive() ? object : nullptr;
}

/// As downcast(), for an address that may be anything (an argument of a kernel).
template <class T>
T* find(typename T::Handle handle) {
  return T::pool().contains(handle) ? downcast<T>(handle) : nullptr;
}

}  // namespace fairgv::icd
