#include "icd/extensions/extension_call.hpp"

#include <cstring>

#include "icd/api/entry.hpp"
#include "icd/memory/memory.hpp"
#include "icd/objects/platform.hpp"
#include "icd/objects/queue.hpp"
#include "icd/programs/kernel.hpp"
#include "icd/programs/program.hpp"

namespace fairgv::icd {
namespace {

using wire::ParameterKind;

template <class T>
T read(const void* argument) {
  T value;
  std::memcpy(&value, argument, sizeof(value));
  return value;
}

/// An object's name on the wire.
std::uint64_t name_of(const Platform& platform) {
  return platform.index() + std::uint64_t{1};
}
std::uint64_t name_of(const Device& device) {
  return device.index() + std::uint64_t{1};
}
template <class Object>
std::uint64_t name_of(const Object& object) {
  return object.id().raw;
}

/// The connection on which that name is valid; nullptr: on any.
Connection* owner_of(const Platform&) {
  return nullptr;
}
Connection* owner_of(const Device& device) {
  return device.parent() != nullptr ? device.connection() : nullptr;
}
Connection* owner_of(const Memory& memory) {
  return &memory.context().connection();
}
Connection* owner_of(const Kernel& kernel) {
  return &kernel.program().connection();
}
template <class Object>
Connection* owner_of(const Object& object) {
  return &object.connection();
}

std::uint64_t read_number(const wire::Parameter& parameter, const void* argument) {
  return parameter.kind == ParameterKind::u32 ? read<std::uint32_t>(argument) : read<std::uint64_t>(argument);
}

}  // namespace

ExtensionArguments::ExtensionArguments(const wire::ExtensionSignature& signature, void* const* arguments)
    : signature_(signature), arguments_(arguments) {
  for (const wire::Parameter& parameter : signature.parameters()) {
    error_ = add(parameter, *arguments++);
    if (error_ != CL_SUCCESS) return;
  }
}

template <class Object>
cl_int ExtensionArguments::add_handle(const void* argument, cl_int error) {
  const auto handle = read<typename Object::Handle>(argument);
  const Object* const object = downcast<Object>(handle);
  if (handle != nullptr && object == nullptr) return error;
  scalars_.push_back(object != nullptr ? name_of(*object) : 0);
  Connection* const owner = object != nullptr ? owner_of(*object) : nullptr;
  // The next session's worker does not know objects of a lost session.
  if (owner != nullptr && connection_ != nullptr && connection_ != owner) return error;
  if (owner != nullptr) connection_ = owner;
  return CL_SUCCESS;
}

cl_int ExtensionArguments::add(const wire::Parameter& parameter, const void* argument) {
  switch (parameter.kind) {
    case ParameterKind::u32:
    case ParameterKind::u64:
      scalars_.push_back(read_number(parameter, argument));
      return CL_SUCCESS;
    case ParameterKind::platform:
      return add_handle<Platform>(argument, CL_INVALID_PLATFORM);
    case ParameterKind::device:
      return add_handle<Device>(argument, CL_INVALID_DEVICE);
    case ParameterKind::context:
      return add_handle<Context>(argument, CL_INVALID_CONTEXT);
    case ParameterKind::queue:
      return add_handle<Queue>(argument, CL_INVALID_COMMAND_QUEUE);
    case ParameterKind::memory:
      return add_handle<Memory>(argument, CL_INVALID_MEM_OBJECT);
    case ParameterKind::program:
      return add_handle<Program>(argument, CL_INVALID_PROGRAM);
    case ParameterKind::kernel:
      return add_handle<Kernel>(argument, CL_INVALID_KERNEL);
    case ParameterKind::in:
    case ParameterKind::out:
      return add_pointer(parameter, read<void*>(argument));
  }
  return CL_OUT_OF_RESOURCES;
}

cl_int ExtensionArguments::add_pointer(const wire::Parameter& parameter, void* pointer) {
  scalars_.push_back(pointer != nullptr ? 1 : 0);
  if (pointer == nullptr) return CL_SUCCESS;
  std::uint64_t count = 1;
  if (parameter.count_from >= 0) {
    const auto from = static_cast<std::size_t>(parameter.count_from);
    count = read_number(signature_.all.at(from), arguments_[from]);
  }
  const std::uint64_t bytes = wire::pointed_bytes(parameter, count);
  if (bytes > wire::kMostExtensionBytes - contents_.size()) return CL_OUT_OF_RESOURCES;
  const auto* const first = static_cast<const std::byte*>(pointer);
  contents_.insert(contents_.end(), first, first + bytes);
  if (parameter.kind == ParameterKind::out) outputs_.push_back({pointer, bytes});
  return CL_SUCCESS;
}

bool ExtensionArguments::take(std::span<const std::byte> outputs) const {
  std::size_t expected = 0;
  for (const Output& output : outputs_) expected += output.bytes;
  if (outputs.size() != expected) return false;
  for (const Output& output : outputs_) {
    if (output.bytes != 0) std::memcpy(output.to, outputs.data(), output.bytes);
    outputs = outputs.subspan(output.bytes);
  }
  return true;
}

ExtensionFunction::ExtensionFunction(const wire::ExtensionSignature& signature, Deliver deliver)
    : signature_(signature), deliver_(std::move(deliver)), cif_(signature) {
  void* code = nullptr;
  closure_ = static_cast<ffi_closure*>(ffi_closure_alloc(sizeof(ffi_closure), &code));
  if (closure_ == nullptr || cif_.get() == nullptr) return;
  if (ffi_prep_closure_loc(closure_, cif_.get(), &ExtensionFunction::called, this, code) == FFI_OK)
    code_ = code;
}

ExtensionFunction::~ExtensionFunction() {
  if (closure_ != nullptr) ffi_closure_free(closure_);
}

void ExtensionFunction::called(ffi_cif*, void* result, void** arguments, void* self) {
  const auto& function = *static_cast<const ExtensionFunction*>(self);
  std::uint64_t returned = 0;
  const cl_int error = entry([&] { return function.call(arguments, returned); });
  switch (function.signature_.returns) {
    case wire::ReturnKind::error:
      *static_cast<ffi_sarg*>(result) = error != CL_SUCCESS ? error : static_cast<cl_int>(returned);
      break;
    case wire::ReturnKind::u64:
      *static_cast<std::uint64_t*>(result) = returned;
      break;
    case wire::ReturnKind::nothing:
      break;
  }
}

cl_int ExtensionFunction::call(void* const* arguments, std::uint64_t& returned) const {
  const ExtensionArguments packed(signature_, arguments);
  if (packed.error() != CL_SUCCESS) return packed.error();
  const auto reply = deliver_(signature_.function, packed);
  if (!reply) return kSessionLost;
  if (!packed.take(reply->outputs)) return CL_OUT_OF_RESOURCES;
  returned = reply->returned;
  return CL_SUCCESS;
}

}  // namespace fairgv::icd
