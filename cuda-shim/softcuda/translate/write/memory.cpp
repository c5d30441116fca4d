// PTX ISA, "ld", "st", "prefetch", "membar": every space, vectors, volatile and ordered accesses. Cache
// operators and eviction priorities are hints and mean nothing here.
#include <fmt/format.h>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

Writer::Space space_of(const FlatInstruction& i) {
  for (const std::string& word : i.words) {
    if (word == "shared" || word == "shared::cta") return Writer::Space::kShared;
    if (word.starts_with("param")) return Writer::Space::kParam;
  }
  return Writer::Space::kPlain;
}

bool supported_space(Writer& w, const FlatInstruction& i) {
  if (i.has("shared::cluster") || i.has("mmio") || i.has("async")) {
    w.refuse("this access is not supported");
    return false;
  }
  return true;
}

// The memory order of a C builtin; empty for a plain access.
std::string order_of(const FlatInstruction& i) {
  if (i.has("relaxed")) return "__ATOMIC_RELAXED";
  if (i.has("acquire")) return "__ATOMIC_ACQUIRE";
  if (i.has("release")) return "__ATOMIC_RELEASE";
  return {};
}

// The operands of a vector access, or the one operand of a scalar one.
std::vector<const Argument*> elements(const Argument& argument) {
  std::vector<const Argument*> list;
  if (argument.kind != Argument::Kind::kVector) return {&argument};
  for (const Argument& part : argument.parts) list.push_back(&part);
  return list;
}

void load(Writer& w, const FlatInstruction& i) {
  ScalarType type = w.type();
  if (!type.is_integer()) type = {ScalarType::Kind::kBits, type.bits};
  const auto parts = elements(w.argument(0));
  const std::string order = order_of(i);
  const std::string_view qualifier = i.has("volatile") ? "volatile " : "";
  // All operands are read before a result is written: the address may be in one of the results.
  if (parts.size() > 1) w.line("{");
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const auto offset = static_cast<std::int64_t>(n * type.bits / 8);
    std::string text = w.access(w.argument(1), space_of(i), memory_name(type), offset, qualifier);
    if (!order.empty()) text = fmt::format("__atomic_load_n(&{}, {})", text, order);
    if (parts.size() == 1) {
      w.result(type, text);
    } else {
      w.line(fmt::format("const {} x{} = {};", unsigned_name(type.bits), n, text));
    }
  }
  if (parts.size() == 1) return;
  for (std::size_t n = 0; n < parts.size(); ++n) w.assign(*parts[n], type, fmt::format("x{}", n));
  w.line("}");
}

void store(Writer& w, const FlatInstruction& i) {
  const ScalarType type = {ScalarType::Kind::kBits, w.type().bits};
  const auto parts = elements(w.argument(1));
  const std::string order = order_of(i);
  const std::string_view qualifier = i.has("volatile") ? "volatile " : "";
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const auto offset = static_cast<std::int64_t>(n * type.bits / 8);
    const std::string place = w.access(w.argument(0), space_of(i), memory_name(type), offset, qualifier);
    const std::string value = w.value(*parts[n], type);
    w.line(order.empty() ? fmt::format("{} = {};", place, value)
                         : fmt::format("__atomic_store_n(&{}, {}, {});", place, value, order));
  }
}

// cp.async copies at once: waiting for it finds it done.
void copy_asynchronously(Writer& w, const FlatInstruction& i) {
  if (i.has("bulk") || i.has("mbarrier") || i.has("reduce") || !i.has("async")) {
    return w.refuse("only cp.async from global to shared memory is supported");
  }
  if (i.has("commit_group") || i.has("wait_group") || i.has("wait_all")) return;
  const Argument& size = w.argument(2);
  if (size.kind != Argument::Kind::kInteger || (size.bits != 4 && size.bits != 8 && size.bits != 16)) {
    return w.refuse("the size must be 4, 8 or 16");
  }
  // The optional fourth operand is how much to read (the rest is zero), or a predicate that asks for zeros
  // only.
  std::string read = std::to_string(size.bits);
  if (i.arguments.size() > 3 && !i.has("L2::cache_hint")) {
    read = w.bits_of(w.argument(3)) == 1
               ? fmt::format("({} ? 0u : {}u)", w.condition(w.argument(3)), size.bits)
               : w.operand(3, {ScalarType::Kind::kUnsigned, 32});
  }
  w.line(fmt::format("fgv_copy({}, {}, {}, {});", w.plain_address(w.argument(0), Writer::Space::kShared),
                     w.plain_address(w.argument(1), Writer::Space::kPlain), size.bits, read));
}

// Launches of a stream follow one another here: what griddepcontrol waits for has been done.
bool is_hint(const FlatInstruction& i) {
  return i.name == "prefetch" || i.name == "prefetchu" || i.name == "applypriority" || i.name == "discard" ||
         i.name == "nanosleep" || i.name == "pmevent" || i.name == "setmaxnreg" || i.name == "createpolicy" ||
         i.name == "griddepcontrol";
}

}  // namespace

bool write_memory(Writer& w, const FlatInstruction& i) {
  if (i.name == "ld" || i.name == "ldu") {
    if (supported_space(w, i)) load(w, i);
  } else if (i.name == "st") {
    if (supported_space(w, i)) store(w, i);
  } else if (i.name == "membar" || i.name == "fence") {
    if (i.has("proxy") && !i.has("alias")) return w.refuse("proxies are not supported"), true;
    w.line("__sync_synchronize();");
  } else if (i.name == "cp") {
    copy_asynchronously(w, i);
  } else if (is_hint(i)) {
    if (i.name == "createpolicy") w.result({ScalarType::Kind::kUnsigned, 64}, "0ul");
  } else {
    return false;
  }
  return true;
}

}  // namespace fairgv::softcuda
