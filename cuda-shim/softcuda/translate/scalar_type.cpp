#include "cuda-shim/softcuda/translate/scalar_type.hpp"

#include <algorithm>

#include <array>
#include <utility>

namespace fairgv::softcuda {
namespace {

constexpr std::array<std::pair<std::string_view, ScalarType>, 22> kTypes = {{
    {"u8", {ScalarType::Kind::kUnsigned, 8}},
    {"u16", {ScalarType::Kind::kUnsigned, 16}},
    {"u32", {ScalarType::Kind::kUnsigned, 32}},
    {"u64", {ScalarType::Kind::kUnsigned, 64}},
    {"s8", {ScalarType::Kind::kSigned, 8}},
    {"s16", {ScalarType::Kind::kSigned, 16}},
    {"s32", {ScalarType::Kind::kSigned, 32}},
    {"s64", {ScalarType::Kind::kSigned, 64}},
    {"b8", {ScalarType::Kind::kBits, 8}},
    {"b16", {ScalarType::Kind::kBits, 16}},
    {"b32", {ScalarType::Kind::kBits, 32}},
    {"b64", {ScalarType::Kind::kBits, 64}},
    {"b128", {ScalarType::Kind::kBits, 128}},
    {"f16", {ScalarType::Kind::kFloat, 16}},
    {"f16x2", {ScalarType::Kind::kFloat, 32, true}},
    {"f32", {ScalarType::Kind::kFloat, 32}},
    {"f64", {ScalarType::Kind::kFloat, 64}},
    {"bf16", {ScalarType::Kind::kBfloat, 16}},
    {"bf16x2", {ScalarType::Kind::kBfloat, 32, true}},
    {"pred", {ScalarType::Kind::kPredicate, 1}},
    {"u16x2", {ScalarType::Kind::kUnsigned, 32, true}},
    {"s16x2", {ScalarType::Kind::kSigned, 32, true}},
}};

}  // namespace

std::optional<ScalarType> scalar_type(std::string_view word) {
  for (const auto& [name, type] : kTypes) {
    if (name == word) return type;
  }
  return std::nullopt;
}

void put_types_last(std::vector<std::string>& words) {
  auto types_end = words.end();
  while (types_end != words.begin() && (types_end[-1] == "ftz" || types_end[-1] == "sat")) --types_end;
  auto types_begin = types_end;
  while (types_begin != words.begin() && scalar_type(types_begin[-1])) --types_begin;
  std::rotate(types_begin, types_end, words.end());
}

std::string unsigned_name(unsigned bits) {
  switch (bits) {
    case 1:
      return "bool";
    case 8:
      return "uchar";
    case 16:
      return "ushort";
    case 32:
      return "uint";
    case 64:
      return "ulong";
    default:
      return "ulong2";
  }
}

std::string signed_name(unsigned bits) {
  switch (bits) {
    case 8:
      return "char";
    case 16:
      return "short";
    case 32:
      return "int";
    default:
      return "long";
  }
}

std::string value_name(ScalarType type) {
  if (type.is_native_float()) return type.bits == 32 ? "float" : "double";
  return type.is_signed() && !type.packed ? signed_name(type.bits) : unsigned_name(type.bits);
}

std::string memory_name(ScalarType type) {
  return "fgv_u" + std::to_string(type.bits);
}

}  // namespace fairgv::softcuda
