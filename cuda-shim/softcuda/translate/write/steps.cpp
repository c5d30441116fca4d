#include "cuda-shim/softcuda/translate/write/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cuda-shim/softcuda/translate/module_symbols.hpp"
#include "cuda-shim/softcuda/translate/write/matrix.hpp"
#include "cuda-shim/softcuda/translate/write/mbarrier.hpp"

namespace fairgv::softcuda {
namespace {

constexpr std::uint32_t kBlockBytes = 64;   // FAIRGV_BLOCK_BYTES
constexpr std::uint32_t kThreadBytes = 64;  // struct fgv_thread

// Whether an instruction gives the same value at any place: a constant, an address, a parameter, the thread's
// index.
bool is_constant(const FlatKernel& kernel, const FlatInstruction& i) {
  if (i.guard >= 0 || i.arguments.size() != 2 || i.arguments[0].kind != Argument::Kind::kRegister)
    return false;
  const Argument& source = i.arguments[1];
  if (i.name == "mov") {
    return source.kind == Argument::Kind::kInteger || source.kind == Argument::Kind::kFloat ||
           (source.kind == Argument::Kind::kMemory &&
            !kernel.memories[static_cast<std::size_t>(source.id)].in_frame) ||
           (source.kind == Argument::Kind::kSpecial && !source.text.starts_with("%clock") &&
            !source.text.starts_with("%globaltimer"));
  }
  return i.name == "ld" && i.has("param") && source.kind == Argument::Kind::kAddress &&
         source.parts.size() == 1 && source.parts[0].kind == Argument::Kind::kMemory &&
         kernel.memories[static_cast<std::size_t>(source.parts[0].id)].space == Memory::Space::kKernelParam;
}

unsigned slot_bytes(unsigned bits) {
  return bits == 1 ? 1 : bits / 8;
}

}  // namespace

std::string aligned_shared(const KernelInfo& info, const std::string& address) {
  if (info.shared_alignment <= 16) return address;
  return fmt::format("({} + {}ul) & ~{}ul", address, info.shared_alignment - 1, info.shared_alignment - 1);
}

Steps::Steps(FlatKernel& kernel, const Flow& flow, KernelInfo& info) : kernel_(kernel), info_(info) {
  std::vector<std::size_t> points;
  for (std::size_t n = 0; n < kernel.instructions.size(); ++n) {
    if (!kernel.instructions[n].is_label() && is_synchronisation(kernel.instructions[n])) points.push_back(n);
  }
  find_constants();
  const auto live = flow.live_after(points);
  for (std::size_t p = 0; p < points.size(); ++p) {
    Stop& stop = stops_[&kernel.instructions[points[p]]];
    stop.number = static_cast<int>(p) + 1;
    std::set<int> needed(live[p].begin(), live[p].end());
    // A product is computed behind the stop: C is still needed there.
    if (is_matrix_product(kernel.instructions[points[p]])) {
      for (const int id : registers_of(kernel.instructions[points[p]]).reads) needed.insert(id);
    }
    for (const int id : needed) {
      (constants_.contains(id) ? stop.computed_again : stop.kept).push_back(id);
      if (!constants_.contains(id)) slots_[id] = 0;
    }
  }
  // The largest first, so that nothing is lost to alignment.
  for (const unsigned bits : {128u, 64u, 32u, 16u, 8u, 1u}) {
    for (auto& [id, offset] : slots_) {
      if (kernel.registers[static_cast<std::size_t>(id)].bits != bits) continue;
      offset = context_bytes_;
      context_bytes_ += slot_bytes(bits);
    }
  }
  for (Memory& memory : kernel.memories) {
    if (memory.in_frame) continue;
    if (memory.space != Memory::Space::kLocal && memory.space != Memory::Space::kCallParam) continue;
    memory.offset = round_up(context_bytes_, std::max<std::uint64_t>(8, memory.alignment));
    context_bytes_ = memory.offset + std::max<std::uint64_t>(8, round_up(memory.size, 8));
  }
  context_bytes_ = round_up(context_bytes_, 64);
  const auto& list = kernel.instructions;
  if (std::any_of(list.begin(), list.end(), is_matrix_product)) {
    matrix_offset_ = context_bytes_;
    context_bytes_ += 2 * kMatrixArea;
  }
  info.scratch_bytes_fixed = kBlockBytes;
  info.scratch_bytes_per_thread = kThreadBytes + static_cast<std::uint32_t>(context_bytes_);
  info.uses_stack = has_stack();
}

void Steps::find_constants() {
  std::vector<int> writers(kernel_.registers.size());
  for (const FlatInstruction& i : kernel_.instructions) {
    for (const int id : registers_of(i).writes) ++writers[static_cast<std::size_t>(id)];
  }
  for (const FlatInstruction& i : kernel_.instructions) {
    if (i.is_label() || !is_constant(kernel_, i)) continue;
    const int id = i.arguments[0].id;
    if (writers[static_cast<std::size_t>(id)] == 1) constants_[id] = &i;
  }
}

std::string Steps::slot(int id) const {
  const unsigned bits = kernel_.registers[static_cast<std::size_t>(id)].bits;
  return fmt::format("FAIRGV_AT(fgv_u{}, C + {})", bits == 1 ? 8 : bits, slots_.at(id));
}

std::string Steps::entry_switch() const {
  std::string text = "  switch (me->pc) {\n";
  for (const auto& [instruction, stop] : stops_) text += fmt::format("  case {0}: goto G{0};\n", stop.number);
  return text + "  default: break;\n  }\n";
}

// The threads of the block G, warp by warp, until none can go on.
std::string Steps::run_block(const std::string& prologue, const std::string& body) const {
  return fmt::format(
      "  do {{\n"
      "  for (uint base = 0; base < G.count; base += 32) {{\n"
      "  const uint end = min(base + 32, G.count);\n"
      "  do {{\n"
      "  for (uint LT = base; LT < end; ++LT) {{\n"
      "  FAIRGV_AS struct fgv_thread* me = FAIRGV_THREAD(G, LT);\n"
      "  if (me->state != FAIRGV_READY) continue;\n"
      "  const uint TX = me->x, TY = me->y, TZ = me->z;\n"
      "  const ulong C = G.contexts + LT * {0}ul;\n"
      "{3}{1}{2}"
      "  me->state = FAIRGV_DONE;\n"
      "  next:;\n"
      "  }}\n"
      "  }} while (fgv_resolve_warp(FAIRGV_THREAD(G, base), end - base));\n"
      "  }}\n"
      "  }} while (fgv_resolve_block(&G, R));\n",
      context_bytes_, prologue, body,
      has_stack() ? "  const ulong K = G.stacks + LT * (ulong)G.stack_bytes;\n  ulong F = K + me->frame;\n"
                  : "");
}

std::string Steps::wrap(const std::string& prologue, const std::string& body) const {
  const std::string first =
      "  if ((get_local_id(0) | get_local_id(1) | get_local_id(2)) != 0) return;\n  struct fgv_block G;\n";
  if (!info_.cooperates) {
    return first + fmt::format("  if (!fgv_begin(&G, R, {}, {})) return;\n", context_bytes_, has_stack()) +
           run_block(prologue, body) + "  fgv_end(&G, R);\n";
  }
  return first +
         fmt::format(
             "  FAIRGV_AS struct fgv_runtime* const runtime = FAIRGV_RUNTIME(R);\n"
             "  const uint NX = runtime->grid[0], NY = runtime->grid[1], NZ = runtime->grid[2];\n"
             "  for (uint ended = 0; ended < NX * NY * NZ;) {{\n"
             "  ended = 0;\n"
             "  for (uint at = 0; at < NX * NY * NZ; ++at) {{\n"
             "  const bool trapped = *(volatile FAIRGV_AS uint*)&runtime->trap_kind != 0;\n"
             "  if (trapped) return;\n"
             "  const uint was = fgv_take_block(&G, R, at, {}, {}, {}ul);\n"
             "  if (was == FAIRGV_BLOCK_ENDED) ++ended;\n"
             "  if (was == FAIRGV_BLOCK_ENDED || was == FAIRGV_BLOCK_RUNS) continue;\n"
             "  const ulong S = {};\n"
             "  const uint BX = at % NX, BY = at / NX % NY, BZ = at / NX / NY;\n",
             context_bytes_, has_stack(), info_.shared_bytes(0), aligned_shared(info_, "G.shared")) +
         run_block(prologue, body) + "  fgv_leave_block(&G, R, trapped, BX, BY, BZ);\n  }\n  }\n";
}

// The operation's inputs have been put into `me`; the thread's registers are kept until it goes on.
void Steps::stop(Writer& w, const FlatInstruction& i, const std::string& kind) {
  const Stop& here = stops_.at(&i);
  for (const int id : here.kept) w.line(fmt::format("{} = v{};", slot(id), id));
  if (has_stack()) w.line("me->frame = (uint)(F - K);");
  w.line(fmt::format("me->pc = {}; me->state = {}; goto next;", here.number, kind));
  w.line(fmt::format("G{}:;", here.number));
  for (const int id : here.kept) w.line(fmt::format("v{} = {};", id, slot(id)));
  for (const int id : here.computed_again) {
    const FlatInstruction& constant = *constants_.at(id);
    w.begin(constant);
    if (!write_move(w, constant)) write_memory(w, constant);
  }
  w.begin(i);
}

void Steps::write(Writer& w, const FlatInstruction& i) {
  if (i.name == "activemask") {
    stop(w, i, "FAIRGV_ACTIVEMASK");
    w.result(kWord, "(uint)me->result");
  } else if ((i.name == "bar" || i.name == "barrier") && !i.has("warp")) {
    barrier(w, i);
  } else if (i.name == "yield") {
    stop(w, i, "FAIRGV_YIELD");
  } else if (i.name == "lockstep") {
    stop(w, i, "FAIRGV_ACTIVEMASK");  // lanes that stop at the same place go on together
  } else if (i.name == "mbarrier") {
    prepare_mbarrier_wait(w, i);
    stop(w, i, "FAIRGV_MBARRIER");
    w.result(kPredicate, "me->result != 0");
  } else if (!i.has("sync")) {
    w.refuse("only the .sync form is supported");
  } else if (is_matrix_product(i)) {
    product(w, i);
  } else if (i.name == "ldmatrix" || i.name == "movmatrix") {
    matrix(w, i);
  } else {
    warp(w, i);
  }
}

void Steps::warp(Writer& w, const FlatInstruction& i) {
  const Argument& dest = w.argument(0);
  const bool pair = dest.kind == Argument::Kind::kPair;
  const Argument& value = pair ? dest.parts[0] : dest;
  std::string kind;
  std::size_t mask = i.arguments.size() - 1;
  if (i.name == "shfl") {
    kind = i.has("up") ? "UP" : i.has("down") ? "DOWN" : i.has("bfly") ? "BFLY" : "IDX";
    kind = "FAIRGV_SHFL_" + kind;
    w.line(fmt::format("me->value = {}; me->a = {}; me->b = {};", w.operand(1, kWord), w.operand(2, kWord),
                       w.operand(3, kWord)));
  } else if (i.name == "vote") {
    kind = i.has("all") ? "ALL" : i.has("any") ? "ANY" : i.has("uni") ? "UNI" : "BALLOT";
    kind = "FAIRGV_VOTE_" + kind;
    w.line(fmt::format("me->value = {};", w.condition(w.argument(1))));
  } else if (i.name == "match") {
    kind = i.has("all") ? "FAIRGV_MATCH_ALL" : "FAIRGV_MATCH_ANY";
    w.line(fmt::format("me->value = {};", w.operand(1, {ScalarType::Kind::kUnsigned, w.type().bits})));
  } else if (i.name == "redux") {
    const ScalarType type = w.type();
    const std::string sign = i.has("min") || i.has("max") ? (type.is_signed() ? "_S32" : "_U32") : "";
    std::string operation;
    for (const std::string_view known : {"add", "min", "max", "and", "or", "xor"}) {
      if (i.has(known)) operation = known;
    }
    if (!type.is_integer() || operation.empty()) return w.refuse("this reduction is not supported");
    for (char& c : operation) c = static_cast<char>(c - 'a' + 'A');
    kind = "FAIRGV_REDUX_" + operation + sign;
    w.line(fmt::format("me->value = {};", w.operand(1, kWord)));
  } else {
    kind = i.name == "elect" ? "FAIRGV_ELECT" : "FAIRGV_BAR_WARP";
    w.line("me->value = 0;");
  }
  w.line(fmt::format("me->mask = {};", w.operand(mask, kWord)));
  stop(w, i, kind);
  if (kind == "FAIRGV_BAR_WARP") return;
  if (i.name == "vote" && !i.has("ballot")) return w.assign(value, kPredicate, "me->flag != 0");
  w.assign(value, kWord, "(uint)me->result");
  if (pair) w.assign(dest.parts[1], kPredicate, "me->flag != 0");
}

// Two areas in turn: a lane fills the next one only when all lanes have used the last but one.
void Steps::product(Writer& w, const FlatInstruction& i) {
  w.line("me->area ^= 1;");
  give_matrices(w, i, fmt::format("C + {} + me->area * {}", matrix_offset_, kMatrixArea));
  w.line("me->value = 0; me->mask = 0xffffffffu;");
  stop(w, i, "FAIRGV_BAR_WARP");
  multiply_matrices(w, i,
                    fmt::format("G.contexts + (LT & ~31u) * {}ul + {} + me->area * {}", context_bytes_,
                                matrix_offset_, kMatrixArea),
                    context_bytes_);
}

void Steps::matrix(Writer& w, const FlatInstruction& i) {
  const Argument& dest = w.argument(0);
  if (!i.has("m8n8") || !i.has("b16")) return w.refuse("only matrices of 8 by 8 halves are supported");
  if (i.name == "movmatrix") {
    w.line(fmt::format("me->value = {}; me->mask = 0xffffffffu;", w.operand(1, kWord)));
    stop(w, i, "FAIRGV_MOVMATRIX");
    return w.result(kWord, "(uint)me->result");
  }
  const std::size_t count = dest.kind == Argument::Kind::kVector ? dest.parts.size() : 1;
  if (count > 4 || !i.has("x" + std::to_string(count))) return w.refuse("1, 2 or 4 matrices are expected");
  const auto space = i.has("shared") || i.has("shared::cta") ? Writer::Space::kShared : Writer::Space::kPlain;
  w.line(fmt::format("me->value = {}; me->a = {}; me->b = {}; me->mask = 0xffffffffu;",
                     w.plain_address(w.argument(1), space), count, i.has("trans") ? 1 : 0));
  stop(w, i, "FAIRGV_LDMATRIX");
  for (std::size_t n = 0; n < count; ++n) {
    w.assign(dest.kind == Argument::Kind::kVector ? dest.parts[n] : dest, kWord,
             fmt::format("(uint)(me->{} >> {})", n < 2 ? "value" : "result", 32 * (n % 2)));
  }
}

void Steps::barrier(Writer& w, const FlatInstruction& i) {
  if (i.has("cluster")) return w.refuse("clusters are not supported");
  const bool reduce = i.has("red");
  const std::size_t first = reduce ? 1 : 0;
  const std::size_t operands = i.arguments.size() - first - (reduce ? 1 : 0);
  if (operands < 1 || operands > 2) return w.refuse("a barrier and a count are expected");
  const std::string id = fmt::format("({} & 15)", w.operand(first, kWord));
  const std::string count = operands == 2 ? w.operand(first + 1, kWord) : "0";
  if (i.has("arrive")) {
    // Does not wait; waiting threads are checked when all threads have gone as far as they can.
    return w.line(fmt::format("FAIRGV_AT(fgv_u32, G.slot + 4 * {}) += 1;", id));
  }
  w.line(fmt::format("me->a = {}; me->b = {}; me->value = {};", id, count,
                     reduce ? w.condition(w.argument(i.arguments.size() - 1)) : "0"));
  stop(w, i,
       !reduce         ? "FAIRGV_BAR_SYNC"
       : i.has("popc") ? "FAIRGV_BAR_POPC"
       : i.has("and")  ? "FAIRGV_BAR_AND"
                       : "FAIRGV_BAR_OR");
  if (!reduce) return;
  if (i.has("popc")) return w.result(kWord, "(uint)me->result");
  w.result(kPredicate, "me->result != 0");
}

}  // namespace fairgv::softcuda
