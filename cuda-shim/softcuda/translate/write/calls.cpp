#include "cuda-shim/softcuda/translate/write/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cuda-shim/softcuda/translate/module_symbols.hpp"
#include "cuda-shim/softcuda/translate/runtime_block.hpp"

namespace fairgv::softcuda {
namespace {

const Call& call_of(const FlatKernel& kernel, const FlatInstruction& i) {
  return kernel.calls[static_cast<std::size_t>(i.call)];
}

const Frame& frame_at(const FlatKernel& kernel, int number) {
  return kernel.frames[static_cast<std::size_t>(number)];
}

std::uint64_t frame_bytes(const FlatKernel& kernel, int number) {
  return number < 0 ? 0 : frame_at(kernel, number).bytes;
}

// Whether the caller's function may run again, as another call, before this call has returned.
bool may_return_to_caller(const FlatKernel& kernel, const Call& call) {
  std::set<int> seen(call.targets.begin(), call.targets.end());
  std::vector<int> open(seen.begin(), seen.end());
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    for (const Call& each : kernel.calls) {
      if (each.caller != at) continue;
      for (const int next : each.targets) {
        if (seen.insert(next).second) open.push_back(next);
      }
    }
  }
  return seen.contains(call.caller);
}

unsigned bytes_of(const FlatKernel& kernel, int id) {
  return std::max(1U, kernel.registers[static_cast<std::size_t>(id)].bits / 8);
}

Argument register_argument(int id) {
  Argument argument;
  argument.kind = Argument::Kind::kRegister;
  argument.id = id;
  return argument;
}

// `each(register, place)` for the registers that a call saves. The largest come first, so that none is out of
// line.
template <class Each>
std::uint64_t for_saved(const FlatKernel& kernel, const Call& call, Each each) {
  std::uint64_t at = call.save_offset;
  for (const int id : call.saved) {
    each(id, at);
    at += bytes_of(kernel, id);
  }
  return at;
}

std::string saved_place(const FlatKernel& kernel, int id, std::uint64_t at) {
  return fmt::format("FAIRGV_AT(fgv_u{}, F + {})", bytes_of(kernel, id) * 8, at);
}

// Arguments and results are whole words in frames and in the thread's own memory.
void copy_words(Writer& w, const std::string& to, const std::string& from, std::uint64_t bytes) {
  const std::uint64_t words = (bytes + 7) / 8;
  constexpr std::uint64_t kUnrolled = 8;
  if (words > kUnrolled) {
    w.line(fmt::format(
        "for (uint i = 0; i < {}; ++i) FAIRGV_AT(fgv_u64, {} + 8 * i) = FAIRGV_AT(fgv_u64, {} + 8 * i);",
        words, to, from));
    return;
  }
  for (std::uint64_t n = 0; n < words; ++n)
    w.line(fmt::format("FAIRGV_AT(fgv_u64, {} + {}) = FAIRGV_AT(fgv_u64, {} + {});", to, 8 * n, from, 8 * n));
}

std::string address_of(Writer& w, const Call::Passed& passed) {
  Argument memory;
  memory.kind = Argument::Kind::kMemory;
  memory.id = passed.memory;
  return w.variable_address(memory);
}

std::string trap(TrapKind kind, const std::string& message, const std::string& leave) {
  return fmt::format("fgv_trap(R, {}, TX, TY, TZ, {}, 0, 0, 0); {}", static_cast<std::uint32_t>(kind),
                     message, leave);
}

void enter(Writer& w, const FlatInstruction& i, const std::string& leave) {
  const FlatKernel& kernel = w.kernel();
  const Call& call = call_of(kernel, i);
  const bool direct = w.argument(0).kind != Argument::Kind::kRegister;
  std::uint64_t needed = 0;
  for (const int target : call.targets) needed = std::max(needed, frame_bytes(kernel, target));
  w.line(fmt::format("{{ const ulong N = F + {};", frame_bytes(kernel, call.caller)));
  w.line(fmt::format("if (N + {} > K + G.stack_bytes) {{ {} }}", needed, trap(TrapKind::kStack, "0", leave)));
  for (const Call::Passed& each : call.arguments)
    copy_words(w, fmt::format("N + {}", each.offset), address_of(w, each), each.size);
  for_saved(kernel, call, [&](int id, std::uint64_t at) {
    w.line(fmt::format("{} = v{};", saved_place(kernel, id, at), id));
  });
  const std::string made = fmt::format("FAIRGV_AT(fgv_u32, N) = {}; F = N;", i.call);
  if (direct) {
    w.line(fmt::format("{} goto L{}; }}", made, frame_at(kernel, call.targets[0]).label));
    return;
  }
  w.line(fmt::format("switch ({}) {{", w.operand(0, {ScalarType::Kind::kUnsigned, 64})));
  for (const int target : call.targets) {
    const Frame& frame = frame_at(kernel, target);
    w.line(fmt::format("case {}ul: {} goto L{};", frame.pointer, made, frame.label));
  }
  for (const Call::Refused& each : call.refused) {
    w.line(fmt::format("case {}ul: {}", each.value,
                       trap(TrapKind::kRefused, fmt::format("D + {}ul", each.reason), leave)));
  }
  w.line(fmt::format("default: {} }} }}", trap(TrapKind::kNoFunction, "0", leave)));
}

void come_back(Writer& w, const FlatInstruction& i) {
  const FlatKernel& kernel = w.kernel();
  const Call& call = call_of(kernel, i);
  w.line(fmt::format("{{ const ulong N = F; F = N - {};", frame_bytes(kernel, call.caller)));
  for_saved(kernel, call, [&](int id, std::uint64_t at) {
    w.line(fmt::format("v{} = {};", id, saved_place(kernel, id, at)));
  });
  for (const Call::Passed& each : call.results)
    copy_words(w, address_of(w, each), fmt::format("N + {}", each.offset), each.size);
  w.line("}");
}

void end_function(Writer& w) {
  const FlatKernel& kernel = w.kernel();
  const auto& labels = kernel.targets[static_cast<std::size_t>(w.argument(0).id)];
  w.line("switch (FAIRGV_AT(fgv_u32, F)) {");
  for (std::size_t number = 0; number < kernel.calls.size(); ++number) {
    const int label = kernel.calls[number].return_label;
    if (std::find(labels.begin(), labels.end(), label) != labels.end())
      w.line(fmt::format("case {}: goto L{};", number, label));
  }
  w.line("default: __builtin_unreachable(); }");
}

}  // namespace

