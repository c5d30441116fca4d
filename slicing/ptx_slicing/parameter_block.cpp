#include "slicing/ptx_slicing/parameter_block.hpp"

#include <algorithm>
#include <string_view>

namespace fairgv::slicing::ptx {
namespace {

constexpr std::uint64_t kLargest = 1 << 20;  // the limit of every size: no sum can overflow

// Bytes of a type's value; 0 = not known. Textures, samplers and surfaces are handles of 64 bits.
std::uint64_t bytes_of_type(std::string_view type) {
  if (type == "texref" || type == "samplerref" || type == "surfref") return 8;
  if (type == "f16x2" || type == "bf16x2") return 4;
  const std::size_t digits = type.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 0;
  const std::string_view bits = type.substr(digits);
  if (bits == "8") return 1;
  if (bits == "16") return 2;
  if (bits == "32") return 4;
  if (bits == "64") return 8;
  return bits == "128" ? 16 : 0;
}

}  // namespace

std::optional<std::uint64_t> parameter_block_bytes(const std::vector<Variable>& parameters) {
  std::uint64_t end = 0;
  for (const Variable& parameter : parameters) {
    const std::uint64_t element = bytes_of_type(parameter.type) * parameter.vector_length;
    if (element == 0) return std::nullopt;
    const std::uint64_t alignment =
        std::max<std::uint64_t>(parameter.alignment, parameter.alignment > 0 ? 1 : element);
    std::uint64_t size = element;
    for (const std::uint64_t count : parameter.dimensions) {
      if (count == 0 || count > kLargest) return std::nullopt;
      size *= count;
      if (size > kLargest) return std::nullopt;
    }
    end = (end + alignment - 1) / alignment * alignment + size;
    if (alignment > kLargest || end > kLargest) return std::nullopt;
  }
  return end;
}

std::uint64_t most_parameter_bytes(const Module& module) {
  const bool version = module.version_major > 8 || (module.version_major == 8 && module.version_minor >= 1);
  bool target = false;
  for (const std::string& name : module.targets) {
    if (!name.starts_with("sm_") && !name.starts_with("compute_")) continue;
    unsigned number = 0;
    for (const char c : name.substr(name.find('_') + 1)) {
      if (c < '0' || c > '9' || number > 10'000) break;
      number = number * 10 + static_cast<unsigned>(c - '0');
    }
    target = number >= 70;
  }
  return version && target ? 32'764 : 4'096;
}

}  // namespace fairgv::slicing::ptx
