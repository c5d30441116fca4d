// The fundamental types of PTX (PTX ISA, "Types") and the OpenCL C types that stand for them. Registers hold
// unsigned words; half types stay raw words, because the device need not have cl_khr_fp16.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairgv::softcuda {

struct ScalarType {
  enum class Kind { kUnsigned, kSigned, kBits, kFloat, kBfloat, kPredicate };
  Kind kind = Kind::kBits;
  unsigned bits = 32;   // of the whole, both halves of a packed type
  bool packed = false;  // f16x2, bf16x2

  bool is_signed() const { return kind == Kind::kSigned; }
  bool is_predicate() const { return kind == Kind::kPredicate; }
  bool is_integer() const { return kind <= Kind::kBits; }
  bool is_half() const {
    return (kind == Kind::kFloat && bits == 16) || (kind == Kind::kBfloat && bits == 16);
  }
  /// A half or a pair of them.
  bool is_any_half() const {
    return (kind == Kind::kFloat || kind == Kind::kBfloat) && (packed || bits == 16);
  }
  /// float and double: computed with the C operators.
  bool is_native_float() const { return kind == Kind::kFloat && !packed && bits >= 32; }
  bool operator==(const ScalarType&) const = default;
};

inline constexpr ScalarType kWord = {ScalarType::Kind::kUnsigned, 32};
inline constexpr ScalarType kPredicate = {ScalarType::Kind::kPredicate, 1};

std::optional<ScalarType> scalar_type(std::string_view word);
/// Of an opcode. Assemblers take .ftz and .sat behind the types, too, where cuRAND writes them.
void put_types_last(std::vector<std::string>& words);

/// "uint" for 32 bits; "ulong2" for 128.
std::string unsigned_name(unsigned bits);
std::string signed_name(unsigned bits);
/// The C type of a value of `type`: float and double as they are, words for all others.
std::string value_name(ScalarType type);
/// The same with may_alias, for memory accesses.
std::string memory_name(ScalarType type);

}  // namespace fairgv::softcuda
