// PTX ISA, "Half Precision Floating-Point Instructions": f16, bf16 and pairs of them. Each is computed in
// single precision (fma in double), which is exact enough for one correct rounding back.
#include <fmt/format.h>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

class Half {
 public:
  Half(Writer& w, const FlatInstruction& i, ScalarType type)
      : w_(w), i_(i), type_(type), name_(type.kind == ScalarType::Kind::kBfloat ? "bf16" : "f16") {}

  bool write() {
    std::string lanes[2];
    const int count = type_.packed ? 2 : 1;
    for (int lane = 0; lane < count; ++lane) {
      lanes[lane] = one(lane);
      if (lanes[lane].empty()) return false;
    }
    if (count == 1) {
      w_.result({ScalarType::Kind::kBits, 16}, lanes[0]);
    } else {
      w_.result({ScalarType::Kind::kBits, 32}, fmt::format("(uint){} | (uint){} << 16", lanes[0], lanes[1]));
    }
    return true;
  }

 private:
  std::string raw(std::size_t index, int lane) {
    const std::string word = w_.operand(index, {ScalarType::Kind::kBits, type_.bits});
    std::string text =
        lane == 0 ? fmt::format("(ushort)({})", word) : fmt::format("(ushort)({} >> 16)", word);
    if (i_.has("ftz") && name_ == "f16") text = fmt::format("fgv_ftz_f16({})", text);
    return text;
  }
  std::string single(std::size_t index, int lane) {
    return fmt::format("fgv_{}_to_f32({})", name_, raw(index, lane));
  }

  // Converts a float expression back, as the modifiers ask.
  std::string back(std::string text) {
    if (i_.has("sat")) text = fmt::format("fgv_sat_f32({})", text);
    if (i_.has("relu")) text = fmt::format("fgv_relu_f32({})", text);
    return rounded(fmt::format("fgv_f32_to_{}({}, 0)", name_, text));
  }
  std::string rounded(std::string text) {
    return i_.has("ftz") && name_ == "f16" ? fmt::format("fgv_ftz_f16({})", text) : text;
  }

  std::string one(int lane) {
    if (i_.name == "neg") return fmt::format("(ushort)({} ^ 0x8000)", raw(1, lane));
    if (i_.name == "abs") return fmt::format("(ushort)({} & 0x7fff)", raw(1, lane));
    if (i_.name == "add") return back(single(1, lane) + " + " + single(2, lane));
    if (i_.name == "sub") return back(single(1, lane) + " - " + single(2, lane));
    if (i_.name == "mul") return back(single(1, lane) + " * " + single(2, lane));
    if (i_.name == "fma") return fused(lane);
    if (i_.name == "min" || i_.name == "max") return minimum(lane);
    if (i_.name == "ex2") return back(fmt::format("exp2({})", single(1, lane)));
    if (i_.name == "tanh") return back(fmt::format("tanh({})", single(1, lane)));
    return {};
  }

  std::string fused(int lane) {
    std::string text =
        fmt::format("fgv_half_fma({}, {}, {})", single(1, lane), single(2, lane), single(3, lane));
    if (i_.has("sat")) text = fmt::format("fgv_sat_f64({})", text);
    if (i_.has("relu")) text = fmt::format("fgv_relu_f64({})", text);
    return rounded(fmt::format("fgv_f64_to_{}({}, 0)", name_, text));
  }

  std::string minimum(int lane) {
    if (i_.has("xorsign")) return {};
    const std::string a = single(1, lane);
    const std::string b = single(2, lane);
    std::string text = fmt::format("fgv_{}_f32({}, {})", i_.name, a, b);
    if (i_.has("NaN")) text = fmt::format("fgv_nan_f32({}, {}, {})", a, b, text);
    return back(text);
  }

  Writer& w_;
  const FlatInstruction& i_;
  ScalarType type_;
  std::string name_;
};

}  // namespace

bool write_half(Writer& w, const FlatInstruction& i) {
  if (i.words.empty()) return false;
  const auto type = scalar_type(i.words.back());
  return type && type->is_any_half() && Half(w, i, *type).write();
}

}  // namespace fairgv::softcuda
