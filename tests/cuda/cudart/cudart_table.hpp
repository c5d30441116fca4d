// calls.def as data.
#ifndef FAIRGV_TESTS_CUDA_CUDART_TABLE_HPP
#define FAIRGV_TESTS_CUDA_CUDART_TABLE_HPP

#include <string>
#include <vector>

namespace fairgv::cudart {

struct TableRow {
  enum class Kind { kPass, kHand, kRefused };
  Kind kind;
  std::string subject;
  std::string name;
  std::string suffix;    // of the variant for the per-thread default stream, or empty
  std::string function;  // of the driver, for pass-throughs
  std::string releases;  // both, each, cuda12, cuda13

  bool is_in(int release) const {
    return releases == "both" || releases == "each" || releases == "cuda" + std::to_string(release);
  }
  std::vector<std::string> names() const {
    if (suffix.empty()) return {name};
    return {name, name + suffix};
  }
};

// All rows, in the order of calls.def.
inline const std::vector<TableRow>& table() {
  using Kind = TableRow::Kind;
  static const std::vector<TableRow> rows = {
#define FAIRGV_PASS(subject, needs, name, function, parameters, arguments) \
  {Kind::kPass, #subject, #name, "", #function, "both"},
#define FAIRGV_PASS_STREAM(subject, needs, name, suffix, function, parameters, arguments) \
  {Kind::kPass, #subject, #name, #suffix, #function, "both"},
#define FAIRGV_HAND(subject, name, suffix, releases) {Kind::kHand, #subject, #name, #suffix, "", #releases},
#define FAIRGV_REFUSE(subject, name) {Kind::kRefused, #subject, #name, "", "", "both"},
#define FAIRGV_REFUSE_12(subject, name) {Kind::kRefused, #subject, #name, "", "", "cuda12"},
#include "cuda-shim/cudart/abi/calls.def"
#undef FAIRGV_PASS
#undef FAIRGV_PASS_STREAM
#undef FAIRGV_HAND
#undef FAIRGV_REFUSE
#undef FAIRGV_REFUSE_12
  };
  return rows;
}

}  // namespace fairgv::cudart

#endif  // FAIRGV_TESTS_CUDA_CUDART_TABLE_HPP
