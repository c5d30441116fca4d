#include "icd/programs/argument_types.hpp"

#include <algorithm>

#include "icd/cl.hpp"

namespace fairgv::icd {
namespace {

struct NamedSize {
  std::string_view name;
  std::uint64_t bytes;
  bool has_vectors;
};

constexpr NamedSize kTypes[] = {
    {"char", 1, true},
    {"uchar", 1, true},
    {"signed char", 1, false},
    {"unsigned char", 1, false},
    {"short", 2, true},
    {"ushort", 2, true},
    {"unsigned short", 2, false},
    {"signed short", 2, false},
    {"half", 2, true},
    {"int", 4, true},
    {"uint", 4, true},
    {"unsigned", 4, false},
    {"unsigned int", 4, false},
    {"signed int", 4, false},
    {"float", 4, true},
    {"long", 8, true},
    {"ulong", 8, true},
    {"unsigned long", 8, false},
    {"signed long", 8, false},
    {"double", 8, true},
};

std::string_view without_qualifiers(std::string_view name) {
  for (const std::string_view qualifier : {"const ", "volatile ", "restrict ", "__private ", "private "}) {
    if (name.starts_with(qualifier)) return without_qualifiers(name.substr(qualifier.size()));
  }
  while (name.ends_with(' ')) name.remove_suffix(1);
  return name;
}

/// Elements of a vector type's suffix; 0 if it is no such suffix.
std::uint64_t vector_elements(std::string_view digits) {
  if (digits == "2") return 2;
  if (digits == "3" || digits == "4") return 4;
  if (digits == "8") return 8;
  if (digits == "16") return 16;
  return 0;
}

}  // namespace

std::optional<std::uint64_t> builtin_type_bytes(std::string_view name) {
  name = without_qualifiers(name);
  const std::size_t end = name.find_last_not_of("0123456789") + 1;
  const std::string_view base = name.substr(0, end);
  const std::string_view digits = name.substr(end);
  for (const NamedSize& type : kTypes) {
    if (type.name != base) continue;
    if (digits.empty()) return type.bytes;
    const std::uint64_t elements = type.has_vectors ? vector_elements(digits) : 0;
    if (elements != 0) return elements * type.bytes;
  }
  return std::nullopt;
}

ArgumentType classify(const wire::KernelArgument& argument) {
  const std::string_view type = without_qualifiers(argument.type_name);
  if (type.starts_with("image") && type.find("_t") != std::string_view::npos)
    return {ArgumentClass::image, 0};
  if (type == "sampler_t") return {ArgumentClass::sampler, 0};
  if ((argument.type_qualifier & CL_KERNEL_ARG_TYPE_PIPE) != 0) return {ArgumentClass::pipe, 0};
  switch (argument.address_qualifier) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return {ArgumentClass::memory, sizeof(cl_mem)};
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return {ArgumentClass::local, 0};
    default:
      return {ArgumentClass::value, builtin_type_bytes(type).value_or(0)};
  }
}

}  // namespace fairgv::icd
