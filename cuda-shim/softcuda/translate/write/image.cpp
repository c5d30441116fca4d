// PTX ISA, "Texture Instructions" and "Surface Instructions": tex, tld4, txq, suld.b, sust.b, suq on objects,
// whose 64-bit handles are addresses of blocks (image_block.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cuda-shim/softcuda/translate/runtime_block.hpp"
#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

constexpr ScalarType kHandle = {ScalarType::Kind::kUnsigned, 64};
constexpr ScalarType kIndex = {ScalarType::Kind::kSigned, 32};
constexpr ScalarType kSingle = {ScalarType::Kind::kFloat, 32};
constexpr ScalarType kBits32 = {ScalarType::Kind::kBits, 32};

struct Geometry {
  std::string_view name;
  bool layered;
  std::size_t coordinates;  // without the layer
};
constexpr std::array<Geometry, 7> kGeometries = {{{"1d", false, 1},
                                                  {"2d", false, 2},
                                                  {"3d", false, 3},
                                                  {"a1d", true, 1},
                                                  {"a2d", true, 2},
                                                  {"cube", false, 3},
                                                  {"acube", true, 3}}};

const Geometry* geometry_of(Writer& w, const FlatInstruction& i) {
  for (const Geometry& each : kGeometries) {
    if (i.has(each.name)) return &each;
  }
  w.refuse("textures and surfaces of this geometry are not supported");
  return nullptr;
}

/// An operand [object, {coordinates}].
struct Place {
  std::string handle;
  std::string layer;  // empty: none
  std::vector<std::string> coordinates;

  /// All of it as arguments of a function. `image`: what the handle leads to, in the function's terms.
  std::string text(const std::string& image) const {
    std::string text = image;
    if (!layer.empty()) text += ", " + layer;
    for (const std::string& each : coordinates) text += ", " + each;
    return text;
  }
};

std::string handle_of(Writer& w, const Argument& operand, std::size_t parts) {
  if (operand.kind != Argument::Kind::kAddress || operand.parts.size() != parts ||
      operand.parts[0].kind != Argument::Kind::kRegister || w.bits_of(operand.parts[0]) != 64) {
    w.refuse(
        "the 64-bit handle of a texture or surface object is expected: texture references are not "
        "supported");
    return "0";
  }
  return w.value(operand.parts[0], kHandle);
}

Place place_of(Writer& w, const Argument& operand, const Geometry& geometry, ScalarType coordinate) {
  Place place;
  place.handle = handle_of(w, operand, 2);
  if (w.failed()) return place;
  const Argument& vector = operand.parts[1];
  const std::size_t first = geometry.layered ? 1 : 0;
  if (vector.kind != Argument::Kind::kVector || vector.parts.size() < first + geometry.coordinates) {
    w.refuse("coordinates are missing");
    return place;
  }
  if (geometry.layered) place.layer = w.value(vector.parts[0], kWord);
  for (std::size_t n = 0; n < geometry.coordinates; ++n)
    place.coordinates.push_back(w.value(vector.parts[first + n], coordinate));
  return place;
}

/// Puts the four words of the call `text` into a vector of registers, among which may be the coordinates.
void fetch(Writer& w, const FlatInstruction& i, std::size_t operands, const std::string& text) {
  const Argument& whole = w.argument(0);
  const bool pair = whole.kind == Argument::Kind::kPair;
  const Argument& vector = pair ? whole.parts[0] : whole;
  if (vector.kind != Argument::Kind::kVector || vector.parts.size() != 4 || !i.has("v4")) {
    return w.refuse("only results of four words are supported");
  }
  if (i.arguments.size() != operands) return w.refuse("offsets, comparisons and samplers are not supported");
  w.line(fmt::format("{{ const uint4 x = {};", text));
  for (std::size_t n = 0; n < 4; ++n) w.assign(vector.parts[n], kBits32, fmt::format("x.s{}", n));
  // Everything is resident: nothing is sparse.
  if (pair) w.assign(whole.parts[1], kPredicate, "true");
  w.line("}");
}

bool result_is_word(Writer& w) {
  const ScalarType type = w.type(1);
  if (type.bits == 32 && !type.packed && (type.is_integer() || type.is_native_float())) return true;
  w.refuse("only results of four words are supported");
  return false;
}

