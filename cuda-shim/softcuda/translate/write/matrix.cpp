#include "cuda-shim/softcuda/translate/write/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

namespace fairgv::softcuda {
namespace {

// An element's type: its name, its bits in memory and in a register that holds several.
struct Element {
  std::string_view name;
  unsigned bits;
};
constexpr std::array<Element, 11> kElements = {{{"f16", 16},
                                                {"bf16", 16},
                                                {"tf32", 32},
                                                {"f32", 32},
                                                {"f64", 64},
                                                {"s32", 32},
                                                {"s8", 8},
                                                {"u8", 8},
                                                {"s4", 4},
                                                {"u4", 4},
                                                {"b1", 1}}};

struct Shape {
  unsigned m = 0, n = 0, k = 0;
};

std::optional<Shape> shape_of(const FlatInstruction& i) {
  for (const std::string& word : i.words) {
    Shape shape;
    int end = 0;
    if (std::sscanf(word.c_str(), "m%un%uk%u%n", &shape.m, &shape.n, &shape.k, &end) == 3 &&
        static_cast<std::size_t>(end) == word.size() && shape.m - 1 < 64 && shape.n - 1 < 64 &&
        shape.k - 1 < 256) {
      return shape;
    }
  }
  return std::nullopt;
}

std::vector<Element> elements_of(const FlatInstruction& i) {
  std::vector<Element> list;
  for (const std::string& word : i.words) {
    const auto found = std::find_if(kElements.begin(), kElements.end(),
                                    [&](const Element& each) { return each.name == word; });
    if (found != kElements.end()) list.push_back(*found);
  }
  return list;
}

std::vector<const Argument*> registers_in(const Argument& argument) {
  if (argument.kind != Argument::Kind::kVector) return {&argument};
  std::vector<const Argument*> list;
  for (const Argument& part : argument.parts) list.push_back(&part);
  return list;
}

// A product, checked: its shape, its types, and that its registers are as many as they must be.
struct Product {
  Shape shape;
  Element d, a, b, c;
  bool fragments = false;  // wmma
  unsigned a_each = 0, b_each = 0;
};

// Whether the registers are as many as the elements need. wmma's for halves may be more.
bool fits(const Argument& argument, unsigned elements, unsigned bits, bool exactly = false) {
  const std::size_t room = registers_in(argument).size() * std::max(bits, 32U);
  const std::size_t needed = std::size_t{elements} * bits;
  return exactly ? room == needed : room >= needed;
}

std::optional<Product> product_of(Writer& w, const FlatInstruction& i) {
  const auto shape = shape_of(i);
  const auto elements = elements_of(i);
  Product p;
  p.fragments = i.name == "wmma";
  if (!shape || i.arguments.size() < 4 || i.has("sp") || i.has("sp::ordered_metadata") || i.has("rz") ||
      i.has("rm") || i.has("rp")) {
    return std::nullopt;
  }
  p.shape = *shape;
  if (elements.size() == 4) {
    p.d = elements[0], p.a = elements[1], p.b = elements[2], p.c = elements[3];
  } else if (elements.size() == 2 && p.fragments) {  // halves, which the opcode does not name
    p.d = elements[0], p.a = p.b = kElements[0], p.c = elements[1];
  } else {
    return std::nullopt;
  }
  const bool integers = p.d.name == "s32" && p.c.name == "s32" && p.a.bits < 16;
  const bool doubles = p.d.name == "f64" && p.a.name == "f64" && p.c.name == "f64" && p.shape.m == 8;
  const bool floats = (p.d.name == "f32" || p.d.name == "f16") && (p.c.name == "f32" || p.c.name == "f16") &&
                      (p.a.bits == 16 || p.a.name == "tf32");
  const Shape& s = p.shape;
  // The layouts of mma are those of 8 or 16 rows and 8 columns; m8n8k4 of halves has one of its own.
  const bool known = p.fragments || (s.n == 8 && (s.m == 8 || s.m == 16) && !(s.m == 8 && p.a.bits == 16));
  if (!(integers || doubles || floats) || p.a.bits != p.b.bits || !known) return std::nullopt;
  if (!p.fragments && (!i.has("row") || !i.has("col"))) return std::nullopt;
  if (p.fragments) p.a_each = s.m * s.k / 32, p.b_each = s.n * s.k / 32;
  if (!fits(w.argument(1), s.m * s.k / 32, p.a.bits) || !fits(w.argument(2), s.n * s.k / 32, p.b.bits) ||
      !fits(w.argument(0), s.m * s.n / 32, p.d.bits, true) ||
      !fits(w.argument(3), s.m * s.n / 32, p.c.bits, true)) {
    return std::nullopt;
  }
  return p;
}

std::uint64_t bytes_of(const Argument& argument, unsigned bits) {
  return registers_in(argument).size() * (bits == 64 ? 8 : 4);
}

// Element n of registers that hold C, as a C expression of the sum's type.
std::string summand(Writer& w, const Argument& argument, Element element, unsigned n) {
  const auto list = registers_in(argument);
  const unsigned per = element.bits == 16 ? 2 : 1;
  const Argument& part = *list[n / per];
  if (element.bits == 16) {
    return fmt::format("fgv_f16_to_f32((ushort)({} >> {}))", w.value(part, {ScalarType::Kind::kBits, 32}),
                       16 * (n % per));
  }
  if (element.name == "s32") return fmt::format("(long){}", w.value(part, {ScalarType::Kind::kSigned, 32}));
  return w.value(part, {ScalarType::Kind::kFloat, element.bits});
}

// The row and the column of this lane's element n of D, as C expressions of the lane LN.
std::pair<std::string, std::string> place_in_d(const Product& p, unsigned n) {
  if (!p.fragments)
    return {fmt::format("(LN >> 2) + {}", 8 * (n / 2)), fmt::format("(LN & 3) * 2 + {}", n % 2)};
  const std::string at = fmt::format("(LN * {} + {})", p.shape.m * p.shape.n / 32, n);
  return {fmt::format("{} / {}", at, p.shape.n), fmt::format("{} % {}", at, p.shape.n)};
}

void put_results(Writer& w, const Product& p, unsigned count) {
  const auto list = registers_in(w.argument(0));
  for (std::size_t r = 0; r < list.size(); ++r) {
    if (p.d.bits == 16) {
      w.assign(*list[r], {ScalarType::Kind::kBits, 32},
               fmt::format("(uint)fgv_f32_to_f16(d{}, 0) | (uint)fgv_f32_to_f16(d{}, 0) << 16", 2 * r % count,
                           (2 * r + 1) % count));
    } else if (p.d.name == "s32") {
      w.assign(*list[r], {ScalarType::Kind::kBits, 32}, fmt::format("(uint)d{}", r));
    } else {
      w.assign(*list[r], {ScalarType::Kind::kFloat, p.d.bits}, fmt::format("d{}", r));
    }
  }
}

// ---- wmma.load and wmma.store

struct Transfer {
  Shape shape;
  Element element;
  unsigned lines = 0, across = 0;  // ours is the order of lines: rows of A, C and D, columns of B
  bool lines_are_rows = true;
  bool by_line = false;  // in memory, too, the elements of a line follow each other
};

std::optional<Transfer> transfer_of(const FlatInstruction& i) {
  const auto shape = shape_of(i);
  const auto elements = elements_of(i);
  if (!shape || elements.size() != 1) return std::nullopt;
  Transfer t;
  t.shape = *shape;
  t.element = elements[0];
  const bool row = i.has("row");
  if (row == i.has("col")) return std::nullopt;
  if (i.has("a")) {
    t.lines = shape->m, t.across = shape->k, t.by_line = row;
  } else if (i.has("b")) {
    t.lines = shape->n, t.across = shape->k, t.by_line = !row, t.lines_are_rows = false;
  } else {
    t.lines = shape->m, t.across = shape->n, t.by_line = row;
  }
  // Elements of less than a byte follow each other in memory.
  if (t.element.bits < 8 && !t.by_line) return std::nullopt;
  return t;
}

// The element n of this lane in memory, as a number of elements from the matrix's beginning.
std::string place_in_memory(const Transfer& t, unsigned each, unsigned n) {
  const std::string at = fmt::format("(LN * {} + {})", each, n);
  const std::string line = fmt::format("{} / {}", at, t.across);
  const std::string along = fmt::format("{} % {}", at, t.across);
  return t.by_line ? fmt::format("({}) * ST + {}", line, along) : fmt::format("({}) * ST + {}", along, line);
}

void load_fragment(Writer& w, const Transfer& t) {
  const auto list = registers_in(w.argument(0));
  const unsigned each = t.lines * t.across / 32;
  const unsigned bits = std::max(t.element.bits, t.element.bits < 8 ? 32U : 8U);
  const unsigned per = std::max(1U, 32 / bits);
  for (std::size_t r = 0; r < list.size(); ++r) {
    std::string text;
    for (unsigned part = 0; part < per; ++part) {
      // Halves of small matrices are in several registers.
      const unsigned step = t.element.bits < 8 ? 32 / t.element.bits : 1;
      const auto n = static_cast<unsigned>((r * per + part) * step) % each;
      const std::string place = fmt::format("FAIRGV_AT(fgv_u{}, MA + (ulong)({}) * {} / 8)", bits,
                                            place_in_memory(t, each, n), t.element.bits);
      text += part == 0 ? place : fmt::format(" | (uint){} << {}", place, bits * part);
    }
    w.assign(*list[r], {ScalarType::Kind::kBits, bits == 64 ? 64U : 32U}, per > 1 ? "(uint)" + text : text);
  }
}

void store_fragment(Writer& w, const Transfer& t) {
  const auto list = registers_in(w.argument(1));
  const unsigned each = t.lines * t.across / 32;
  const unsigned per = t.element.bits == 16 ? 2 : 1;
  const ScalarType whole = {ScalarType::Kind::kBits, t.element.bits == 64 ? 64U : 32U};
  for (unsigned n = 0; n < each && n / per < list.size(); ++n) {
    const std::string value = w.value(*list[n / per], whole);
    w.line(fmt::format("FAIRGV_AT(fgv_u{0}, MA + (ulong)({1}) * {2}) = {3};", t.element.bits,
                       place_in_memory(t, each, n), t.element.bits / 8,
                       per == 1 ? value : fmt::format("(ushort)({} >> {})", value, 16 * (n % 2))));
  }
}

}  // namespace

bool is_matrix_product(const FlatInstruction& i) {
  return i.name == "mma" || (i.name == "wmma" && i.has("mma"));
}

bool is_matrix_transfer(const FlatInstruction& i) {
  return i.name == "wmma" && (i.has("load") || i.has("store"));
}

void give_matrices(Writer& w, const FlatInstruction& i, const std::string& area) {
  const auto product = product_of(w, i);
  if (!product) return w.refuse("this product of matrices is not supported");
  std::uint64_t at = 0;
  for (const std::size_t operand : {1U, 2U}) {
    const unsigned bits = product->a.bits == 64 ? 64 : 32;
    for (const Argument* part : registers_in(w.argument(operand))) {
      w.line(fmt::format("FAIRGV_AT(fgv_u{}, {} + {}) = {};", bits, area, at,
                         w.value(*part, {ScalarType::Kind::kBits, bits})));
      at += bits / 8;
    }
  }
  if (at > kMatrixArea) w.refuse("this product of matrices is not supported");
}

void multiply_matrices(Writer& w, const FlatInstruction& i, const std::string& areas, std::uint64_t stride) {
  const auto product = product_of(w, i);
  if (!product) return w.refuse("this product of matrices is not supported");
  const Product& p = *product;
  const unsigned count = p.shape.m * p.shape.n / 32;
  const char* const type = p.d.bits == 64 ? "double" : p.d.name == "s32" ? "long" : "float";
  const std::string function =
      fmt::format("fgv_mma_{}_{}", p.a.name, p.a.bits == 1 && i.has("xor") ? "xor" : p.b.name);
  w.line("{ const uint LN = LT & 31;");
  w.line(fmt::format("const struct fgv_fragments f = {{{}, {}, {}, {}, {}, {}, {}, {}}};", areas, stride,
                     bytes_of(w.argument(1), p.a.bits), p.shape.k, p.a.bits, p.shape.m / 8, p.a_each,
                     p.b_each));
  for (unsigned n = 0; n < count; ++n) {
    const auto [row, column] = place_in_d(p, n);
    std::string text =
        fmt::format("{}(&f, {}, {}, {})", function, row, column, summand(w, w.argument(3), p.c, n));
    if (p.d.name == "s32" && i.has("satfinite"))
      text = fmt::format("clamp({}, -0x80000000l, 0x7fffffffl)", text);
    w.line(fmt::format("const {} d{} = {};", type, n, text));
  }
  put_results(w, p, count);
  w.line("}");
}

void write_matrix_transfer(Writer& w, const FlatInstruction& i) {
  const bool load = i.has("load");
  const auto transfer = transfer_of(i);
  const std::size_t address = load ? 1 : 0;
  const std::size_t stride = 2;
  if (!transfer || i.arguments.size() < 2 ||
      (load && !fits(w.argument(0), transfer->lines * transfer->across / 32, transfer->element.bits)) ||
      (!load && (transfer->element.bits < 16 ||
                 !fits(w.argument(1), transfer->lines * transfer->across / 32, transfer->element.bits)))) {
    return w.refuse("this transfer of a matrix is not supported");
  }
  const bool shared = i.has("shared") || i.has("shared::cta");
  // Without a stride the matrix is dense.
  const unsigned dense = transfer->by_line ? transfer->across : transfer->lines;
  w.line(fmt::format(
      "{{ const uint LN = LT & 31; const uint ST = {}; const ulong MA = {};",
      i.arguments.size() > stride ? w.operand(stride, {ScalarType::Kind::kUnsigned, 32})
                                  : std::to_string(dense),
      w.plain_address(w.argument(address), shared ? Writer::Space::kShared : Writer::Space::kPlain)));
  if (load) {
    load_fragment(w, *transfer);
  } else {
    store_fragment(w, *transfer);
  }
  w.line("}");
}

}  // namespace fairgv::softcuda
