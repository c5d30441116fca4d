// Entry points: programs, but for building them (api/build.cpp).
#include "icd/programs/program.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"

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

/// A program that the worker is asked to make: `make(id)` sends the call and returns its error.
template <class Make>
Outcome<cl_program> make_program(Context& context, std::span<Device* const> devices, ProgramOrigin origin,
                                 std::string intermediate, Make make) {
  const wire::ObjectId id = context.session().new_object();
  const cl_int error = make(id);
  if (error != CL_SUCCESS) {
    context.session().release_object(id);
    return error;
  }
  return Ref<Program>::make(context, id, devices, origin, std::move(intermediate)).publish();
}

}  // namespace

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                     const size_t* lengths, cl_int* errcode_ret) {
  return create_entry<cl_program>(errcode_ret, [&]() -> Outcome<cl_program> {
    Context* const owner = downcast<Context>(context);
    if (owner == nullptr) return CL_INVALID_CONTEXT;
    std::string source;
    if (const cl_int error = join_source(count, strings, lengths, source)) return error;
    if (owner->session().lost()) return kSessionLost;
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
    if (may_print(read.bytes)) owner->session().kernel_output().expect();
    return make_program(*owner, read.devices, ProgramOrigin::binary, {}, [&](wire::ObjectId id) -> cl_int {
      const auto reply = owner->connection().call(
          wire::CreateProgramWithBinary{id, owner->id(), read.indices, read.sizes, read.bytes});
      if (reply && binary_status != nullptr) {
        std::copy_n(reply->statuses.begin(), std::min<std::size_t>(num_devices, reply->statuses.size()),
                    binary_status);
      }
      return reply ? reply->error : kSessionLost;
    });
  });
}

cl_program clCreateProgramWithIL(cl_context context, const void* il, size_t length, cl_int* errcode_ret) {
  return create_entry<cl_program>(errcode_ret, [&]() -> Outcome<cl_program> {
    Context* const owner = downcast<Context>(context);
    if (owner == nullptr) return CL_INVALID_CONTEXT;
    if (il == nullptr || length == 0) return CL_INVALID_VALUE;
    const std::span code(static_cast<const std::byte*>(il), length);
    std::string copy(static_cast<const char*>(il), length);
    return make_program(
        *owner, owner->devices(), ProgramOrigin::intermediate, std::move(copy),
        [&](wire::ObjectId id) -> cl_int {
          const auto reply = owner->connection().call(wire::CreateProgramWithIl{id, owner->id(), code});
          return reply ? reply->error : kSessionLost;
        });
  });
}

cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices,
                                             const cl_device_id* device_list, const char* kernel_names,
                                             cl_int* errcode_ret) {
  return create_entry<cl_program>(errcode_ret, [&]() -> Outcome<cl_program> {
    Context* const owner = downcast<Context>(context);
    if (owner == nullptr) return CL_INVALID_CONTEXT;
    if (num_devices == 0 || device_list == nullptr || kernel_names == nullptr) return CL_INVALID_VALUE;
    std::vector<Device*> devices;
    std::vector<wire::DeviceIndex> indices;
    for (cl_uint i = 0; i < num_devices; ++i) {
      Device* const device = downcast<Device>(device_list[i]);
      if (device == nullptr || !owner->has_device(*device)) return CL_INVALID_DEVICE;
      devices.push_back(device);
      indices.push_back(device->index());
    }
    return make_program(*owner, devices, ProgramOrigin::built_in_kernels, {},
                        [&](wire::ObjectId id) -> cl_int {
                          const auto reply = owner->connection().call(
                              wire::CreateProgramWithBuiltInKernels{id, owner->id(), indices, kernel_names});
                          return reply ? reply->error : kSessionLost;
                        });
  });
}

cl_int clSetProgramSpecializationConstant(cl_program program, cl_uint spec_id, size_t spec_size,
                                          const void* spec_value) {
  return entry([&]() -> cl_int {
    const Program* const object = downcast<Program>(program);
    if (object == nullptr) return CL_INVALID_PROGRAM;
    if (spec_value == nullptr || spec_size > sizeof(cl_ulong)) return CL_INVALID_VALUE;
    const std::span value(static_cast<const std::byte*>(spec_value), spec_size);
    const auto reply =
        object->connection().call(wire::SetSpecializationConstant{object->id(), spec_id, value});
    return reply ? reply->error : kSessionLost;
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
    // Drivers without program-scope constructors may have none of these calls (OpenCL 3.0, 5.8.11).
    const auto reply = object->connection().call(wire::CheckReleaseCallback{object->id()});
    if (!reply) return kSessionLost;
    if (reply->error != CL_SUCCESS) return reply->error;
    object->add_release_callback([=](cl_program handle) { pfn_notify(handle, user_data); });
    return CL_SUCCESS;
  });
}

}  // namespace fairgv::icd
