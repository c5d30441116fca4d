// PTX ISA, "Data Movement": mov with its packing and unpacking, cvta, isspacep.
#include <fmt/format.h>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

// d = {a, b, ...}: the first element is the lowest.
void pack(Writer& w, ScalarType type, const Argument& vector) {
  const unsigned bits = type.bits / static_cast<unsigned>(std::max<std::size_t>(1, vector.parts.size()));
  if (type.bits == 128) {
    if (vector.parts.size() != 2) return w.refuse("two parts are expected");
    return w.result(type,
                    fmt::format("(ulong2)({}, {})", w.value(vector.parts[0], {ScalarType::Kind::kBits, 64}),
                                w.value(vector.parts[1], {ScalarType::Kind::kBits, 64})));
  }
  std::string text;
  for (std::size_t part = 0; part < vector.parts.size(); ++part) {
    text += fmt::format("{}({}){} << {}", part == 0 ? "" : " | ", unsigned_name(type.bits),
                        w.value(vector.parts[part], {ScalarType::Kind::kBits, bits}), part * bits);
  }
  w.result({ScalarType::Kind::kBits, type.bits}, text);
}

void unpack(Writer& w, ScalarType type, const Argument& vector) {
  const unsigned bits = type.bits / static_cast<unsigned>(std::max<std::size_t>(1, vector.parts.size()));
  const std::string whole = w.operand(1, {ScalarType::Kind::kBits, type.bits});
  // A part may be the register that is taken apart.
  w.line(fmt::format("{{ const {} x = {};", unsigned_name(type.bits), whole));
  for (std::size_t part = 0; part < vector.parts.size(); ++part) {
    const std::string text =
        type.bits == 128 ? fmt::format("x.s{}", part) : fmt::format("x >> {}", part * bits);
    w.assign(vector.parts[part], {ScalarType::Kind::kBits, bits}, text);
  }
  w.line("}");
}

void write_mov(Writer& w) {
  const ScalarType type = w.type();
  const Argument& dest = w.argument(0);
  const Argument& source = w.argument(1);
  if (type.is_predicate()) return w.assign(dest, type, w.condition(source));
  if (dest.kind == Argument::Kind::kVector) return unpack(w, type, dest);
  if (source.kind == Argument::Kind::kVector) return pack(w, type, source);
  w.assign(dest, {ScalarType::Kind::kBits, type.bits}, w.value(source, {ScalarType::Kind::kBits, type.bits}));
}

// Only shared addresses differ from plain ones: they are offsets.
void convert_address(Writer& w, const FlatInstruction& i) {
  const ScalarType type = {ScalarType::Kind::kUnsigned, w.type().bits};
  const bool shared = i.has("shared") || i.has("shared::cta") || i.has("shared::cluster");
  const std::string a = w.operand(1, type);
  if (!shared) return w.result(type, a);
  if (type.bits != 64) return w.refuse("32-bit generic addresses are not supported");
  w.result(type, i.has("to") ? a + " - S" : fmt::format("S + (uint){}", a));
}

void in_space(Writer& w, const FlatInstruction& i) {
  const std::string a = w.operand(1, {ScalarType::Kind::kUnsigned, 64});
  const std::string shared = fmt::format("{} - S < SB + FAIRGV_RUNTIME(R)->dynamic_shared_bytes", a);
  // Kernels with this query and .local memory are stepped (write/kernel.cpp): there that memory is in one
  // place.
  const std::string local = w.info().stepped ? fmt::format("{} - G.contexts < G.own_bytes", a) : "false";
  std::string text;
  if (i.has("shared") || i.has("shared::cta") || i.has("shared::cluster")) text = shared;
  if (i.has("local")) text = local;
  if (i.has("global")) text = fmt::format("!({}) && !({})", shared, local);
  if (text.empty()) return w.refuse("only shared, local and global can be asked for");
  w.result({ScalarType::Kind::kPredicate, 1}, text);
}

}  // namespace

bool write_move(Writer& w, const FlatInstruction& i) {
  if (i.name == "mov") {
    write_mov(w);
  } else if (i.name == "cvta") {
    convert_address(w, i);
  } else if (i.name == "isspacep") {
    in_space(w, i);
  } else {
    return false;
  }
  return true;
}

}  // namespace fairgv::softcuda
