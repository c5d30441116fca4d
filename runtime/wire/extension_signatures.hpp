// Extension functions with plain arguments, served from one table: to serve another, add its row.
//
// The front end makes a function of each row's type (icd/extensions/extension_functions.hpp) that packs its arguments
// into one CallExtension; the worker unpacks them and calls the function that the driver gives for the name.
// Both are done with libffi from what the row says, so nothing else is written for a function.
//
// What a row can say: 32- and 64-bit numbers, handles of objects that live as long as their owner wants (not
// events, which the worker may not have made yet, and nothing that is created or released), and pointers to
// numbers, arrays and bytes that the function reads or writes before it returns. An extension is passed on to
// applications when it is named here, so it must be named only with all of its functions, and only if they
// are all that it adds besides the kernel language and queries.
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

inline constexpr std::size_t kMostParameters = 12;
/// The most bytes that a call's pointers may lead to, all together.
inline constexpr std::uint64_t kMostExtensionBytes = std::uint64_t{1} << 20;

struct ExtensionSignature {
  std::string_view function;
  std::string_view extension;
  ReturnKind returns = ReturnKind::error;
  std::array<Parameter, kMostParameters> all{};
  std::size_t count = 0;

  constexpr ExtensionSignature(std::string_view function_name, std::string_view extension_name,
                               ReturnKind return_kind, std::initializer_list<Parameter> list)
      : function(function_name), extension(extension_name), returns(return_kind), count(list.size()) {
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

inline constexpr std::array kExtensionSignatures = {
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

/// The row of a function, or nullptr.
constexpr const ExtensionSignature* find_signature(std::string_view function) {
  const auto* const found =
      std::find_if(kExtensionSignatures.begin(), kExtensionSignatures.end(),
                   [function](const ExtensionSignature& row) { return row.function == function; });
  return found == kExtensionSignatures.end() ? nullptr : &*found;
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
static_assert(std::all_of(kExtensionSignatures.begin(), kExtensionSignatures.end(), counts_refer_to_numbers));

}  // namespace detail

}  // namespace fairgv::wire
