#include "icd/memory/memory.hpp"

#include <algorithm>

#include "icd/memory/memory_flags.hpp"

namespace fairgv::icd {
Memory::Memory(Context& context, Shape shape, wire::ArenaRange initial)
    : context_(context), id_(context.session().new_object()), shape_(std::move(shape)) {
  context.connection().send(
      wire::CreateBuffer{id_, context.id(), device_access(shape_.flags), shape_.bytes, initial});
}

Memory::Memory(Context& context, Shape shape, DirectMemory backing)
    : context_(context),
      id_(context.session().new_object()),
      shape_(std::move(shape)),
      backing_(backing),
      direct_data_(context.session().bytes(backing.range)) {
  context.connection().send(wire::CreateBuffer{.id = id_,
                                               .context = context.id(),
                                               .flags = device_access(shape_.flags),
                                               .bytes = shape_.bytes,
                                               .initial = {},
                                               .backing = backing.range,
                                               .retired = backing.retired});
}

Memory::Memory(Context& context, Shape shape, Ref<Memory> svm, std::uint64_t offset)
    : context_(context),
      id_(context.session().new_object()),
      shape_(std::move(shape)),
      svm_(std::move(svm)),
      direct_data_(svm_->direct_data() + offset) {
  context.connection().send(
      wire::CreateBuffer{.id = id_,
                         .context = context.id(),
                         .flags = device_access(shape_.flags),
                         .bytes = shape_.bytes,
                         .initial = {},
                         .backing = {svm_->backing().range.offset + offset, shape_.bytes},
                         .retired = {}});
}

Memory::Memory(Memory& parent, Shape shape, std::uint64_t origin)
    : context_(parent.context()),
      parent_(parent),
      id_(parent.context().session().new_object()),
      shape_(std::move(shape)),
      origin_(origin),
      direct_data_(parent.direct_data() != nullptr ? parent.direct_data() + origin : nullptr) {
  context_->connection().send(
      wire::CreateSubBuffer{id_, parent.id(), device_access(shape_.flags), origin, shape_.bytes});
}

Memory::Memory(Context& context, wire::ObjectId id, Ref<Memory> parent, Shape shape)
    : context_(context), parent_(std::move(parent)), id_(id), shape_(std::move(shape)) {}

Memory::~Memory() {
  for (auto callback = destructor_callbacks_.rbegin(); callback != destructor_callbacks_.rend(); ++callback) {
    (*callback)(handle());
  }
  context_->session().release_object(id_);
  if (backing_) context_->connection().direct_memory().retire(backing_);
}

cl_mem_object_type Memory::type() const {
  if (is_buffer()) return CL_MEM_OBJECT_BUFFER;
  return image() != nullptr ? image()->type : cl_mem_object_type{CL_MEM_OBJECT_PIPE};
}

void Memory::add_mapping(MappedRegion region) {
  const std::lock_guard lock(mutex_);
  mappings_.push_back(std::move(region));
}

std::optional<MappedRegion> Memory::take_mapping(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(mappings_.rbegin(), mappings_.rend(),
                   [pointer](const MappedRegion& region) { return region.pointer == pointer; });
  if (found == mappings_.rend()) return std::nullopt;
  MappedRegion region = std::move(*found);
  mappings_.erase(std::next(found).base());
  return region;
}

void Memory::add_destructor_callback(std::function<void(cl_mem)> callback) {
  const std::lock_guard lock(mutex_);
  destructor_callbacks_.push_back(std::move(callback));
}

cl_int Memory::info(cl_mem_info param, InfoSink sink) {
  switch (param) {
    case CL_MEM_TYPE:
      return sink.scalar(type());
    case CL_MEM_FLAGS:
      return sink.scalar(shape_.flags);
    case CL_MEM_SIZE:
      return sink.scalar(size_t{shape_.bytes});
    case CL_MEM_HOST_PTR:
      return sink.scalar(static_cast<void*>(shape_.host_pointer));
    case CL_MEM_REFERENCE_COUNT:
      return sink.scalar(cl_uint{references()});
    case CL_MEM_CONTEXT:
      return sink.scalar(context_->handle());
    case CL_MEM_ASSOCIATED_MEMOBJECT:
      return sink.scalar(parent_ ? parent_->handle() : nullptr);
    case CL_MEM_OFFSET:
      return sink.scalar(size_t{origin_});
    default:
      return searched_info(param, sink.size, sink.value, sink.size_ret);
  }
}

cl_int Memory::searched_info(cl_mem_info param, std::size_t size, void* value, std::size_t* size_ret) {
  const InfoSink sink{size, value, size_ret};
  switch (param) {
    case CL_MEM_MAP_COUNT: {
      const std::lock_guard lock(mutex_);
      return sink.scalar(static_cast<cl_uint>(mappings_.size()));
    }
    case CL_MEM_USES_SVM_POINTER:
      return sink.scalar(
          static_cast<cl_bool>(context_->svm().find(shape_.host_pointer) ? CL_TRUE : CL_FALSE));
    case CL_MEM_PROPERTIES:
      return sink.array(std::span<const cl_mem_properties>(shape_.properties));
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fairgv::icd
