// The memory objects that commands may have written, while somebody wants to know: for contents that are
// copied while commands run. Blocks of memory (residency/) are always told. The loop thread's.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>

#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu::opencl {

class Object;

class WriteLog {
 public:
  bool on() const { return on_; }
  /// Begins with nothing noted.
  void turn(bool on) {
    on_ = on;
    written_.clear();
  }

  /// A command that may write the object goes to the driver. Notes the object whose memory it is.
  void note(const Object& object);

  bool has(wire::ObjectId object) const { return written_.contains(object.raw); }
  /// By their ids. Begins anew.
  std::unordered_set<std::uint64_t> take() { return std::exchange(written_, {}); }

 private:
  bool on_ = false;
  std::unordered_set<std::uint64_t> written_;
};

}  // namespace fairgv::vgpu::opencl
