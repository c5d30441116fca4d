// Every extension that is passed on to applications, and every function of it, in one table. To serve another
// function with plain arguments, add its row, and a row for each other function of its extension: a test
// compares them with the headers of OpenCL.
//
// The front end makes a function of each signature's type (icd/extensions/extension_functions.hpp) that packs
// its arguments into one CallExtension; the worker unpacks them and calls the function that the driver gives
// for the name. libffi does both from the row, so a function needs no other code.
//
// The types that a row can name: 32- and 64-bit numbers, handles of objects that live as long as their owner
// wants (not events, which the worker may not have made yet, and nothing that is created or released), and
// pointers to numbers, arrays and bytes that the function reads or writes before it returns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace fairgv::wire {

enum class ParameterKind : std::uint8_t {
  u32,       // cl_int, cl_uint, cl_bool, enumerations
  u64,       // size_t, cl_ulong, bit-fields
  platform,  // the handles may be null
  device,
  context,
  queue,
  memory,
  program,
  kernel,
  in,   // a pointer that the function reads from; may be null
  out,  // a pointer that the function writes to; may be null
};

struct Parameter {
  ParameterKind kind = ParameterKind::u32;
  /// Of `in` and `out`: bytes of one element, and which parameter (a number) says how many there are; none:
  /// one.
  std::uint32_t element_bytes = 0;
  std::int32_t count_from = -1;

  constexpr bool is_pointer() const { return kind == ParameterKind::in || kind == ParameterKind::out; }
  constexpr bool is_number() const { return kind == ParameterKind::u32 || kind == ParameterKind::u64; }
};

enum class ReturnKind : std::uint8_t { error, u64, nothing };

enum class ServedBy : std::uint8_t {
  signature,          // from its row alone
  entry_point,        // the front end's own function (icd/extensions/extension_functions.cpp has its address)
  nothing_is_needed,  // the extension adds no function: it changes the kernel language, extends served calls,
                      // or adds queries whose answers are passed through
};

inline constexpr std::size_t kMostParameters = 12;
/// The most bytes that a call's pointers may lead to, all together.
inline constexpr std::uint64_t kMostExtensionBytes = std::uint64_t{1} << 20;

struct ExtensionSignature {
  std::string_view function;
  std::string_view extension;
  ReturnKind returns = ReturnKind::error;
  std::array<Parameter, kMostParameters> all{};
  std::size_t count = 0;
  ServedBy served_by = ServedBy::signature;

  constexpr ExtensionSignature(std::string_view function_name, std::string_view extension_name,
                               ReturnKind return_kind, std::initializer_list<Parameter> list,
                               ServedBy by = ServedBy::signature)
      : function(function_name),
        extension(extension_name),
        returns(return_kind),
        count(list.size()),
        served_by(by) {
    std::copy(list.begin(), list.end(), all.begin());  // too many do not compile
  }
  constexpr std::span<const Parameter> parameters() const { return {all.data(), count}; }
};

namespace signature {

inline constexpr Parameter u32{ParameterKind::u32};
inline constexpr Parameter u64{ParameterKind::u64};
inline constexpr Parameter size{ParameterKind::u64};
inline constexpr Parameter platform{ParameterKind::platform};
inline constexpr Parameter device{ParameterKind::device};
inline constexpr Parameter context{ParameterKind::context};
inline constexpr Parameter queue{ParameterKind::queue};
inline constexpr Parameter memory{ParameterKind::memory};
inline constexpr Parameter program{ParameterKind::program};
inline constexpr Parameter kernel{ParameterKind::kernel};

/// An array whose length parameter number `count_from` (from 0) gives; without one, a single element.
constexpr Parameter in(std::uint32_t element_bytes, std::int32_t count_from = -1) {
  return {ParameterKind::in, element_bytes, count_from};
}
constexpr Parameter out(std::uint32_t element_bytes, std::int32_t count_from = -1) {
  return {ParameterKind::out, element_bytes, count_from};
}
/// The end of every query, `size_t, void*, size_t*`, is: size, out(1, number of that size), size_ret.
inline constexpr Parameter size_ret = out(sizeof(std::uint64_t));

}  // namespace signature

namespace detail {

constexpr ExtensionSignature only_language(std::string_view extension) {
  return {"", extension, ReturnKind::nothing, {}, ServedBy::nothing_is_needed};
}
constexpr ExtensionSignature entry_point(std::string_view function, std::string_view extension) {
  return {function, extension, ReturnKind::nothing, {}, ServedBy::entry_point};
}

}  // namespace detail

