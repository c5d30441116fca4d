// Functions of extensions, which no loader dispatches: found by name, called from the table of signatures.
#include <fmt/core.h>

#include "runtime/vgpu/opencl/extension_call.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

template <class T>
Result<void*> handle_of(const ObjectTable<Object>& objects, std::uint64_t name, cl_int& poison) {
  FAIRGV_TRY(object, objects.get<T>(wire::ObjectId{name}));
  if (object.value()->error != CL_SUCCESS) poison = object.value()->error;
  return static_cast<void*>(object.value()->handle.get());
}

/// A cl_mem may be any of three kinds of object.
Result<void*> memory_handle(const ObjectTable<Object>& objects, std::uint64_t name, cl_int& poison) {
  if (auto image = handle_of<Image>(objects, name, poison)) return image;
  if (auto pipe = handle_of<Pipe>(objects, name, poison)) return pipe;
  const auto buffer = objects.get<Buffer>(wire::ObjectId{name});
  // Nobody knows for how long the driver keeps it: it stays for good.
  if (const auto block = buffer ? block_of(*buffer.value()) : nullptr) {
    cl_int error = CL_SUCCESS;
    if (const auto pin = block->pin_in(error)) block->stays();
    if (error != CL_SUCCESS) poison = error;
  }
  return handle_of<Buffer>(objects, name, poison);
}

}  // namespace

Result<void*> Handlers::extension_function(wire::PlatformIndex platform, std::string_view name) const {
  if (platform >= driver_.platforms().size()) {
    return Error{fmt::format("platform {} of {} does not exist", platform, driver_.platforms().size())};
  }
  const auto place = driver_.place_of(platform);
  if (!place) return nullptr;
  return clGetExtensionFunctionAddressForPlatform(driver_.platforms()[*place].id, std::string(name).c_str());
}

Result<wire::StatusReply> Handlers::handle(const wire::FindExtensionFunction& call) {
  FAIRGV_TRY(function, extension_function(call.platform, call.function));
  return wire::StatusReply{function.value() != nullptr ? CL_SUCCESS : CL_INVALID_VALUE};
}

Result<wire::ExtensionReply> Handlers::handle(const wire::CallExtension& call) {
  const wire::ExtensionSignature* const signature = wire::find_signature(call.function);
  if (signature == nullptr) return Error{fmt::format("a function '{}' that no table has", call.function)};
  FAIRGV_TRY(function, extension_function(call.platform, call.function));
  // The program has found it: a driver to which the session was moved may lack it.
  if (function.value() == nullptr && driver_.place_of(call.platform) == call.platform)
    return Error{fmt::format("the driver has no {}", call.function)};
  // The others ask, by their names.
  if (function.value() != nullptr && !call.function.starts_with("clGet")) changed_by_ = call.function;
  return call_extension(*signature, reinterpret_cast<void (*)()>(function.value()), call,
                        [this](wire::ParameterKind kind, std::uint64_t name, cl_int& poison) {
                          return driver_handle(kind, name, poison);
                        });
}

Result<void*> Handlers::driver_handle(wire::ParameterKind kind, std::uint64_t name, cl_int& poison) const {
  switch (kind) {
    case wire::ParameterKind::platform: {
      if (name > driver_.platforms().size()) break;
      const auto place = driver_.place_of(static_cast<wire::PlatformIndex>(name - 1));
      if (!place) poison = CL_INVALID_PLATFORM;
      return place ? static_cast<void*>(driver_.platforms()[*place].id) : nullptr;
    }
    case wire::ParameterKind::device:
      if (name > driver_.devices().size() || driver_.devices()[name - 1].id == nullptr) break;
      return static_cast<void*>(driver_.devices()[name - 1].id);
    case wire::ParameterKind::context:
      return handle_of<Context>(objects_, name, poison);
    case wire::ParameterKind::queue:
      return handle_of<Queue>(objects_, name, poison);
    case wire::ParameterKind::memory:
      return memory_handle(objects_, name, poison);
    case wire::ParameterKind::program:
      return handle_of<Program>(objects_, name, poison);
    case wire::ParameterKind::kernel:
      return handle_of<Kernel>(objects_, name, poison);
    default:
      break;
  }
  return Error{fmt::format("{} names no object of kind {}", name, static_cast<int>(kind))};
}

}  // namespace fairgv::vgpu::opencl
