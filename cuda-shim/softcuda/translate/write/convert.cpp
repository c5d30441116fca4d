// PTX ISA, "cvt": every conversion among integers, f16, bf16, f32 and f64, with rounding, saturation and
// flushing; to tf32; and cvt.pack.
#include <fmt/format.h>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

int convert_rounding(const FlatInstruction& i) {
  return i.has("rz") ? 1 : i.has("rm") ? 2 : i.has("rp") ? 3 : i.has("rna") ? 4 : 0;
}

// The C function of .rni, .rzi, .rmi, .rpi; empty when none is asked for.
std::string integral(const FlatInstruction& i) {
  return i.has("rni") ? "rint" : i.has("rzi") ? "trunc" : i.has("rmi") ? "floor" : i.has("rpi") ? "ceil" : "";
}

std::string half_name(ScalarType type) {
  return type.kind == ScalarType::Kind::kBfloat ? "bf16" : "f16";
}
std::string type_letter(ScalarType type) {
  return (type.is_signed() ? "s" : "u") + std::to_string(type.bits);
}

// A floating-point source as a float or double expression, and which of them it is.
struct Source {
  std::string text;
  bool is_double = false;
};

Source floating(Writer& w, const FlatInstruction& i, std::size_t index, ScalarType type) {
  if (type.is_half()) {
    return {
        fmt::format("fgv_{}_to_f32({})", half_name(type), w.operand(index, {ScalarType::Kind::kBits, 16})),
        false};
  }
  std::string text = w.operand(index, type);
  if (i.has("ftz") && type.bits == 32) text = fmt::format("fgv_ftz_f32({})", text);
  return {text, type.bits == 64};
}

// The result for a NaN: zero, or the top bit where double precision or 64 bits take part.
std::string nan_as_integer(ScalarType dest, bool is_double) {
  if (!is_double && dest.bits != 64) return "0";
  return Writer::number(std::uint64_t{1} << (dest.bits - 1), {ScalarType::Kind::kUnsigned, dest.bits});
}

std::string float_to_integer(Writer& w, const FlatInstruction& i, ScalarType dest, ScalarType source) {
  const Source x = floating(w, i, 1, source);
  const std::string function = integral(i);
  if (function.empty()) w.refuse("a rounding to integers is needed");
  return fmt::format("fgv_{}_to_{}({}({}), {})", x.is_double ? "f64" : "f32", type_letter(dest), function,
                     x.text, nan_as_integer(dest, x.is_double));
}

std::string integer_to_float(Writer& w, const FlatInstruction& i, ScalarType dest, ScalarType source) {
  const int mode = convert_rounding(i);
  const std::string x = w.operand(1, source);
  std::string text;
  if (dest.is_native_float() && (mode == 0 || (dest.bits == 64 && source.bits <= 32))) {
    text = fmt::format("({})({})", value_name(dest), x);
  } else {
    const char* format = dest.kind == ScalarType::Kind::kBfloat ? "8, 127"
                         : dest.bits == 16                      ? "11, 15"
                         : dest.bits == 32                      ? "24, 127"
                                                                : "53, 1023";
    text = fmt::format("fgv_pack_{}64({}, {}, {})", source.is_signed() ? 's' : 'u', x, format, mode);
    if (dest.is_native_float())
      text = fmt::format("as_{}(({})({}))", value_name(dest), unsigned_name(dest.bits), text);
  }
  if (i.has("sat") && dest.is_native_float()) text = fmt::format("fgv_sat_f{}({})", dest.bits, text);
  return text;
}

// A float or double expression to `dest`, as a value of its C type.
std::string narrowed(const Source& x, ScalarType dest, int mode) {
  if (dest.is_half())
    return fmt::format("fgv_{}_to_{}({}, {})", x.is_double ? "f64" : "f32", half_name(dest), x.text, mode);
  if (dest.bits == 32 && x.is_double) return fmt::format("fgv_f64_to_f32({}, {})", x.text, mode);
  return fmt::format("({})({})", value_name(dest), x.text);
}

std::string float_to_float(Writer& w, const FlatInstruction& i, ScalarType dest, ScalarType source,
                           std::size_t index) {
  Source x = floating(w, i, index, source);
  const char* bits = x.is_double ? "64" : "32";
  if (const std::string function = integral(i); !function.empty())
    x.text = fmt::format("{}({})", function, x.text);
  if (i.has("sat")) x.text = fmt::format("fgv_sat_f{}({})", bits, x.text);
  if (i.has("relu")) x.text = fmt::format("fgv_relu_f{}({})", bits, x.text);
  std::string text = narrowed(x, dest, convert_rounding(i));
  if (i.has("ftz") && dest == ScalarType{ScalarType::Kind::kFloat, 32})
    text = fmt::format("fgv_ftz_f32({})", text);
  return text;
}