/// Every extension that is passed on, with every function of it.
inline constexpr std::array kExtensions = [] {
  using detail::entry_point;
  using detail::only_language;
  return std::array{
      only_language("cl_khr_byte_addressable_store"),
      only_language("cl_khr_global_int32_base_atomics"),
      only_language("cl_khr_global_int32_extended_atomics"),
      only_language("cl_khr_local_int32_base_atomics"),
      only_language("cl_khr_local_int32_extended_atomics"),
      only_language("cl_khr_int64_base_atomics"),
      only_language("cl_khr_int64_extended_atomics"),
      only_language("cl_khr_spir"),
      only_language("cl_khr_fp16"),
      only_language("cl_khr_fp64"),
      only_language("cl_khr_select_fprounding_mode"),
      only_language("cl_khr_integer_dot_product"),
      only_language("cl_khr_expect_assume"),
      only_language("cl_khr_extended_bit_ops"),
      only_language("cl_khr_subgroup_ballot"),
      only_language("cl_khr_subgroup_clustered_reduce"),
      only_language("cl_khr_subgroup_extended_types"),
      only_language("cl_khr_subgroup_named_barrier"),
      only_language("cl_khr_subgroup_non_uniform_arithmetic"),
      only_language("cl_khr_subgroup_non_uniform_vote"),
      only_language("cl_khr_subgroup_rotate"),
      only_language("cl_khr_subgroup_shuffle"),
      only_language("cl_khr_subgroup_shuffle_relative"),
      only_language("cl_khr_work_group_uniform_arithmetic"),
      only_language("cl_khr_3d_image_writes"),
      only_language("cl_khr_depth_images"),
      only_language("cl_khr_image2d_from_buffer"),
      only_language("cl_khr_srgb_image_writes"),
      only_language("cl_khr_device_uuid"),
      only_language("cl_khr_pci_bus_info"),
      only_language("cl_khr_extended_versioning"),
      only_language("cl_khr_initialize_memory"),
      only_language("cl_ext_float_atomics"),
      only_language("cl_nv_compiler_options"),
      only_language("cl_nv_device_attribute_query"),
      only_language("cl_nv_pragma_unroll"),
      only_language("cl_amd_device_attribute_query"),
      only_language("cl_amd_media_ops"),
      only_language("cl_amd_media_ops2"),
      only_language("cl_amd_printf"),
      only_language("cl_intel_subgroups"),
      only_language("cl_intel_subgroups_char"),
      only_language("cl_intel_subgroups_short"),
      only_language("cl_intel_subgroups_long"),
      only_language("cl_intel_required_subgroup_size"),
      only_language("cl_intel_device_attribute_query"),
      only_language("cl_arm_integer_dot_product_int8"),
      only_language("cl_arm_integer_dot_product_accumulate_int8"),
      only_language("cl_arm_core_id"),
      entry_point("clCreateCommandBufferKHR", "cl_khr_command_buffer"),
      entry_point("clRetainCommandBufferKHR", "cl_khr_command_buffer"),
      entry_point("clReleaseCommandBufferKHR", "cl_khr_command_buffer"),
      entry_point("clFinalizeCommandBufferKHR", "cl_khr_command_buffer"),
      entry_point("clEnqueueCommandBufferKHR", "cl_khr_command_buffer"),
      entry_point("clGetCommandBufferInfoKHR", "cl_khr_command_buffer"),
      entry_point("clCommandBarrierWithWaitListKHR", "cl_khr_command_buffer"),
      entry_point("clCommandCopyBufferKHR", "cl_khr_command_buffer"),
      entry_point("clCommandCopyBufferRectKHR", "cl_khr_command_buffer"),
      entry_point("clCommandCopyBufferToImageKHR", "cl_khr_command_buffer"),
      entry_point("clCommandCopyImageKHR", "cl_khr_command_buffer"),
      entry_point("clCommandCopyImageToBufferKHR", "cl_khr_command_buffer"),
      entry_point("clCommandFillBufferKHR", "cl_khr_command_buffer"),
      entry_point("clCommandFillImageKHR", "cl_khr_command_buffer"),
      entry_point("clCommandNDRangeKernelKHR", "cl_khr_command_buffer"),
      entry_point("clGetKernelSubGroupInfoKHR", "cl_khr_subgroups"),
      entry_point("clCreateProgramWithILKHR", "cl_khr_il_program"),
      entry_point("clCreateCommandQueueWithPropertiesKHR", "cl_khr_create_command_queue"),
      ExtensionSignature{"clSetContentSizeBufferPoCL",
                         "cl_pocl_content_size",
                         ReturnKind::error,
                         {signature::memory, signature::memory}},
      ExtensionSignature{"clGetKernelSuggestedLocalWorkSizeKHR",
                         "cl_khr_suggested_local_work_size",
                         ReturnKind::error,
                         {signature::queue, signature::kernel, signature::u32, signature::in(8, 2),
                          signature::in(8, 2), signature::out(8, 2)}},
  };
}();

/// The row of a function that is served by its signature, or nullptr.
constexpr const ExtensionSignature* find_signature(std::string_view function) {
  const auto* const found =
      std::find_if(kExtensions.begin(), kExtensions.end(), [function](const ExtensionSignature& row) {
        return row.served_by == ServedBy::signature && row.function == function;
      });
  return found == kExtensions.end() ? nullptr : &*found;
}

/// Whether an extension of the driver's is passed on.
constexpr bool is_passed_on(std::string_view extension) {
  return std::any_of(kExtensions.begin(), kExtensions.end(),
                     [extension](const ExtensionSignature& row) { return row.extension == extension; });
}

/// Bytes that a pointer argument leads to, when the parameter that counts its elements has the value `count`;
/// more than kMostExtensionBytes if that is too much.
constexpr std::uint64_t pointed_bytes(const Parameter& parameter, std::uint64_t count) {
  if (parameter.count_from < 0) return parameter.element_bytes;
  return count > kMostExtensionBytes ? count : count * parameter.element_bytes;
}

namespace detail {

constexpr bool counts_refer_to_numbers(const ExtensionSignature& row) {
  return std::all_of(row.parameters().begin(), row.parameters().end(), [&](const Parameter& parameter) {
    if (!parameter.is_pointer()) return true;
    const auto from = static_cast<std::size_t>(parameter.count_from);
    return parameter.element_bytes != 0 &&
           (parameter.count_from < 0 || (from < row.count && row.all.at(from).is_number()));
  });
}
static_assert(std::all_of(kExtensions.begin(), kExtensions.end(), counts_refer_to_numbers));

}  // namespace detail

}  // namespace fairgv::wire
