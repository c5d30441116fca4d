// Programs: made at once, from source, binaries or intermediate language; calls/build.cpp builds them.
#include <fmt/core.h>

#include <algorithm>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

using IlFunction = decltype(&clCreateProgramWithIL);

/// OpenCL 2.1's function, or the extension's (which is the same) before that; null if there is neither.
IlFunction il_function(const Platform& platform) {
  if (platform.is_2_1) return &clCreateProgramWithIL;
  return reinterpret_cast<IlFunction>(
      clGetExtensionFunctionAddressForPlatform(platform.id, "clCreateProgramWithILKHR"));
}

}  // namespace

Result<std::shared_ptr<Program>> Handlers::program(wire::ObjectId id) const {
  auto found = objects_.get<Program>(id);
  if (found) found.value()->settle();
  return found;
}

Result<void> Handlers::handle(const wire::CreateProgramWithSource& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  auto program = std::make_shared<Program>();
  program->context = std::move(context).value();
  program->error = program->context->error;
  program->source = std::make_shared<const std::string>(call.source);
  if (program->error == CL_SUCCESS) {
    // Not the message's bytes: a driver reads a source of length 0 to the next null character.
    const char* text = program->source->c_str();
    const std::size_t length = program->source->size();
    program->handle = ProgramHandle(
        clCreateProgramWithSource(program->context->handle.get(), 1, &text, &length, &program->error));
  }
  return objects_.insert(call.id, std::move(program));
}

Result<wire::BinaryReply> Handlers::handle(const wire::CreateProgramWithBinary& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(ids, driver_.ids(call.devices));
  if (call.sizes.size() != call.devices.size()) return Error{"not one binary for each device"};

  std::vector<std::size_t> lengths;
  std::vector<const unsigned char*> binaries;
  std::span<const std::byte> rest = call.binaries;
  for (const std::uint64_t size : call.sizes) {
    if (size > rest.size()) return Error{"binaries that are longer than the message"};
    lengths.push_back(size);
    binaries.push_back(reinterpret_cast<const unsigned char*>(rest.data()));
    rest = rest.subspan(size);
  }

  auto program = std::make_shared<Program>();
  program->context = std::move(context).value();
  program->error = program->context->error;
  wire::BinaryReply reply;
  reply.statuses.resize(call.devices.size());
  if (program->error == CL_SUCCESS) {
    program->handle = ProgramHandle(clCreateProgramWithBinary(
        program->context->handle.get(), static_cast<cl_uint>(ids.value().size()), ids.value().data(),
        lengths.data(), binaries.data(), reply.statuses.data(), &program->error));
  }
  reply.error = program->error;
  FAIRGV_CHECK(objects_.insert(call.id, std::move(program)));
  return reply;
}

Result<wire::StatusReply> Handlers::handle(const wire::CreateProgramWithIl& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  auto program = std::make_shared<Program>();
  program->context = std::move(context).value();
  program->error = program->context->error;
  if (program->error == CL_SUCCESS) {
    program->is_intermediate = true;
    const Device& device = driver_.devices()[program->context->devices.front()];
    const IlFunction create = il_function(driver_.platforms()[device.platform]);
    program->error = CL_INVALID_OPERATION;
    if (create != nullptr) {
      program->handle = ProgramHandle(
          create(program->context->handle.get(), call.il.data(), call.il.size(), &program->error));
    }
  }
  const wire::StatusReply reply{program->error};
  FAIRGV_CHECK(objects_.insert(call.id, std::move(program)));
  return reply;
}

Result<wire::StatusReply> Handlers::handle(const wire::CreateProgramWithBuiltInKernels& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(ids, driver_.ids(call.devices));
  auto program = std::make_shared<Program>();
  program->context = std::move(context).value();
  program->error = program->context->error;
  if (program->error == CL_SUCCESS) {
    program->handle = ProgramHandle(clCreateProgramWithBuiltInKernels(
        program->context->handle.get(), static_cast<cl_uint>(ids.value().size()), ids.value().data(),
        std::string(call.names).c_str(), &program->error));
  }
  // PoCL 3.1 returns null with its error variable as it was.
  if (!program->handle && program->error == CL_SUCCESS) program->error = CL_INVALID_VALUE;
  const wire::StatusReply reply{program->error};
  FAIRGV_CHECK(objects_.insert(call.id, std::move(program)));
  return reply;
}

Result<wire::StatusReply> Handlers::handle(const wire::SetSpecializationConstant& call) {
  FAIRGV_TRY(program, this->program(call.program));
  if (program.value()->error != CL_SUCCESS) return wire::StatusReply{program.value()->error};
  // PoCL 3.1 asserts it.
  if (!program.value()->is_intermediate) return wire::StatusReply{CL_INVALID_PROGRAM};
  const Device& device = driver_.devices()[program.value()->context->devices.front()];
  if (!driver_.platforms()[device.platform].is_2_2) return wire::StatusReply{CL_INVALID_OPERATION};
  return wire::StatusReply{clSetProgramSpecializationConstant(program.value()->handle.get(), call.constant,
                                                              call.value.size(), call.value.data())};
}

Result<wire::DevicesReply> Handlers::handle(const wire::GetProgramDevices& call) {
  FAIRGV_TRY(program, this->program(call.program));
  wire::DevicesReply reply;
  reply.error = program.value()->error;
  if (reply.error != CL_SUCCESS) return reply;
  const cl_program handle = program.value()->handle.get();
  cl_uint count = 0;
  reply.error = clGetProgramInfo(handle, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr);
  std::vector<cl_device_id> ids(count);
  if (reply.error == CL_SUCCESS && count != 0) {
    reply.error =
        clGetProgramInfo(handle, CL_PROGRAM_DEVICES, ids.size() * sizeof(ids[0]), ids.data(), nullptr);
  }
  if (reply.error != CL_SUCCESS) return reply;
  const auto& devices = driver_.devices();
  for (const cl_device_id id : ids) {
    const auto found =
        std::find_if(devices.begin(), devices.end(), [&](const Device& device) { return device.id == id; });
    if (found != devices.end())
      reply.devices.push_back(static_cast<wire::DeviceIndex>(found - devices.begin()));
  }
  return reply;
}

}  // namespace fairgv::vgpu::opencl
