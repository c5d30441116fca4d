#include "runtime/vgpu/opencl/extension_call.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "runtime/wire/extension_cif.hpp"

namespace fairgv::vgpu::opencl {
namespace {

using wire::Parameter;
using wire::ParameterKind;

/// The arguments as libffi takes them: a value for each, and private memory behind the pointers.
class Arguments {
 public:
  Arguments(const wire::ExtensionSignature& signature, const wire::CallExtension& call)
      : signature_(signature), call_(call), rest_(call.contents) {}

  Result<void> unpack(const FindHandle& find_handle) {
    if (call_.scalars.size() != signature_.count) {
      return Error{fmt::format("{} arguments instead of {}", call_.scalars.size(), signature_.count)};
    }
    for (std::size_t i = 0; i < signature_.count; ++i) {
      if (auto added = add(i, find_handle); !added) return added;
    }
    if (!rest_.empty()) return Error{fmt::format("{} bytes that belong to no argument", rest_.size())};
    return {};
  }

  void poison(cl_int error) { poison_ = error; }
  /// The error of a poisoned object among the arguments, or CL_SUCCESS.
  cl_int poison() const { return poison_; }

  void** addresses() {
    for (std::size_t i = 0; i < signature_.count; ++i) addresses_.at(i) = &values_.at(i);
    return addresses_.data();
  }

  std::vector<std::byte> outputs() const {
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < signature_.count; ++i) {
      if (signature_.all.at(i).kind != ParameterKind::out) continue;
      all.insert(all.end(), memory_.at(i).begin(), memory_.at(i).end());
    }
    return all;
  }

 private:
  // Little-endian: a 32-bit value lies where the pointer to it expects it.
  static_assert(std::endian::native == std::endian::little);

  Result<void> add(std::size_t i, const FindHandle& find_handle) {
    const Parameter& parameter = signature_.all.at(i);
    const std::uint64_t scalar = call_.scalars[i];
    if (parameter.is_pointer()) return add_pointer(i, parameter, scalar);
    if (parameter.kind == ParameterKind::u32 && scalar > std::numeric_limits<std::uint32_t>::max()) {
      return Error{fmt::format("argument {} has more than 32 bits", i)};
    }
    values_.at(i) = scalar;
    if (parameter.is_number() || scalar == 0) return {};
    FAIRGV_TRY(handle, find_handle(parameter.kind, scalar, poison_));
    values_.at(i) = reinterpret_cast<std::uintptr_t>(handle.value());
    return {};
  }

  Result<void> add_pointer(std::size_t i, const Parameter& parameter, std::uint64_t present) {
    if (present > 1) return Error{fmt::format("argument {} is neither a pointer nor null", i)};
    if (present == 0) return {};
    const std::uint64_t count =
        parameter.count_from < 0 ? 1 : call_.scalars[static_cast<std::size_t>(parameter.count_from)];
    const std::uint64_t bytes = wire::pointed_bytes(parameter, count);
    if (bytes > wire::kMostExtensionBytes || bytes > rest_.size()) {
      return Error{fmt::format("argument {} leads to {} bytes, of which {} came", i, bytes, rest_.size())};
    }
    std::vector<std::byte>& memory = memory_.at(i);
    memory.reserve(bytes + 1);  // never null, as the application's pointer is not
    memory.assign(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(bytes));
    rest_ = rest_.subspan(bytes);
    values_.at(i) = reinterpret_cast<std::uintptr_t>(memory.data());
    return {};
  }

  const wire::ExtensionSignature& signature_;
  const wire::CallExtension& call_;
  std::span<const std::byte> rest_;
  std::array<std::uint64_t, wire::kMostParameters> values_{};
  std::array<std::vector<std::byte>, wire::kMostParameters> memory_;
  std::array<void*, wire::kMostParameters> addresses_{};
  cl_int poison_ = CL_SUCCESS;
};

}  // namespace

Result<wire::ExtensionReply> call_extension(const wire::ExtensionSignature& signature, void (*function)(),
                                            const wire::CallExtension& call, const FindHandle& find_handle) {
  Arguments arguments(signature, call);
  FAIRGV_CHECK(arguments.unpack(find_handle));
  wire::ExtensionReply reply;
  if (function == nullptr && arguments.poison() == CL_SUCCESS) arguments.poison(CL_INVALID_OPERATION);
  if (arguments.poison() != CL_SUCCESS) {
    if (signature.returns == wire::ReturnKind::error)
      reply.returned = static_cast<std::uint64_t>(std::int64_t{arguments.poison()});
  } else {
    wire::ExtensionCif cif(signature);
    if (cif.get() == nullptr) return Error{fmt::format("{} cannot be called", signature.function)};
    ffi_arg returned = 0;
    static_assert(sizeof(returned) == sizeof(reply.returned));
    ffi_call(cif.get(), function, &returned, arguments.addresses());
    reply.returned = returned;
  }
  reply.outputs = arguments.outputs();
  return reply;
}

}  // namespace fairgv::vgpu::opencl
