// PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".
#include <fmt/format.h>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

ScalarType unsigned_of(ScalarType type) {
  return {ScalarType::Kind::kUnsigned, type.bits};
}
ScalarType wide_of(ScalarType type) {
  return {type.kind, type.bits * 2};
}

std::string sign_letter(ScalarType type) {
  return (type.is_signed() ? "s" : "u") + std::to_string(type.bits);
}

// The product's half that .lo, .hi or .wide asks for; wraps, as unsigned arithmetic does.
std::string product(Writer& w, const FlatInstruction& i, ScalarType type) {
  if (i.has("wide")) {
    const std::string as = type.is_signed() ? signed_name(type.bits * 2) : unsigned_name(type.bits * 2);
    return fmt::format("({0})(({1})({2}) * ({1})({3}))", unsigned_name(type.bits * 2), as, w.operand(1, type),
                       w.operand(2, type));
  }
  if (i.has("hi")) {
    return fmt::format("({})mul_hi({}, {})", unsigned_name(type.bits), w.operand(1, type),
                       w.operand(2, type));
  }
  const std::string as = type.bits == 64 ? "ulong" : "uint";
  return fmt::format("(({0}){1} * ({0}){2})", as, w.operand(1, unsigned_of(type)),
                     w.operand(2, unsigned_of(type)));
}

// add.cc, addc, sub.cc, subc, mad.cc, madc: x + y (+ carry), or x - y (- borrow).
void carry_sum(Writer& w, const FlatInstruction& i, ScalarType type, const std::string& x,
               const std::string& y, bool subtract, bool use) {
  const std::string u = unsigned_name(type.bits);
  w.line("{");
  w.line(fmt::format("const {0} x = {1}, y = {2};", u, x, y));
  if (subtract) {
    w.line(fmt::format("const {0} s = x - y, t = s - {1};", u, use ? "CC" : "0"));
    if (i.has("cc")) w.line(fmt::format("CC = x < y || s < {};", use ? "CC" : "0"));
  } else {
    w.line(fmt::format("const {0} s = x + y, t = s + {1};", u, use ? "CC" : "0"));
    if (i.has("cc")) w.line("CC = s < x || t < s;");
  }
  w.result(unsigned_of(type), "t");
  w.line("}");
}

void add_or_subtract(Writer& w, const FlatInstruction& i, ScalarType type) {
  const bool subtract = i.name[0] == 's';
  const ScalarType u = unsigned_of(type);
  const bool use = i.name.ends_with('c');
  if (use || i.has("cc")) return carry_sum(w, i, type, w.operand(1, u), w.operand(2, u), subtract, use);
  if (i.has("sat")) {
    return w.result(type, fmt::format("{}_sat({}, {})", subtract ? "sub" : "add", w.operand(1, type),
                                      w.operand(2, type)));
  }
  w.result(u, fmt::format("{} {} {}", w.operand(1, u), subtract ? '-' : '+', w.operand(2, u)));
}

void multiply_add(Writer& w, const FlatInstruction& i, ScalarType type) {
  const ScalarType result = i.has("wide") ? unsigned_of(wide_of(type)) : unsigned_of(type);
  if (i.name == "madc" || i.has("cc")) {
    return carry_sum(w, i, type, product(w, i, type), w.operand(3, result), false, i.name == "madc");
  }
  if (i.has("sat")) {
    return w.result(type, fmt::format("add_sat((int){}, {})", product(w, i, type), w.operand(3, type)));
  }
  w.result(result, fmt::format("{} + {}", product(w, i, type), w.operand(3, result)));
}

// mul24, mad24: the lower 24 bits of each, 48 bits of product.
void multiply24(Writer& w, const FlatInstruction& i, ScalarType type) {
  const ScalarType u = {ScalarType::Kind::kUnsigned, 32};
  const auto low24 = [&](std::size_t index) {
    const std::string word = w.operand(index, u);
    return type.is_signed() ? "fgv_s24(" + word + ")" : "(long)(" + word + " & 0xffffffu)";
  };
  std::string text = fmt::format("(uint)(({} * {}) >> {})", low24(1), low24(2), i.has("hi") ? 16 : 0);
  if (i.name == "mad24") {
    text = i.has("sat") ? fmt::format("(uint)add_sat((int){}, {})", text, w.operand(3, type))
                        : fmt::format("{} + {}", text, w.operand(3, u));
  }
  w.result(u, text);
}

