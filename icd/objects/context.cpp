#include "icd/objects/context.hpp"

namespace fairgv::icd {

Context::Context(Connection& connection, std::vector<Device*> devices,
                 std::vector<cl_context_properties> properties)
    : connection_(connection),
      id_(connection.session().new_object()),
      devices_(std::move(devices)),
      held_devices_(holds_on(devices_)),
      properties_(std::move(properties)) {
  std::vector<wire::DeviceIndex> indices;
  for (Device* device : devices_) {
    indices.push_back(device->index());
    root_devices_ |= std::uint64_t{1} << device->root().index();
    device_handles_.push_back(device->handle());
  }
  connection_.send(wire::CreateContext{id_, indices});
}

Context::~Context() {
  for (auto callback = destructor_callbacks_.rbegin(); callback != destructor_callbacks_.rend(); ++callback) {
    (*callback)(handle());
  }
  session().release_object(id_);
}

bool Context::has_device(const Device& device) const {
  const Device* whole = &device;
  while (whole != nullptr && std::find(devices_.begin(), devices_.end(), whole) == devices_.end()) {
    whole = whole->parent();
  }
  return whole != nullptr;
}

bool Context::reaches_buffers() {
  std::call_once(reaches_buffers_known_, [this] { reaches_buffers_ = ask_whether_reaches_buffers(); });
  return reaches_buffers_;
}

bool Context::ask_whether_reaches_buffers() {
  const bool shared = std::all_of(devices_.begin(), devices_.end(), [](Device* device) {
    const DeviceFacts* const facts = device->facts();
    return facts != nullptr && facts->shares_host_memory;
  });
  if (!shared || !connection_.direct_memory().enabled()) return false;
  const auto reply = connection_.call(wire::CheckHostMemory{id_});
  return reply && reply->error == CL_SUCCESS;
}

void Context::add_destructor_callback(std::function<void(cl_context)> callback) {
  const std::lock_guard lock(mutex_);
  destructor_callbacks_.push_back(std::move(callback));
}

const wire::InfoReply* Context::image_formats(cl_mem_flags flags, cl_mem_object_type type) {
  return image_formats_.get({flags, type}, [&] {
    return connection_.call(wire::GetSupportedImageFormats{id_, flags, type});
  });
}

cl_int Context::info(cl_context_info param, InfoSink sink) const {
  switch (param) {
    case CL_CONTEXT_REFERENCE_COUNT:
      return sink.scalar(cl_uint{references()});
    case CL_CONTEXT_NUM_DEVICES:
      return sink.scalar(static_cast<cl_uint>(devices_.size()));
    case CL_CONTEXT_DEVICES:
      return sink.array(std::span<const cl_device_id>(device_handles_));
    case CL_CONTEXT_PROPERTIES:
      return sink.array(std::span<const cl_context_properties>(properties_));
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fairgv::icd
