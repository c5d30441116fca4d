// Entry points: kernels and their arguments.
#include "icd/programs/kernel.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"

namespace fairgv::icd {
namespace {

[[gnu::noinline]] const Device* search_device(const Program& program, cl_device_id device) {
  Device* const first = program.devices().front();
  if (device == nullptr) return program.devices().size() == 1 ? first : nullptr;
  const Device* const object = downcast<Device>(device);
  return object != nullptr && program.has_device(*object) ? object : nullptr;
}

/// The device a query is about: null means the only one.
const Device* query_device(const Kernel& kernel, cl_device_id device) {
  Device* const first = kernel.program().devices().front();
  return device == first->handle() ? first
                                   : search_device(kernel.program(), device);  // nearly always the first
}

}  // namespace

cl_kernel clCreateKernel(cl_program program, const char* kernel_name, cl_int* errcode_ret) {
  return create_entry<cl_kernel>(errcode_ret, [&]() -> Outcome<cl_kernel> {
    Program* const owner = downcast<Program>(program);
    if (owner == nullptr) return CL_INVALID_PROGRAM;
    if (kernel_name == nullptr) return CL_INVALID_VALUE;
    const auto table = owner->kernels();
    if (table == nullptr) return CL_INVALID_PROGRAM_EXECUTABLE;
    const auto found = std::find_if(table->begin(), table->end(), [&](const wire::KernelDescription& kernel) {
      return kernel.name == kernel_name;
    });
    if (found == table->end()) return CL_INVALID_KERNEL_NAME;
    return Ref<Kernel>::make(*owner, table, *found).publish();
  });
}

cl_int clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel* kernels,
                                cl_uint* num_kernels_ret) {
  return entry([&]() -> cl_int {
    Program* const owner = downcast<Program>(program);
    if (owner == nullptr) return CL_INVALID_PROGRAM;
    const auto table = owner->kernels();
    if (table == nullptr) return CL_INVALID_PROGRAM_EXECUTABLE;
    if (kernels != nullptr && num_kernels < table->size()) return CL_INVALID_VALUE;
    if (num_kernels_ret != nullptr) *num_kernels_ret = static_cast<cl_uint>(table->size());
    if (kernels == nullptr) return CL_SUCCESS;
    std::vector<Ref<Kernel>> made;
    for (const wire::KernelDescription& description : *table) {
      made.push_back(Ref<Kernel>::make(*owner, table, description));
    }
    std::transform(made.begin(), made.end(), kernels,
                   [](const Ref<Kernel>& kernel) { return kernel.publish(); });
    return CL_SUCCESS;
  });
}

cl_kernel clCloneKernel(cl_kernel source_kernel, cl_int* errcode_ret) {
  return create_entry<cl_kernel>(errcode_ret, [&]() -> Outcome<cl_kernel> {
    Kernel* const source = downcast<Kernel>(source_kernel);
    if (source == nullptr) return CL_INVALID_KERNEL;
    return Ref<Kernel>::make(*source).publish();
  });
}

cl_int clRetainKernel(cl_kernel kernel) {
  return entry([&]() -> cl_int {
    Kernel* const object = downcast<Kernel>(kernel);
    if (object == nullptr) return CL_INVALID_KERNEL;
    object->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseKernel(cl_kernel kernel) {
  return entry([&]() -> cl_int {
    Kernel* const object = downcast<Kernel>(kernel);
    return object != nullptr && object->release() ? CL_SUCCESS : CL_INVALID_KERNEL;
  });
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void* arg_value) {
  return entry([&]() -> cl_int {
    Kernel* const object = downcast<Kernel>(kernel);
    return object == nullptr ? CL_INVALID_KERNEL : object->set_argument(arg_index, arg_size, arg_value);
  });
}

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name, size_t param_value_size,
                       void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Kernel* const object = downcast<Kernel>(kernel);
    if (object == nullptr) return CL_INVALID_KERNEL;
    return object->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_indx, cl_kernel_arg_info param_name,
                          size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    const Kernel* const object = downcast<Kernel>(kernel);
    if (object == nullptr) return CL_INVALID_KERNEL;
    return object->argument_info(arg_indx, param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info param_name,
                                size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Kernel* const object = downcast<Kernel>(kernel);
    if (object == nullptr) return CL_INVALID_KERNEL;
    const Device* const target = query_device(*object, device);
    if (target == nullptr) return CL_INVALID_DEVICE;
    return object->group_info(*target, param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info param_name,
                               size_t input_value_size, const void* input_value, size_t param_value_size,
                               void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Kernel* const object = downcast<Kernel>(kernel);
    if (object == nullptr) return CL_INVALID_KERNEL;
    const Device* const target = query_device(*object, device);
    if (target == nullptr) return CL_INVALID_DEVICE;
    std::span<const std::byte> input;
    if (input_value != nullptr) input = {static_cast<const std::byte*>(input_value), input_value_size};
    return object->sub_group_info(*target, param_name, input,
                                  {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info param_name,
                                  size_t input_value_size, const void* input_value, size_t param_value_size,
                                  void* param_value, size_t* param_value_size_ret) {
  return icd::clGetKernelSubGroupInfo(kernel, device, param_name, input_value_size, input_value,
                                      param_value_size, param_value, param_value_size_ret);
}

}  // namespace fairgv::icd
