#include "cuda-shim/softcuda/translate/write/mbarrier.hpp"

#include <fmt/format.h>

namespace fairgv::softcuda {
namespace {

constexpr ScalarType kLong = {ScalarType::Kind::kUnsigned, 64};

std::string address_of(Writer& w, const FlatInstruction& i, std::size_t index) {
  const bool shared = i.has("shared") || i.has("shared::cta");
  return w.plain_address(w.argument(index), shared ? Writer::Space::kShared : Writer::Space::kPlain);
}

}  // namespace

bool is_mbarrier(const FlatInstruction& i) {
  return i.name == "mbarrier" || (i.name == "cp" && i.has("async") && i.has("mbarrier") && i.has("arrive"));
}

void write_mbarrier(Writer& w, const FlatInstruction& i) {
  if (i.has("expect_tx") || i.has("complete_tx") || i.has("shared::cluster") || i.has("cluster")) {
    return w.refuse("transaction counts and clusters are not supported");
  }
  if (i.name == "cp") {
    // The copies are done. Without .noinc the arrival is expected besides the others, and is made at once.
    if (i.has("noinc")) w.line(fmt::format("(void)fgv_mbarrier_arrive({}, 1, false);", address_of(w, i, 0)));
  } else if (i.has("init")) {
    w.line(fmt::format("FAIRGV_AT(fgv_u64, {}) = (ulong)({} & 0xfffff) * 0x100001ul;", address_of(w, i, 0),
                       w.operand(1, kWord)));
  } else if (i.has("inval")) {
    return;
  } else if (i.has("arrive") || i.has("arrive_drop")) {
    const std::string count = i.arguments.size() > 2 ? w.operand(2, kWord) : "1";
    w.result(kLong, fmt::format("fgv_mbarrier_arrive({}, {}, {})", address_of(w, i, 1), count,
                                i.has("arrive_drop")));
  } else if (i.has("pending_count")) {
    w.result(kWord, fmt::format("(uint){} & 0xfffff", w.operand(1, kLong)));
  } else {
    w.refuse("this operation on a barrier is not supported");
  }
}

void prepare_mbarrier_wait(Writer& w, const FlatInstruction& i) {
  if (i.has("shared::cluster") || i.has("cluster")) return w.refuse("clusters are not supported");
  const bool parity = i.has("parity");
  w.line(fmt::format("me->value = {}; me->a = {}; me->b = {};", address_of(w, i, 1), parity ? 1 : 0,
                     parity ? w.operand(2, kWord) : fmt::format("(uint)({} >> 40)", w.operand(2, kLong))));
}

}  // namespace fairgv::softcuda
