// Instruction by instruction against host arithmetic: a kernel is made of many forms, every thread runs all
// of them on its own inputs, and every result is compared with the result of the form's own host function.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fairgv::ptx_test {

/// Three operands, as 64 bits each. Forms see them as %a64, %a32 (the low half), %a16, and predicates %pa,
/// %pb, %pc (lowest bits); b and c alike.
struct Inputs {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};

enum class Compare {
  kBits,
  kFloat32,  // the same bits, or both NaN
  kFloat64,
  kFloat16,  // low 16 bits
  kFloat16x2,
  kBfloat16,
  kApproximate,  // single precision within `tolerance`, relative, or absolute below 1
};

/// One instruction (or a few): it puts its result into %d16, %d32, %d64 or %dp, as `bits` (16, 32, 64, 1)
/// says.
struct Form {
  std::string text;
  unsigned bits = 32;
  std::function<std::uint64_t(const Inputs&)> expected;
  Compare compare = Compare::kBits;
  double tolerance = 0;
};

/// A form's text with $ for the width in bits and $t for the type.
std::string replaced(std::string text, unsigned bits, const std::string& type);

/// Fails for every form whose results differ, with the first inputs that show it.
void expect_forms(const std::string& name, const std::vector<Form>& forms, const std::vector<Inputs>& inputs);

/// Edge cases crossed with each other, and as many random values; `seed` is printed by the caller.
std::vector<Inputs> integer_inputs(std::uint64_t seed);
std::vector<Inputs> float_inputs(std::uint64_t seed);
std::vector<Inputs> double_inputs(std::uint64_t seed);
std::vector<Inputs> half_inputs(std::uint64_t seed);

}  // namespace fairgv::ptx_test
