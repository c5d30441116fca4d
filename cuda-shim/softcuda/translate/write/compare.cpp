// PTX ISA, "Comparison and Selection Instructions": set, setp, selp, slct, also of half types.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

// {0} and {1} are the operands. The ...u comparisons hold for NaN as well.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kComparisons = {{
    {"eq", "{0} == {1}"},
    {"ne", "({0} < {1} || {0} > {1})"},
    {"lt", "{0} < {1}"},
    {"le", "{0} <= {1}"},
    {"gt", "{0} > {1}"},
    {"ge", "{0} >= {1}"},
    {"lo", "{0} < {1}"},
    {"ls", "{0} <= {1}"},
    {"hi", "{0} > {1}"},
    {"hs", "{0} >= {1}"},
    {"equ", "!({0} < {1} || {0} > {1})"},
    {"neu", "{0} != {1}"},
    {"ltu", "!({0} >= {1})"},
    {"leu", "!({0} > {1})"},
    {"gtu", "!({0} <= {1})"},
    {"geu", "!({0} < {1})"},
    {"num", "({0} == {0} && {1} == {1})"},
    {"nan", "({0} != {0} || {1} != {1})"},
}};

std::string compared_operand(Writer& w, const FlatInstruction& i, std::size_t index, ScalarType type,
                             int lane) {
  if (type.is_any_half()) {
    const std::string name = type.kind == ScalarType::Kind::kBfloat ? "bf16" : "f16";
    const std::string word = w.operand(index, {ScalarType::Kind::kBits, type.bits});
    std::string raw = fmt::format("(ushort)({}{})", word, lane == 0 ? "" : " >> 16");
    if (i.has("ftz")) raw = fmt::format("fgv_ftz_f16({})", raw);
    return fmt::format("fgv_{}_to_f32({})", name, raw);
  }
  const std::string text = w.operand(index, type);
  return i.has("ftz") && type.bits == 32 ? fmt::format("fgv_ftz_f32({})", text) : text;
}

std::string comparison(Writer& w, const FlatInstruction& i, ScalarType type, std::size_t first, int lane) {
  const std::string_view name = i.words.empty() ? "" : std::string_view(i.words[0]);
  for (const auto& [known, pattern] : kComparisons) {
    if (known != name) continue;
    const std::string a = compared_operand(w, i, first, type, lane);
    const std::string b = compared_operand(w, i, first + 1, type, lane);
    if (name == "ne" && type.is_integer()) return fmt::format("{} != {}", a, b);
    return fmt::format(fmt::runtime(pattern), a, b);
  }
  w.refuse("this comparison is not supported");
  return "false";
}

// The condition, combined with the predicate operand where .and, .or or .xor says so.
std::string combined(Writer& w, const FlatInstruction& i, const std::string& condition,
                     std::size_t predicate) {
  const char op = i.has("and") ? '&' : i.has("or") ? '|' : i.has("xor") ? '^' : '\0';
  if (op == '\0') return condition;
  return fmt::format("({}) {} {}", condition, op, w.condition(w.argument(predicate)));
}

void set_predicate(Writer& w, const FlatInstruction& i) {
  const ScalarType type = w.type();
  const Argument& dest = w.argument(0);
  const bool pair = dest.kind == Argument::Kind::kPair;
  if (type.packed && type.kind != ScalarType::Kind::kFloat && type.kind != ScalarType::Kind::kBfloat)
    return w.refuse("this type is not supported");
  if (type.packed && !pair) return w.refuse("p|q is expected");
  const std::string p = comparison(w, i, type, 1, 0);
  if (!pair) return w.assign(dest, kPredicate, combined(w, i, p, 3));
  // The operands may be the results' registers: both are computed first. q takes the opposite of a plain
  // comparison, and the second half of a packed one.
  const std::string q = type.packed ? comparison(w, i, type, 1, 1) : fmt::format("!({})", p);
  w.line(fmt::format("{{ const bool p = {}, q = {};", combined(w, i, p, 3), combined(w, i, q, 3)));
  w.assign(dest.parts[0], kPredicate, "p");
  w.assign(dest.parts[1], kPredicate, "q");
  w.line("}");
}

// set.cmp.dtype.stype: all ones or 1.0 where the comparison holds.
void set_value(Writer& w, const FlatInstruction& i) {
  const ScalarType dest = w.type(1);
  const ScalarType source = w.type();
  if (source.packed) {
    std::string text;
    const unsigned one = dest.kind == ScalarType::Kind::kFloat    ? 0x3c00
                         : dest.kind == ScalarType::Kind::kBfloat ? 0x3f80
                                                                  : 0xffff;
    if (dest.bits != 32) return w.refuse("this type is not supported");
    for (int lane = 0; lane < 2; ++lane) {
      text += fmt::format("{}(({}) ? {:#x}u : 0u)", lane == 0 ? "" : " | ",
                          combined(w, i, comparison(w, i, source, 1, lane), 3), one << (16 * lane));
    }
    return w.result({ScalarType::Kind::kBits, 32}, text);
  }
  const std::string condition = combined(w, i, comparison(w, i, source, 1, 0), 3);
  std::string one = "-1";
  if (dest == ScalarType{ScalarType::Kind::kFloat, 32}) one = "0x3f800000";
  if (dest == ScalarType{ScalarType::Kind::kFloat, 16}) one = "0x3c00";
  if (dest == ScalarType{ScalarType::Kind::kBfloat, 16}) one = "0x3f80";
  w.result({ScalarType::Kind::kBits, dest.bits}, fmt::format("({}) ? {} : 0", condition, one));
}

// slct.dtype.ctype d, a, b, c: a where c >= 0.
void select_by_sign(Writer& w, const FlatInstruction& i) {
  const ScalarType type = {ScalarType::Kind::kBits, w.type(1).bits};
  std::string c = w.operand(3, w.type());
  if (i.has("ftz")) c = fmt::format("fgv_ftz_f32({})", c);
  w.result(type, fmt::format("{} >= 0 ? {} : {}", c, w.operand(1, type), w.operand(2, type)));
}

}  // namespace

bool write_compare(Writer& w, const FlatInstruction& i) {
  if (i.name == "setp") {
    set_predicate(w, i);
  } else if (i.name == "set") {
    set_value(w, i);
  } else if (i.name == "slct") {
    select_by_sign(w, i);
  } else if (i.name == "selp") {
    const ScalarType type = {ScalarType::Kind::kBits, w.type().bits};
    w.result(type,
             fmt::format("{} ? {} : {}", w.condition(w.argument(3)), w.operand(1, type), w.operand(2, type)));
  } else {
    return false;
  }
  return true;
}

}  // namespace fairgv::softcuda
