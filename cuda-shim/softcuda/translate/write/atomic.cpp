// PTX ISA, "atom" and "red". Every one is sequentially consistent here, which satisfies any order and scope.
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

std::string_view operation_of(const FlatInstruction& i) {
  constexpr std::array<std::string_view, 10> kOperations = {"add", "min", "max", "and",  "or",
                                                            "xor", "inc", "dec", "exch", "cas"};
  for (const std::string& word : i.words) {
    for (const std::string_view known : kOperations) {
      if (word == known) return known;
    }
  }
  return {};
}

// Names of the compare-and-swap loops in prelude/atomic.cl: fgv_atom_add_f32 and so on.
std::string loop_type(std::string_view operation, ScalarType type) {
  if (operation == "inc" || operation == "dec") return type.bits == 32 ? "u32" : "";
  if (operation == "min" || operation == "max") {
    return type.is_integer() && type.bits >= 32 ? (type.is_signed() ? "s" : "u") + std::to_string(type.bits)
                                                : "";
  }
  const std::string name =
      type.kind == ScalarType::Kind::kBfloat ? "bf16" : "f" + std::to_string(type.packed ? 16 : type.bits);
  return name + (type.packed ? "x2" : "");
}

std::string atomic_expression(Writer& w, std::string_view operation, ScalarType type,
                              const std::string& address, std::size_t first) {
  const ScalarType bits = {ScalarType::Kind::kBits, type.bits};
  const std::string pointer = fmt::format("(FAIRGV_AS {}*)({})", unsigned_name(type.bits), address);
  const bool integer = type.is_integer();
  if (operation == "cas") {
    return fmt::format("__sync_val_compare_and_swap({}, {}, {})", pointer, w.operand(first, bits),
                       w.operand(first + 1, bits));
  }
  if (operation == "exch") {
    return fmt::format("__atomic_exchange_n({}, {}, __ATOMIC_SEQ_CST)", pointer, w.operand(first, bits));
  }
  const bool builtin =
      operation == "and" || operation == "or" || operation == "xor" || (operation == "add" && integer);
  if (builtin && type.bits >= 32) {
    return fmt::format("__sync_fetch_and_{}({}, {})", operation, pointer, w.operand(first, bits));
  }
  const std::string loop = builtin ? "" : loop_type(operation, type);
  if (loop.empty()) {
    w.refuse("this atomic operation is not supported");
    return "0";
  }
  return fmt::format("fgv_atom_{}_{}({}, {}, 0)", operation, loop, address,
                     w.operand(first, integer || type.is_native_float() ? type : bits));
}

}  // namespace

bool write_atomic(Writer& w, const FlatInstruction& i) {
  if (i.name != "atom" && i.name != "red") return false;
  const bool result = i.name == "atom";
  const std::string_view operation = operation_of(i);
  const ScalarType type = w.type();
  if (operation.empty() || type.bits > 64 || type.bits < 16 || i.has("async") || i.has("shared::cluster") ||
      w.argument(result ? 0 : 1).kind == Argument::Kind::kVector) {
    w.refuse("this atomic operation is not supported");
    return true;
  }
  const bool shared = i.has("shared") || i.has("shared::cta");
  const std::string address =
      w.plain_address(w.argument(result ? 1 : 0), shared ? Writer::Space::kShared : Writer::Space::kPlain);
  const std::string text = atomic_expression(w, operation, type, address, result ? 2 : 1);
  if (result) {
    w.result({ScalarType::Kind::kBits, type.bits}, text);
  } else {
    w.line("(void)" + text + ";");
  }
  return true;
}

}  // namespace fairgv::softcuda
