// Entry points: building, compiling and linking programs.
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/programs/program.hpp"

namespace fairgv::icd {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

/// The devices of a build, of which `owner` (a program, a context) must know each; none stands for all.
template <class Owner>
cl_int read_build_devices(const Owner& owner, cl_uint count, const cl_device_id* handles,
                          std::vector<Device*>& devices) {
  if ((count == 0) != (handles == nullptr)) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    Device* const device = downcast<Device>(handles[i]);
    if (device == nullptr || !owner.has_device(*device)) return CL_INVALID_DEVICE;
    devices.push_back(device);
  }
  return CL_SUCCESS;
}

std::function<void()> notification(cl_program program, Notify function, void* user_data) {
  if (function == nullptr) return {};
  return [=] { function(program, user_data); };
}

cl_int read_headers(cl_uint count, const cl_program* programs, const char** names,
                    std::vector<EmbeddedHeader>& headers) {
  if ((count == 0) != (programs == nullptr) || (count == 0) != (names == nullptr)) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    const Program* const program = downcast<Program>(programs[i]);
    if (program == nullptr) return CL_INVALID_PROGRAM;
    if (names[i] == nullptr) return CL_INVALID_VALUE;
    headers.push_back({program, names[i]});
  }
  return CL_SUCCESS;
}

cl_int read_link_inputs(const Context& context, cl_uint count, const cl_program* handles,
                        std::vector<Program*>& inputs) {
  if (count == 0 || handles == nullptr) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    Program* const program = downcast<Program>(handles[i]);
    if (program == nullptr || &program->context() != &context) return CL_INVALID_PROGRAM;
    inputs.push_back(program);
  }
  const bool all_linkable =
      std::all_of(inputs.begin(), inputs.end(), [](Program* program) { return program->is_linkable(); });
  return all_linkable ? CL_SUCCESS : CL_INVALID_OPERATION;
}

}  // namespace

cl_int clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list,
                      const char* options, Notify pfn_notify, void* user_data) {
  return entry([&]() -> cl_int {
    Program* const object = downcast<Program>(program);
    if (object == nullptr) return CL_INVALID_PROGRAM;
    if (pfn_notify == nullptr && user_data != nullptr) return CL_INVALID_VALUE;
    std::vector<Device*> devices;
    if (const cl_int error = read_build_devices(*object, num_devices, device_list, devices)) return error;
    return object->build(devices, options, notification(program, pfn_notify, user_data));
  });
}

cl_int clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list,
                        const char* options, cl_uint num_input_headers, const cl_program* input_headers,
                        const char** header_include_names, Notify pfn_notify, void* user_data) {
  return entry([&]() -> cl_int {
    Program* const object = downcast<Program>(program);
    if (object == nullptr) return CL_INVALID_PROGRAM;
    if (pfn_notify == nullptr && user_data != nullptr) return CL_INVALID_VALUE;
    std::vector<EmbeddedHeader> headers;
    if (const cl_int error = read_headers(num_input_headers, input_headers, header_include_names, headers)) {
      return error;
    }
    std::vector<Device*> devices;
    if (const cl_int error = read_build_devices(*object, num_devices, device_list, devices)) return error;
    return object->compile(devices, options, headers, notification(program, pfn_notify, user_data));
  });
}

cl_program clLinkProgram(cl_context context, cl_uint num_devices, const cl_device_id* device_list,
                         const char* options, cl_uint num_input_programs, const cl_program* input_programs,
                         Notify pfn_notify, void* user_data, cl_int* errcode_ret) {
  cl_int link_error = CL_SUCCESS;
  const cl_program made = create_entry<cl_program>(errcode_ret, [&]() -> Outcome<cl_program> {
    Context* const owner = downcast<Context>(context);
    if (owner == nullptr) return CL_INVALID_CONTEXT;
    if (pfn_notify == nullptr && user_data != nullptr) return CL_INVALID_VALUE;
    std::vector<Device*> devices;
    if (const cl_int error = read_build_devices(*owner, num_devices, device_list, devices)) return error;
    std::vector<Program*> inputs;
    if (const cl_int error = read_link_inputs(*owner, num_input_programs, input_programs, inputs)) {
      return error;
    }
    const std::span<Device* const> targets = devices.empty() ? owner->devices() : devices;
    const auto program =
        Ref<Program>::make(*owner, owner->session().new_object(), targets, ProgramOrigin::link);
    // The callback may release the program before this call returns.
    const cl_program handle = program.publish();
    link_error = program->link(devices, options, inputs, notification(handle, pfn_notify, user_data));
    if (link_error == CL_SUCCESS || (pfn_notify == nullptr && !program->is_unmade())) return handle;
    program->release();
    return link_error;
  });
  // A program that did not link is returned along with the error.
  if (made != nullptr && errcode_ret != nullptr) *errcode_ret = link_error;
  return made;
}

}  // namespace fairgv::icd