void lay_out_frames(FlatKernel& kernel, const Flow& flow) {
  std::vector<std::size_t> points;
  for (std::size_t n = 0; n < kernel.instructions.size(); ++n) {
    if (kernel.instructions[n].name == "call.return") points.push_back(n);
  }
  const auto live = flow.live_after(points);
  std::vector<std::uint64_t> sizes;
  for (Frame& frame : kernel.frames) sizes.push_back(frame.bytes = round_up(frame.bytes, 16));
  for (std::size_t p = 0; p < points.size(); ++p) {
    Call& call = kernel.calls[static_cast<std::size_t>(kernel.instructions[points[p]].call)];
    if (call.caller < 0 || !may_return_to_caller(kernel, call)) continue;
    Frame& frame = kernel.frames[static_cast<std::size_t>(call.caller)];
    for (const int id : live[p]) {
      if (id >= frame.first_register && id < frame.end_register) call.saved.push_back(id);
    }
    std::stable_sort(call.saved.begin(), call.saved.end(),
                     [&](int a, int b) { return bytes_of(kernel, a) > bytes_of(kernel, b); });
    // A frame has one call under way at a time: all of them save in one place.
    call.save_offset = sizes[static_cast<std::size_t>(call.caller)];
    const std::uint64_t end = for_saved(kernel, call, [](int, std::uint64_t) {});
    frame.bytes = std::max(frame.bytes, round_up(end, 16));
  }
  for (FlatInstruction& i : kernel.instructions) {
    if (i.name != "call.enter" && i.name != "call.return") continue;
    Argument saved;
    saved.kind = Argument::Kind::kVector;
    for (const int id : call_of(kernel, i).saved) saved.parts.push_back(register_argument(id));
    // Read by the call, behind its pointer; set behind it.
    i.arguments.insert(i.name == "call.return" ? i.arguments.begin() : i.arguments.end(), std::move(saved));
  }
}

bool write_call(Writer& w, const FlatInstruction& i, const std::string& leave) {
  if (i.name == "call.enter") {
    enter(w, i, leave);
  } else if (i.name == "call.return") {
    come_back(w, i);
  } else if (i.name == "call.leave") {
    end_function(w);
  } else {
    return false;
  }
  return true;
}

}  // namespace fairgv::softcuda
