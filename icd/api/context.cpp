// Entry points: contexts.
#include "icd/objects/context.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/objects/platform.hpp"
#include "icd/objects/properties.hpp"

namespace fairgv::icd {
namespace {

struct ContextProperties {
  std::vector<cl_context_properties> list;
  Platform* platform = nullptr;  // if named
};

cl_int read_context_properties(const cl_context_properties* properties, ContextProperties& result) {
  return read_properties(properties, CL_INVALID_PROPERTY, result.list,
                         [&](cl_context_properties name, cl_context_properties value) -> cl_int {
                           if (name == CL_CONTEXT_PLATFORM) {
                             result.platform = downcast<Platform>(reinterpret_cast<cl_platform_id>(value));
                             return result.platform == nullptr ? CL_INVALID_PLATFORM : CL_SUCCESS;
                           }
                           if (name != CL_CONTEXT_INTEROP_USER_SYNC) return CL_INVALID_PROPERTY;
                           return value == CL_TRUE || value == CL_FALSE ? CL_SUCCESS : CL_INVALID_PROPERTY;
                         });
}

/// The devices, each once; the error of clCreateContext if one is none of the platform's.
cl_int read_devices(cl_uint count, const cl_device_id* handles, std::vector<Device*>& devices) {
  for (cl_uint i = 0; i < count; ++i) {
    Device* const device = downcast<Device>(handles[i]);
    if (device == nullptr) return CL_INVALID_DEVICE;
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
  }
  const auto elsewhere = [&](const Device* device) {
    return &device->platform() != &devices.front()->platform();
  };
  return std::any_of(devices.begin(), devices.end(), elsewhere) ? CL_INVALID_DEVICE : CL_SUCCESS;
}

Outcome<cl_context> make_context(std::vector<Device*> devices, ContextProperties properties) {
  Connection* const connection = Connection::get_live();
  if (connection == nullptr || connection->session().lost()) return CL_DEVICE_NOT_AVAILABLE;
  // Sub-devices are lost with the worker that has split them off.
  const auto elsewhere = [&](const Device* device) { return device->connection() != connection; };
  if (std::any_of(devices.begin(), devices.end(), elsewhere)) return CL_DEVICE_NOT_AVAILABLE;
  // The worker would refuse them, too, but not before the first command.
  const auto& facts = connection->session().facts();
  const auto hidden = [&](const Device* device) { return !facts.may_use(device->root().index()); };
  if (std::any_of(devices.begin(), devices.end(), hidden)) return CL_DEVICE_NOT_AVAILABLE;
  return Ref<Context>::make(*connection, std::move(devices), std::move(properties.list)).publish();
}

}  // namespace

cl_context clCreateContext(const cl_context_properties* properties, cl_uint num_devices,
                           const cl_device_id* devices,
                           void(CL_CALLBACK* pfn_notify)(const char*, const void*, size_t, void*),
                           void* user_data, cl_int* errcode_ret) {
  return create_entry<cl_context>(errcode_ret, [&]() -> Outcome<cl_context> {
    if (devices == nullptr || num_devices == 0) return CL_INVALID_VALUE;
    if (pfn_notify == nullptr && user_data != nullptr) return CL_INVALID_VALUE;
    ContextProperties read;
    if (const cl_int error = read_context_properties(properties, read)) return error;
    std::vector<Device*> chosen;
    if (const cl_int error = read_devices(num_devices, devices, chosen)) return error;
    if (read.platform != nullptr && read.platform != &chosen.front()->platform()) return CL_INVALID_DEVICE;
    return make_context(std::move(chosen), std::move(read));
  });
}

cl_context clCreateContextFromType(const cl_context_properties* properties, cl_device_type device_type,
                                   void(CL_CALLBACK* pfn_notify)(const char*, const void*, size_t, void*),
                                   void* user_data, cl_int* errcode_ret) {
  return create_entry<cl_context>(errcode_ret, [&]() -> Outcome<cl_context> {
    if (pfn_notify == nullptr && user_data != nullptr) return CL_INVALID_VALUE;
    ContextProperties read;
    if (const cl_int error = read_context_properties(properties, read)) return error;
    if (read.platform == nullptr) {
      const auto platforms = Platform::all();
      if (platforms.empty()) return CL_INVALID_PLATFORM;
      read.platform = platforms.front();
    }
    std::vector<Device*> chosen;
    if (const cl_int error = read.platform->find_devices(device_type, chosen)) return error;
    return make_context(std::move(chosen), std::move(read));
  });
}

cl_int clRetainContext(cl_context context) {
  return entry([&]() -> cl_int {
    Context* const object = downcast<Context>(context);
    if (object == nullptr) return CL_INVALID_CONTEXT;
    object->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseContext(cl_context context) {
  return entry([&]() -> cl_int {
    Context* const object = downcast<Context>(context);
    return object != nullptr && object->release() ? CL_SUCCESS : CL_INVALID_CONTEXT;
  });
}

cl_int clGetContextInfo(cl_context context, cl_context_info param_name, size_t param_value_size,
                        void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    const Context* const object = downcast<Context>(context);
    if (object == nullptr) return CL_INVALID_CONTEXT;
    return object->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clSetContextDestructorCallback(cl_context context, void(CL_CALLBACK* pfn_notify)(cl_context, void*),
                                      void* user_data) {
  return entry([&]() -> cl_int {
    Context* const object = downcast<Context>(context);
    if (object == nullptr) return CL_INVALID_CONTEXT;
    if (pfn_notify == nullptr) return CL_INVALID_VALUE;
    object->add_destructor_callback([=](cl_context handle) { pfn_notify(handle, user_data); });
    return CL_SUCCESS;
  });
}

}  // namespace fairgv::icd
