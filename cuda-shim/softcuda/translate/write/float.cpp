// PTX ISA, "Floating-Point Instructions": single and double precision.
#include <fmt/format.h>

#include <utility>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

// fgv_..._f32, fgv_..._f64
std::string suffixed(std::string_view name, ScalarType type) {
  return fmt::format("fgv_{}_f{}", name, type.bits);
}

std::string float_input(Writer& w, const FlatInstruction& i, std::size_t index, ScalarType type) {
  const std::string text = w.operand(index, type);
  return i.has("ftz") ? fmt::format("{}({})", suffixed("ftz", type), text) : text;
}

void float_output(Writer& w, const FlatInstruction& i, ScalarType type, std::string text) {
  if (i.has("ftz")) text = fmt::format("{}({})", suffixed("ftz", type), text);
  if (i.has("sat")) text = fmt::format("{}({})", suffixed("sat", type), text);
  w.result(type, text);
}

int float_rounding(const FlatInstruction& i) {
  return i.has("rz") ? 1 : i.has("rm") ? 2 : i.has("rp") ? 3 : 0;
}

// add, sub, mul, fma, div, rcp, sqrt with a rounding other than to nearest.
void directed(Writer& w, const FlatInstruction& i, ScalarType type, int mode) {
  const auto write = [&](std::string_view name, const std::string& operands) {
    const std::string function = type.bits == 64 ? fmt::format("fgv_d64_{}", name) : suffixed(name, type);
    float_output(w, i, type, fmt::format("{}({}, {})", function, operands, mode));
  };
  const std::string a = float_input(w, i, 1, type);
  if (i.name == "rcp") return write("div", (type.bits == 64 ? "1.0, " : "1.0f, ") + a);
  if (i.name == "sqrt") return write("sqrt", a);
  const std::string b = float_input(w, i, 2, type);
  if (i.name == "sub") return write("add", fmt::format("{}, -({})", a, b));
  if (i.name == "fma" || i.name == "mad")
    return write("fma", fmt::format("{}, {}, {}", a, b, float_input(w, i, 3, type)));
  write(i.name, fmt::format("{}, {}", a, b));
}

bool arithmetic(Writer& w, const FlatInstruction& i, ScalarType type) {
  constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
      {"add", "{0} + {1}"}, {"sub", "{0} - {1}"},          {"mul", "{0} * {1}"},
      {"div", "{0} / {1}"}, {"fma", "fma({0}, {1}, {2})"}, {"mad", "fma({0}, {1}, {2})"},
      {"sqrt", "sqrt({0})"}};
  for (const auto& [name, pattern] : kOperators) {
    if (i.name != name) continue;
    if (const int mode = float_rounding(i)) return directed(w, i, type, mode), true;
    const std::string a = float_input(w, i, 1, type);
    const std::string b = i.arguments.size() > 2 ? float_input(w, i, 2, type) : "";
    const std::string c = i.arguments.size() > 3 ? float_input(w, i, 3, type) : "";
    if (i.arguments.size() < 2 || (pattern.find("{1}") != std::string_view::npos && b.empty()) ||
        (pattern.find("{2}") != std::string_view::npos && c.empty())) {
      w.refuse("an operand is missing");
    } else {
      float_output(w, i, type, fmt::format(fmt::runtime(pattern), a, b, c));
    }
    return true;
  }
  return false;
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 give the upper word only.
bool gross(Writer& w, const FlatInstruction& i, ScalarType type) {
  if (type.bits != 64 || !i.has("approx") || !i.has("ftz")) return false;
  const std::string a = float_input(w, i, 1, type);
  const std::string text = i.name == "rcp" ? "1.0 / " + a : fmt::format("1.0 / sqrt({})", a);
  w.result(type, fmt::format("as_double(as_ulong(fgv_ftz_f64({})) & 0xffffffff00000000ul)", text));
  return true;
}

