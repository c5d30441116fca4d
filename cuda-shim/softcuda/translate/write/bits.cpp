// PTX ISA, "Logic and Shift Instructions" and the bit-field part of "Integer Arithmetic Instructions".
#include <fmt/format.h>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

std::string bits_suffix(ScalarType type) {
  return (type.is_signed() ? "s" : "u") + std::to_string(type.bits);
}

void logic(Writer& w, const FlatInstruction& i, ScalarType type) {
  if (i.name == "not") return w.result(type, (type.is_predicate() ? "!" : "~") + w.operand(1, type));
  if (i.name == "cnot") return w.result(type, w.operand(1, type) + " == 0");
  const char op = i.name == "and" ? '&' : i.name == "or" ? '|' : '^';
  w.result(type, fmt::format("{} {} {}", w.operand(1, type), op, w.operand(2, type)));
}

// The truth table's rows, or'ed: row k holds where (a, b, c) are the bits of k.
void lop3(Writer& w, const FlatInstruction& i) {
  const bool boolean = i.has("or") || i.has("and");
  const std::size_t first = 1;
  const std::string a = w.operand(first, kWord);
  const std::string b = w.operand(first + 1, kWord);
  const std::string c = w.operand(first + 2, kWord);
  const Argument& table = w.argument(first + 3);
  if (table.kind != Argument::Kind::kInteger) return w.refuse("the truth table must be a number");
  std::string text;
  for (unsigned row = 0; row < 8; ++row) {
    if ((table.bits >> row & 1) == 0) continue;
    text += fmt::format("{}({}{} & {}{} & {}{})", text.empty() ? "" : " | ", row & 4 ? "" : "~", a,
                        row & 2 ? "" : "~", b, row & 1 ? "" : "~", c);
  }
  if (text.empty()) text = "0u";
  if (!boolean) return w.result(kWord, text);
  // lop3.BoolOp.b32 d|p, a, b, c, table, q
  const Argument& pair = w.argument(0);
  if (pair.kind != Argument::Kind::kPair) return w.refuse("d|p is expected");
  w.line("{");
  w.line(fmt::format("const uint x = {};", text));
  const std::string q = w.condition(w.argument(first + 4));
  w.assign(pair.parts[1], {ScalarType::Kind::kPredicate, 1},
           fmt::format("(x != 0) {} {}", i.has("or") ? "|" : "&", q));
  w.assign(pair.parts[0], kWord, "x");
  w.line("}");
}

// shf.dir.mode.b32 d, a, b, c: a is the low word, b the high one.
void funnel(Writer& w, const FlatInstruction& i) {
  const std::string n = w.operand(3, kWord);
  const std::string amount = i.has("wrap") ? fmt::format("({}) & 31", n) : fmt::format("min({}, 32u)", n);
  w.result(kWord, fmt::format("fgv_shf_{}({}, {}, {})", i.words[0] == "l" ? "l" : "r", w.operand(1, kWord),
                              w.operand(2, kWord), amount));
}

void permute(Writer& w, const FlatInstruction& i) {
  struct Mode {
    std::string_view name;
    unsigned selectors[4];
  };
  constexpr Mode kModes[] = {
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  const std::string abc =
      fmt::format("{}, {}, {}", w.operand(1, kWord), w.operand(2, kWord), w.operand(3, kWord));
  for (const Mode& mode : kModes) {
    if (!i.has(mode.name)) continue;
    return w.result(kWord,
                    fmt::format("fgv_prmt_mode({}, {:#x}u, {:#x}u, {:#x}u, {:#x}u)", abc, mode.selectors[0],
                                mode.selectors[1], mode.selectors[2], mode.selectors[3]));
  }
  w.result(kWord, fmt::format("fgv_prmt({})", abc));
}

void shift(Writer& w, const FlatInstruction& i, ScalarType type) {
  const bool is_signed = i.name == "shr" && type.is_signed();
  const ScalarType as = {is_signed ? ScalarType::Kind::kSigned : ScalarType::Kind::kUnsigned, type.bits};
  const Argument& amount = w.argument(2);
  const std::string a = w.operand(1, as);
  if (amount.kind == Argument::Kind::kInteger && amount.bits < type.bits) {
    return w.result({ScalarType::Kind::kUnsigned, type.bits},
                    fmt::format("{} {} {}", a, i.name == "shl" ? "<<" : ">>", amount.bits));
  }
  const std::string name = i.name == "shl" ? "shl_b" : is_signed ? "shr_s" : "shr_u";
  w.result({ScalarType::Kind::kUnsigned, type.bits},
           fmt::format("fgv_{}{}({}, {})", name, type.bits, a, w.value(amount, kWord)));
}

void find_bit(Writer& w, const FlatInstruction& i, ScalarType type) {
  std::string text = fmt::format("fgv_bfind_{}({})", bits_suffix(type), w.operand(1, type));
  if (i.has("shiftamt")) text = fmt::format("fgv_shiftamt_b{}({})", type.bits, text);
  w.result(kWord, text);
}

}  // namespace

bool write_bits(Writer& w, const FlatInstruction& i) {
  if (i.name == "lop3") return lop3(w, i), true;
  if (i.name == "shf") return funnel(w, i), true;
  if (i.name == "prmt") return permute(w, i), true;
  if (i.words.empty()) return false;
  const auto type = scalar_type(i.words.back());
  if (!type) return false;
  const ScalarType u = {ScalarType::Kind::kUnsigned, type->bits};
  if (i.name == "and" || i.name == "or" || i.name == "xor" || i.name == "not" || i.name == "cnot") {
    logic(w, i, *type);
  } else if (i.name == "shl" || i.name == "shr") {
    shift(w, i, *type);
  } else if (i.name == "popc") {
    w.result(kWord, fmt::format("(uint)popcount({})", w.operand(1, u)));
  } else if (i.name == "clz") {
    w.result(kWord, fmt::format("fgv_clz_b{}({})", type->bits, w.operand(1, u)));
  } else if (i.name == "brev") {
    w.result(u, fmt::format("__builtin_bitreverse{}({})", type->bits, w.operand(1, u)));
  } else if (i.name == "bfind") {
    find_bit(w, i, *type);
  } else if (i.name == "fns") {
    w.result(kWord, fmt::format("fgv_fns({}, {}, {})", w.operand(1, kWord), w.operand(2, kWord),
                                w.operand(3, {ScalarType::Kind::kSigned, 32})));
  } else if (i.name == "bfe") {
    w.result(u, fmt::format("fgv_bfe_{}({}, {}, {})", bits_suffix(*type), w.operand(1, u),
                            w.operand(2, kWord), w.operand(3, kWord)));
  } else if (i.name == "bfi") {
    w.result(u, fmt::format("fgv_bfi_b{}({}, {}, {}, {})", type->bits, w.operand(1, u), w.operand(2, u),
                            w.operand(3, kWord), w.operand(4, kWord)));
  } else if (i.name == "bmsk") {
    w.result(u,
             fmt::format("fgv_bmsk({}, {}, {})", w.operand(1, u), w.operand(2, u), i.has("clamp") ? 1 : 0));
  } else if (i.name == "szext") {
    w.result(u, fmt::format("fgv_szext({}, {}, {}, {})", w.operand(1, u), w.operand(2, u),
                            type->is_signed() ? 1 : 0, i.has("clamp") ? 1 : 0));
  } else {
    return false;
  }
  return true;
}

}  // namespace fairgv::softcuda