/// A step along x or y of the screen, as three numbers of single precision.
std::string step_of(Writer& w, const Argument& operand, const Geometry& geometry) {
  std::array<std::string, 3> numbers = {"0.0f", "0.0f", "0.0f"};
  const bool vector = operand.kind == Argument::Kind::kVector;
  if (vector ? operand.parts.size() < geometry.coordinates : geometry.coordinates != 1) {
    w.refuse("parts of a gradient are missing");
    return "0";
  }
  for (std::size_t n = 0; n < geometry.coordinates; ++n)
    numbers[n] = w.value(vector ? operand.parts[n] : operand, kSingle);
  return fmt::format("(float3)({}, {}, {})", numbers[0], numbers[1], numbers[2]);
}

/// The level that a fetch names, as an expression; empty: it names none.
std::string level_of(Writer& w, const FlatInstruction& i, const Geometry& geometry, const Place& place) {
  const std::size_t operands = i.has("level") ? 1 : i.has("grad") ? 2 : 0;
  if (operands == 0) return "";
  if (i.arguments.size() < 2 + operands) {
    w.refuse("the level is missing");
    return "";
  }
  // A level is of the coordinates' type.
  if (i.has("level")) return "(float)" + w.value(w.argument(2), w.type());
  const std::string x = step_of(w, w.argument(2), geometry), y = step_of(w, w.argument(3), geometry);
  if (!geometry.name.ends_with("cube")) return fmt::format("fgv_grad({}, {}, {})", place.handle, x, y);
  const auto& way = place.coordinates;
  return fmt::format("fgv_grad_cube({}, (float3)({}, {}, {}), {}, {})", place.handle, way[0], way[1], way[2],
                     x, y);
}

void sample(Writer& w, const FlatInstruction& i) {
  const Geometry* const geometry = geometry_of(w, i);
  if (geometry == nullptr || !result_is_word(w)) return;
  const bool whole = w.type() == kIndex;
  if (!whole && w.type() != kSingle) return w.refuse("these coordinates are not supported");
  const bool cube = geometry->name.ends_with("cube");
  if (whole && cube) return w.refuse("cubemaps have coordinates of single precision");
  const std::size_t more = i.has("level") ? 1 : i.has("grad") ? 2 : 0;
  const Place place = place_of(w, w.argument(1), *geometry, w.type());
  if (w.failed()) return;
  const std::string level = level_of(w, i, *geometry, place);
  if (w.failed()) return;
  const std::string image = "FAIRGV_IMAGE(" + place.handle + ")";
  std::string function;
  if (whole) {
    const std::string level_image =
        level.empty() ? image : fmt::format("fgv_nearest({}, {})", place.handle, level);
    function = fmt::format("fgv_at_{}({})", geometry->name, place.text(level_image));
  } else {
    const std::string how = level.empty() ? "false, 0.0f" : "true, " + level;
    function = fmt::format("fgv_tex_{}({})", geometry->name, place.text(image + ", " + how));
  }
  fetch(w, i, 2 + more, function);
}

void gather(Writer& w, const FlatInstruction& i) {
  const Geometry* const geometry = geometry_of(w, i);
  if (geometry == nullptr || !result_is_word(w)) return;
  if (geometry->name != "2d" || w.type() != kSingle)
    return w.refuse("texels are gathered in two dimensions only");
  const std::string channels = "rgba";
  std::size_t channel = channels.size();
  for (std::size_t n = 0; n < channels.size(); ++n) {
    if (i.has(std::string_view(channels).substr(n, 1))) channel = n;
  }
  if (channel == channels.size()) return w.refuse("a channel is expected");
  const Place place = place_of(w, w.argument(1), *geometry, kSingle);
  if (w.failed()) return;
  fetch(w, i, 2,
        fmt::format("fgv_tld4_2d({}, {}, {}, {})", place.handle, channel, place.coordinates[0],
                    place.coordinates[1]));
}

// A query on an object, and what it reads of the largest level's block.
struct Question {
  std::string_view name;
  std::string_view answer;
};
constexpr std::array<Question, 6> kQuestions = {{{"width", "width"},
                                                 {"height", "height"},
                                                 {"depth", "depth"},
                                                 {"array_size", "depth"},
                                                 {"normalized_coords", "flags & 1"},
                                                 {"num_mipmap_levels", "levels"}}};

void query(Writer& w, const FlatInstruction& i) {
  for (const Question& each : kQuestions) {
    if (!i.has(each.name) || i.arguments.size() != 2) continue;
    const std::string handle = handle_of(w, w.argument(1), 1);
    return w.result(kBits32, fmt::format("fgv_whole({})->{}", handle, each.answer));
  }
  w.refuse("this cannot be asked of a texture or surface");
}