void integer_minimum(Writer& w, const FlatInstruction& i, ScalarType type) {
  if (type.packed) {
    const std::string c = type.is_signed() ? "short" : "ushort";
    std::string text =
        fmt::format("{}(as_{}2({}), as_{}2({}))", i.name, c, w.operand(1, type), c, w.operand(2, type));
    if (i.has("relu")) text = fmt::format("max({}, (short2)0)", text);
    return w.result(type, fmt::format("as_uint({})", text));
  }
  std::string text = fmt::format("{}({}, {})", i.name, w.operand(1, type), w.operand(2, type));
  if (i.has("relu")) text = fmt::format("max({}, 0)", text);
  w.result(type, text);
}

void absolute_difference(Writer& w, ScalarType type) {
  const std::string a = w.operand(1, type);
  const std::string b = w.operand(2, type);
  const std::string u = unsigned_name(type.bits);
  w.result(unsigned_of(type), fmt::format("({0} < {1} ? ({2}){1} - ({2}){0} : ({2}){0} - ({2}){1}) + {3}", a,
                                          b, u, w.operand(3, unsigned_of(type))));
}

// dp4a.atype.btype, dp2a.mode.atype.btype
void dot_product(Writer& w, const FlatInstruction& i) {
  const ScalarType word = {ScalarType::Kind::kUnsigned, 32};
  std::string text =
      fmt::format("fgv_{}({}, {}, {}, {}, {}", i.name, w.operand(1, word), w.type(1).is_signed() ? 1 : 0,
                  w.operand(2, word), w.type(0).is_signed() ? 1 : 0, w.operand(3, word));
  if (i.name == "dp2a") text += i.has("hi") ? ", 1" : ", 0";
  w.result(word, text + ")");
}

// vabsdiff4.dtype.atype.btype.add, vabsdiff2: the only video instructions that CUDA programs use by name.
void sum_of_differences(Writer& w, const FlatInstruction& i) {
  if (!i.has("add") || i.has("sat")) return w.refuse("only the .add form is supported");
  w.result(kWord, fmt::format("fgv_{}({}, {}, {}, {}, {})", i.name, w.operand(1, kWord),
                              w.type(2).is_signed() ? 1 : 0, w.operand(2, kWord),
                              w.type(1).is_signed() ? 1 : 0, w.operand(3, kWord)));
}

bool plain_integer(Writer& w, const FlatInstruction& i, ScalarType type) {
  const ScalarType u = unsigned_of(type);
  if (type.packed && i.name != "min" && i.name != "max") {
    if (i.name != "add") return false;
    w.result(u, fmt::format("as_uint(as_ushort2({}) + as_ushort2({}))", w.operand(1, u), w.operand(2, u)));
  } else if (i.name == "add" || i.name == "sub" || i.name == "addc" || i.name == "subc") {
    add_or_subtract(w, i, type);
  } else if (i.name == "mul") {
    w.result(i.has("wide") ? unsigned_of(wide_of(type)) : u, product(w, i, type));
  } else if (i.name == "mad" || i.name == "madc") {
    multiply_add(w, i, type);
  } else if (i.name == "div" || i.name == "rem") {
    w.result(u, fmt::format("fgv_{}_{}({}, {})", i.name, sign_letter(type), w.operand(1, type),
                            w.operand(2, type)));
  } else if (i.name == "abs") {
    const std::string a = w.operand(1, u);
    w.result(u,
             fmt::format("{} < 0 ? 0 - {} : {}", w.operand(1, {ScalarType::Kind::kSigned, type.bits}), a, a));
  } else if (i.name == "neg") {
    w.result(u, "0 - " + w.operand(1, u));
  } else if (i.name == "min" || i.name == "max") {
    integer_minimum(w, i, type);
  } else if (i.name == "sad") {
    absolute_difference(w, type);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool write_integer(Writer& w, const FlatInstruction& i) {
  if (i.name == "dp4a" || i.name == "dp2a") return dot_product(w, i), true;
  if (i.name == "vabsdiff4" || i.name == "vabsdiff2") return sum_of_differences(w, i), true;
  if (i.words.empty()) return false;
  const auto type = scalar_type(i.words.back());
  if (!type || !type->is_integer() || type->bits > 64) return false;
  if (i.name == "mul24" || i.name == "mad24") return multiply24(w, i, *type), true;
  return plain_integer(w, i, *type);
}

}  // namespace fairgv::softcuda