// .sat between integers clamps to the range of the result.
std::string integer_to_integer(Writer& w, const FlatInstruction& i, ScalarType dest, ScalarType source) {
  const std::string x = w.operand(1, source);
  if (!i.has("sat")) return fmt::format("({})({})", value_name(dest), x);
  // OpenCL's own saturating conversions do exactly this.
  return fmt::format("convert_{}_sat({})", value_name(dest), x);
}

void pair_from_singles(Writer& w, const FlatInstruction& i, ScalarType dest) {
  const ScalarType half = {dest.kind, 16};
  const ScalarType single = {ScalarType::Kind::kFloat, 32};
  const std::string high = float_to_float(w, i, half, single, 1);
  const std::string low = float_to_float(w, i, half, single, 2);
  w.result({ScalarType::Kind::kBits, 32}, fmt::format("(uint){} | (uint){} << 16", low, high));
}

void to_tf32(Writer& w, const FlatInstruction& i) {
  const Source x = floating(w, i, 1, w.type(0));
  if (x.is_double) w.refuse("this conversion is not supported");
  const std::string value = i.has("relu") ? fmt::format("fgv_relu_f32({})", x.text) : x.text;
  w.result({ScalarType::Kind::kBits, 32}, fmt::format("fgv_f32_to_tf32({}, {})", value, convert_rounding(i)));
}

// cvt.pack: two integers are clamped to a narrow type; behind them comes what is left of the third operand.
void pack(Writer& w, const FlatInstruction& i) {
  const bool has_rest = i.arguments.size() == 4;
  const std::size_t at = i.words.size() - (has_rest ? 3 : 2);
  const std::string& narrow = at < i.words.size() ? i.words[at] : i.name;
  const bool is_signed = narrow.starts_with("s");
  unsigned bits = 0;
  for (const unsigned each : {2U, 4U, 8U, 16U}) {
    if (narrow == (is_signed ? "s" : "u") + std::to_string(each)) bits = each;
  }
  if (bits == 0 || (bits == 16) == has_rest) return w.refuse("this conversion is not supported");
  const int most = (1 << (is_signed ? bits - 1 : bits)) - 1;
  const auto clamped = [&](std::size_t index) {
    return fmt::format("((uint)clamp({}, {}, {}) & {:#x}u)",
                       w.operand(index, {ScalarType::Kind::kSigned, 32}), is_signed ? -most - 1 : 0, most,
                       (1U << bits) - 1);
  };
  std::string text = fmt::format("{} << {} | {}", clamped(1), bits, clamped(2));
  if (has_rest) text += fmt::format(" | {} << {}", w.operand(3, {ScalarType::Kind::kBits, 32}), 2 * bits);
  w.result({ScalarType::Kind::kBits, 32}, text);
}

}  // namespace

bool write_convert(Writer& w, const FlatInstruction& i) {
  if (i.name != "cvt") return false;
  if (i.has("pack")) {
    pack(w, i);
    return true;
  }
  if (i.has("satfinite") || i.has("rs") || i.has("scaled::n2::ue8m0")) {
    w.refuse("this conversion is not supported");
    return true;
  }
  if (i.has("tf32")) {
    to_tf32(w, i);
    return true;
  }
  const ScalarType source = w.type(0);
  const ScalarType dest = w.type(1);
  if (dest.packed && !source.packed && source.bits == 32 && i.arguments.size() == 3) {
    pair_from_singles(w, i, dest);
  } else if (dest.packed || source.packed || dest.bits > 64 || source.bits > 64) {
    w.refuse("this conversion is not supported");
  } else if (dest.is_integer() && source.is_integer()) {
    w.result(dest, integer_to_integer(w, i, dest, source));
  } else if (dest.is_integer()) {
    // The clamped word is the bits of the result; a signed one is extended into a wider register.
    w.result(dest, fmt::format("({})({})", value_name(dest), float_to_integer(w, i, dest, source)));
  } else if (source.is_integer()) {
    w.result(dest.is_half() ? ScalarType{ScalarType::Kind::kBits, 16} : dest,
             integer_to_float(w, i, dest, source));
  } else {
    w.result(dest.is_half() ? ScalarType{ScalarType::Kind::kBits, 16} : dest,
             float_to_float(w, i, dest, source, 1));
  }
  return true;
}

}  // namespace fairgv::softcuda
