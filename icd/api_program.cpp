// Entry points: programs.
#include "icd/api.hpp"
#include "icd/entry.hpp"
#include "icd/program.hpp"

#include <cstring>

namespace fairgv::icd {
namespace {

/// The pieces of source as one text; CL_INVALID_VALUE if one is missing.
cl_int join_source(cl_uint count, const char** strings, const size_t* lengths, std::string& source) {
  if (count == 0 || strings == nullptr) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (strings[i] == nullptr) return CL_INVALID_VALUE;
    const bool terminated = lengths == nullptr || lengths[i] == 0;
    source.append(strings[i], terminated ? std::strlen(strings[i]) : lengths[i]);
  }
  return CL_SUCCESS;
}

struct Binaries {
  std::vector<Device*> devices;
  std::vector<wire::DeviceIndex> indices;
  std::vector<std::uint64_t> sizes;
  std::vector<std::byte> bytes;  // one after the other
};

cl_int read_binaries(const Context& context, cl_uint count, const cl_device_id* devices,
                     const size_t* lengths, const unsigned char** binaries, cl_int* statuses,
                     Binaries& result) {
  for (cl_uint i = 0; i < count; ++i) {
    Device* const device = downcast<Device>(devices[i]);
    if (device == nullptr || !context.has_device(*device)) return CL_INVALID_DEVICE;
    if (lengths[i] == 0 || binaries[i] == nullptr) {
      if (statuses != nullptr) statuses[i] = CL_INVALID_VALUE;
      return CL_INVALID_VALUE;
    }
    result.devices.push_back(device);
    result.indices.push_back(device->index());
    result.sizes.push_back(lengths[i]);
    const auto* const first = reinterpret_cast<const std::byte*>(binaries[i]);
    result.bytes.insert(result.bytes.end(), first, first + lengths[i]);
  }
  return CL_SUCCESS;
}

/// Whether kernels of the binary may call printf: its name is then in it, in the formats of all drivers we
/// know.
bool may_print(std::span<const std::byte> binary) {
  const std::string_view text(reinterpret_cast<const char*>(binary.data()), binary.size());
  return text.find("printf") != std::string_view::npos;
}

/// The devices of a build; none stands for all.
cl_int read_build_devices(const Program& program, cl_uint count, const cl_device_id* handles,
                          std::vector<Device*>& devices) {
  if ((count == 0) != (handles == nullptr)) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    Device* const device = downcast<Device>(handles[i]);
    if (device == nullptr || !program.has_device(*device)) return CL_INVALID_DEVICE;
    devices.push_back(device);
  }
  return CL_SUCCESS;
}

}  // namespace

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                     const size_t* lengths, cl_int* errcode_ret) {
  return create_entry<cl_program>(errcode_ret, [&]() -> Outcome<cl_program> {
    Context* const owner = downcast<Context>(context);
    if (owner == nullptr) return CL_INVALID_CONTEXT;
    std::string source;
    if (const cl_int error = join_source(count, strings, lengths, source)) return error;
    if (owner->session().lost()) return CL_OUT_OF_RESOURCES;
    return Ref<Program>::make(*owner, std::move(source)).publish();
  });
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint num_devices, const cl_device_id* device_list,
                                     const size_t* lengths, const unsigned char** binaries,
                                     cl_int* binary_status, cl_int* errcode_ret) {
  return create_entry<cl_program>(errcode_ret, [&]() -> Outcome<cl_program> {
    Context* const owner = downcast<Context>(context);
    if (owner == nullptr) return CL_INVALID_CONTEXT;
    if (num_devices == 0 || device_list == nullptr || lengths == nullptr || binaries == nullptr) {
      return CL_INVALID_VALUE;
    }
    Binaries read;
    if (const cl_int error =
            read_binaries(*owner, num_devices, device_list, lengths, binaries, binary_status, read)) {
      return error;
    }
    const wire::ObjectId id = owner->session().new_object();
    const auto reply = owner->connection().call(
        wire::CreateProgramWithBinary{id, owner->id(), read.indices, read.sizes, read.bytes});
    if (reply && binary_status != nullptr) {
      std::copy_n(reply->statuses.begin(), std::min<std::size_t>(num_devices, reply->statuses.size()),
                  binary_status);
    }
    const cl_int error = reply ? reply->error : CL_OUT_OF_RESOURCES;
    if (error != CL_SUCCESS) {
      owner->session().release_object(id);
      return error;
    }
    if (may_print(read.bytes)) owner->session().kernel_output().expect();
    return Ref<Program>::make(*owner, id, std::move(read.devices)).publish();
  });
}

cl_int clRetainProgram(cl_program program) {
  return entry([&]() -> cl_int {
    Program* const object = downcast<Program>(program);
    if (object == nullptr) return CL_INVALID_PROGRAM;
    object->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseProgram(cl_program program) {
  return entry([&]() -> cl_int {
    Program* const object = downcast<Program>(program);
    return object != nullptr && object->release() ? CL_SUCCESS : CL_INVALID_PROGRAM;
  });
}

cl_int clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list,
                      const char* options, void(CL_CALLBACK* pfn_notify)(cl_program, void*),
                      void* user_data) {
  return entry([&]() -> cl_int {
    Program* const object = downcast<Program>(program);
    if (object == nullptr) return CL_INVALID_PROGRAM;
    if (pfn_notify == nullptr && user_data != nullptr) return CL_INVALID_VALUE;
    std::vector<Device*> devices;
    if (const cl_int error = read_build_devices(*object, num_devices, device_list, devices)) return error;
    std::function<void()> notify;
    if (pfn_notify != nullptr) notify = [=] { pfn_notify(program, user_data); };
    return object->build(devices, options == nullptr ? "" : options, std::move(notify));
  });
}

cl_int clGetProgramInfo(cl_program program, cl_program_info param_name, size_t param_value_size,
                        void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Program* const object = downcast<Program>(program);
    if (object == nullptr) return CL_INVALID_PROGRAM;
    return object->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info param_name,
                             size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Program* const object = downcast<Program>(program);
    if (object == nullptr) return CL_INVALID_PROGRAM;
    const Device* const target = downcast<Device>(device);
    if (target == nullptr || !object->has_device(*target)) return CL_INVALID_DEVICE;
    return object->build_info(*target, param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clSetProgramReleaseCallback(cl_program program, void(CL_CALLBACK* pfn_notify)(cl_program, void*),
                                   void* user_data) {
  return entry([&]() -> cl_int {
    Program* const object = downcast<Program>(program);
    if (object == nullptr) return CL_INVALID_PROGRAM;
    if (pfn_notify == nullptr) return CL_INVALID_VALUE;
    object->add_release_callback([=](cl_program handle) { pfn_notify(handle, user_data); });
    return CL_SUCCESS;
  });
}

}  // namespace fairgv::icd