bool math_function(Writer& w, const FlatInstruction& i, ScalarType type) {
  if (i.name == "rcp" || i.name == "rsqrt") {
    if (gross(w, i, type)) return true;
    if (const int mode = float_rounding(i)) return directed(w, i, type, mode), true;
    const std::string a = float_input(w, i, 1, type);
    const std::string one = type.bits == 32 ? "1.0f" : "1.0";
    float_output(w, i, type,
                 i.name == "rcp" ? fmt::format("{} / {}", one, a) : fmt::format("{} / sqrt({})", one, a));
    return true;
  }
  constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
      {"sin", "sin"}, {"cos", "cos"}, {"lg2", "log2"}, {"ex2", "exp2"}, {"tanh", "tanh"}};
  for (const auto& [name, builtin] : kFunctions) {
    if (i.name != name) continue;
    float_output(w, i, type, fmt::format("{}({})", builtin, float_input(w, i, 1, type)));
    return true;
  }
  return false;
}

void float_minimum(Writer& w, const FlatInstruction& i, ScalarType type) {
  if (i.arguments.size() != 3) return w.refuse("two operands are expected");
  std::string a = float_input(w, i, 1, type);
  std::string b = float_input(w, i, 2, type);
  const std::string sign = fmt::format("copysign(1.0f, {}) * copysign(1.0f, {})", a, b);
  const bool xor_sign = i.has("xorsign");
  if (xor_sign) {
    a = fmt::format("fabs({})", a);
    b = fmt::format("fabs({})", b);
  }
  std::string text = fmt::format("{}({}, {})", suffixed(i.name, type), a, b);
  if (i.has("NaN")) text = fmt::format("{}({}, {}, {})", suffixed("nan", type), a, b, text);
  if (xor_sign) text = fmt::format("copysign({}, {})", text, sign);
  float_output(w, i, type, text);
}

void test_property(Writer& w, const FlatInstruction& i, ScalarType type) {
  const std::string a = w.operand(1, type);
  const std::string smallest = type.bits == 32 ? "0x1p-126f" : "0x1p-1022";
  std::string text;
  if (i.has("finite")) text = fmt::format("isfinite({}) != 0", a);
  if (i.has("infinite")) text = fmt::format("isinf({}) != 0", a);
  if (i.has("number")) text = fmt::format("{0} == {0}", a);
  if (i.has("notanumber")) text = fmt::format("{0} != {0}", a);
  if (i.has("normal")) text = fmt::format("isfinite({0}) != 0 && fabs({0}) >= {1}", a, smallest);
  if (i.has("subnormal")) text = fmt::format("{0} != 0 && fabs({0}) < {1}", a, smallest);
  if (text.empty()) return w.refuse("this property is not supported");
  w.result({ScalarType::Kind::kPredicate, 1}, text);
}

// neg and abs change the sign bit, of a NaN as well.
void change_sign(Writer& w, const FlatInstruction& i, ScalarType type) {
  const ScalarType bits = {ScalarType::Kind::kBits, type.bits};
  const std::string a = i.has("ftz")
                            ? fmt::format("as_{}({})", unsigned_name(type.bits), float_input(w, i, 1, type))
                            : w.operand(1, bits);
  const std::string mask = type.bits == 32 ? "0x80000000u" : "0x8000000000000000ul";
  w.result(bits, i.name == "neg" ? a + " ^ " + mask : a + " & ~" + mask);
}

}  // namespace

bool write_float(Writer& w, const FlatInstruction& i) {
  if (i.words.empty()) return false;
  const auto type = scalar_type(i.words.back());
  if (!type || !type->is_native_float()) return false;
  if (i.name == "neg" || i.name == "abs") return change_sign(w, i, *type), true;
  if (i.name == "min" || i.name == "max") return float_minimum(w, i, *type), true;
  if (i.name == "testp") return test_property(w, i, *type), true;
  if (i.name == "copysign") {
    w.result(*type, fmt::format("copysign({}, {})", w.operand(2, *type), w.operand(1, *type)));
    return true;
  }
  return arithmetic(w, i, *type) || math_function(w, i, *type);
}

}  // namespace fairgv::softcuda
