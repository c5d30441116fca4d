// A memory object: a buffer or a part of one (sub-buffer), an image or a pipe, and its mapped regions.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "icd/memory/direct_memory.hpp"
#include "icd/memory/image_shape.hpp"
#include "icd/objects/context.hpp"
#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"
#include "icd/transfer/transfers.hpp"

namespace fairgv::icd {

/// A mapped region: the application's pointer, and the staging memory that stands for the region. The pointer
/// leads into the staging itself, or, with CL_MEM_USE_HOST_PTR, into the application's memory.
struct MappedRegion {
  void* pointer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool written = false;  // mapped for writing: unmapping writes it back
  StagingRef staging;
  ImageBox box = {};  // of an image, instead of offset and bytes
};

struct PipeShape {
  cl_uint packet_bytes = 0;
  cl_uint max_packets = 0;
};

class Memory : public Object<Memory> {
 public:
  using Handle = cl_mem;
  static constexpr Kind kKind = Kind::memory;
  static constexpr bool kSurvivesFork = false;

  struct Shape {
    cl_mem_flags flags = 0;  // as queries report them
    std::uint64_t bytes = 0;
    std::byte* host_pointer = nullptr;  // with CL_MEM_USE_HOST_PTR
    std::vector<cl_mem_properties> properties;
    std::variant<std::monostate, ImageShape, PipeShape> kind = {};  // nothing: a buffer
  };

  /// A buffer; `initial` holds its contents, if any, and is free again once the worker has read it.
  Memory(Context& context, Shape shape, wire::ArenaRange initial);
  /// A direct buffer: it lies in `backing`, its contents are in place.
  Memory(Context& context, Shape shape, DirectMemory backing);
  /// A buffer over bytes of shared virtual memory, from byte `offset` of the allocation on.
  Memory(Context& context, Shape shape, Ref<Memory> svm, std::uint64_t offset);
  /// A part of `parent` that begins at its byte `origin`.
  Memory(Memory& parent, Shape shape, std::uint64_t origin);
  /// An image or a pipe, which the caller makes in the worker under `id`. `parent`: the owner of its memory,
  /// or null.
  Memory(Context& context, wire::ObjectId id, Ref<Memory> parent, Shape shape);
  /// Calls the destructor callbacks, the latest first.
  ~Memory();

  Context& context() const { return *context_; }
  Memory* parent() const { return parent_.get(); }
  /// The object that owns the memory: this object, the buffer that it is a part of, or an allocation of
  /// shared virtual memory.
  const Memory& allocation() const {
    if (svm_) return *svm_;
    return parent_ ? parent_->allocation() : *this;
  }
  wire::ObjectId id() const { return id_; }
  cl_mem_flags flags() const { return shape_.flags; }
  std::uint64_t bytes() const { return shape_.bytes; }
  std::uint64_t origin() const { return origin_; }
  /// Where in this process the object lies if the front end may reach it by itself, else null.
  std::byte* direct_data() const { return direct_data_; }
  /// The place in the arena, for a direct buffer.
  const DirectMemory& backing() const { return backing_; }
  std::byte* host_pointer() const { return shape_.host_pointer; }

  bool is_buffer() const { return std::holds_alternative<std::monostate>(shape_.kind); }
  /// Null unless it is an image, or a pipe.
  const ImageShape* image() const { return std::get_if<ImageShape>(&shape_.kind); }
  const PipeShape* pipe() const { return std::get_if<PipeShape>(&shape_.kind); }
  cl_mem_object_type type() const;

  bool host_may_read() const { return (flags() & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0; }
  bool host_may_write() const { return (flags() & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0; }
  /// Whether `bytes` bytes from `offset` lie in the object, and are any.
  bool has_range(std::uint64_t offset, std::uint64_t bytes) const {
    return bytes != 0 && offset <= shape_.bytes && bytes <= shape_.bytes - offset;
  }

  void add_mapping(MappedRegion region);
  /// Removes and returns the mapping with that pointer; nothing if there is none.
  std::optional<MappedRegion> take_mapping(const void* pointer);

  void add_destructor_callback(std::function<void(cl_mem)> callback);

  /// clGetMemObjectInfo.
  cl_int info(cl_mem_info param, InfoSink sink);

 private:
  /// The answers that take a lock or a copy. A function of its own, with the sink in pieces, so that the
  /// other answers need no stack.
  [[gnu::noinline]] cl_int searched_info(cl_mem_info param, std::size_t size, void* value,
                                         std::size_t* size_ret);

  const Ref<Context> context_;
  const Ref<Memory> parent_;
  const wire::ObjectId id_;
  const Shape shape_;
  const std::uint64_t origin_ = 0;
  const DirectMemory backing_;  // of a direct buffer
  const Ref<Memory> svm_;       // the allocation of a buffer over such memory
  std::byte* const direct_data_ = nullptr;
  std::mutex mutex_;  // guards the members below
  std::vector<MappedRegion> mappings_;
  std::vector<std::function<void(cl_mem)>> destructor_callbacks_;
};

}  // namespace fairgv::icd