/// An access to a surface. The caller must close the block that it opens.
struct SurfaceAccess {
  ScalarType element;
  std::size_t elements = 1;
};

std::size_t vector_length_of(const FlatInstruction& i) {
  return i.has("v4") ? 4 : i.has("v2") ? 2 : 1;
}

bool open_access(Writer& w, const FlatInstruction& i, std::size_t operand, const std::string& leave,
                 SurfaceAccess& access) {
  const Geometry* const geometry = geometry_of(w, i);
  if (geometry == nullptr) return false;
  if (!i.has("b") || geometry->name.ends_with("cube")) {
    w.refuse("only unformatted accesses to surfaces in one to three dimensions are supported");
    return false;
  }
  for (const std::string& word : i.words) {
    const auto type = scalar_type(word);
    if (type && type->kind == ScalarType::Kind::kBits && type->bits <= 64) access.element = *type;
  }
  access.elements = vector_length_of(i);
  const Place place = place_of(w, w.argument(operand), *geometry, kIndex);
  if (w.failed()) return false;
  const std::string x = place.coordinates[0];
  const std::string y = geometry->coordinates > 1 ? place.coordinates[1] : "0";
  const std::string z = geometry->layered           ? "(int)" + place.layer
                        : geometry->coordinates > 2 ? place.coordinates[2]
                                                    : "0";
  w.line(fmt::format("{{ const ulong at = fgv_surface({}, {}, {}, {}, {}, {});", place.handle,
                     access.element.bits / 8 * access.elements, i.has("clamp"), x, y, z));
  if (!i.has("clamp") && !i.has("zero")) {
    w.line(fmt::format("if (at == 0) {{ fgv_trap(R, {}, TX, TY, TZ, 0, 0, 0, 0); {} }}",
                       static_cast<std::uint32_t>(TrapKind::kSurface), leave));
  }
  return true;
}

std::vector<const Argument*> parts_of(const Argument& argument) {
  if (argument.kind != Argument::Kind::kVector) return {&argument};
  std::vector<const Argument*> parts;
  for (const Argument& part : argument.parts) parts.push_back(&part);
  return parts;
}

void load(Writer& w, const FlatInstruction& i, const std::string& leave) {
  SurfaceAccess access;
  if (!open_access(w, i, 1, leave, access)) return;
  const auto parts = parts_of(w.argument(0));
  if (parts.size() != access.elements) return w.refuse("the number of results is another");
  const std::string type = unsigned_name(access.element.bits);
  // All operands are read before a result is written: the handle or a coordinate may be among the results.
  for (std::size_t n = 0; n < parts.size(); ++n) {
    w.line(fmt::format("const {} x{} = at != 0 ? FAIRGV_AT({}, at + {}) : 0;", type, n,
                       memory_name(access.element), n * access.element.bits / 8));
  }
  for (std::size_t n = 0; n < parts.size(); ++n) w.assign(*parts[n], access.element, fmt::format("x{}", n));
  w.line("}");
}

void store(Writer& w, const FlatInstruction& i, const std::string& leave) {
  SurfaceAccess access;
  if (!open_access(w, i, 0, leave, access)) return;
  const auto parts = parts_of(w.argument(1));
  if (parts.size() != access.elements) return w.refuse("the number of values is another");
  w.line("if (at != 0) {");
  for (std::size_t n = 0; n < parts.size(); ++n) {
    w.line(fmt::format("FAIRGV_AT({}, at + {}) = {};", memory_name(access.element),
                       n * access.element.bits / 8, w.value(*parts[n], access.element)));
  }
  w.line("} }");
}

}  // namespace

bool is_image_instruction(const FlatInstruction& i) {
  constexpr std::array<std::string_view, 6> kNames = {"tex", "tld4", "txq", "suld", "sust", "suq"};
  return std::find(kNames.begin(), kNames.end(), i.name) != kNames.end();
}

void write_image(Writer& w, const FlatInstruction& i, const std::string& leave) {
  if (i.name == "tex") {
    sample(w, i);
  } else if (i.name == "tld4") {
    gather(w, i);
  } else if (i.name == "suld") {
    load(w, i, leave);
  } else if (i.name == "sust") {
    store(w, i, leave);
  } else {
    query(w, i);
  }
}

}  // namespace fairgv::softcuda
