#include "cuda-shim/softcuda/translate/write/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cuda-shim/softcuda/translate/flow/flow.hpp"
#include "cuda-shim/softcuda/translate/flow/pointers.hpp"
#include "cuda-shim/softcuda/translate/runtime_block.hpp"
#include "cuda-shim/softcuda/translate/write/calls.hpp"
#include "cuda-shim/softcuda/translate/write/matrix.hpp"
#include "cuda-shim/softcuda/translate/write/mbarrier.hpp"
#include "cuda-shim/softcuda/translate/write/steps.hpp"
#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {
namespace {

constexpr std::uint64_t kMostLivenessBytes = std::uint64_t{1} << 29;

bool must_step(const FlatKernel& kernel, const Flow& flow, const KernelInfo& info) {
  if (!kernel.calls.empty() || info.cooperates) return true;
  bool barrier = false;
  for (const FlatInstruction& i : kernel.instructions) {
    if (i.is_label()) continue;
    if (is_block_barrier(i) || brings_warp_together(i)) {
      barrier = true;
    } else if (is_synchronisation(i) || i.name == "bar" || i.name == "barrier" || is_mbarrier(i)) {
      return true;
    }
    // Only scratch memory can be distinguished from other memory.
    if (i.name == "isspacep" && info.local_bytes > 0) return true;
  }
  return barrier && !flow.barriers_are_uniform();
}

class KernelWriter {
 public:
  KernelWriter(Flattened& flattened) : kernel_(flattened.kernel), info_(flattened.info) {}

  std::optional<FlattenError> write(std::string& source) {
    const Flow flow(kernel_);
    info_.stepped = must_step(kernel_, flow, info_);
    const bool can_count = flow.liveness_bytes() <= kMostLivenessBytes;
    if (can_count) info_.registers = std::max(1U, flow.most_registers());
    if (info_.stepped && !can_count) {
      return FlattenError{{0, info_.name, "the kernel is too large for its synchronisations"}};
    }
    if (!kernel_.calls.empty()) lay_out_frames(kernel_, flow);
    if (info_.stepped) steps_.emplace(kernel_, flow, info_);
    pointers_ = info_.stepped ? std::vector<bool>(kernel_.registers.size()) : find_pointers(kernel_);
    Writer writer(kernel_, info_, pointers_);
    for (const FlatInstruction& i : kernel_.instructions) {
      write_one(writer, i);
      if (writer.failed()) return FlattenError{writer.error(), target_with(i)};
    }
    source += heading();
    source += info_.stepped ? steps_->wrap(declarations() + steps_->entry_switch(), writer.take_text())
                            : direct(writer.take_text());
    source += "}\n\n";
    return std::nullopt;
  }

 private:
  // The function of an instruction, if it is only called through pointers.
  const slicing::ptx::Function* target_with(const FlatInstruction& i) const {
    const auto at = static_cast<std::size_t>(&i - kernel_.instructions.data());
    for (const Frame& frame : kernel_.frames) {
      if (at >= frame.begin && at < frame.end && !frame.called_directly) return frame.function;
    }
    return nullptr;
  }

  std::string heading() const {
    const std::size_t words = std::max<std::size_t>(1, (info_.parameter_bytes + 7) / 8);
    return fmt::format(
        "struct {0}_parameters {{ ulong w[{1}]; }};\n"
        "__kernel void {0}(struct {0}_parameters P, __local ulong* SH, ulong D, ulong R) {{\n"
        "  const ulong SB = {2};\n"
        "{3}",
        info_.function, words, info_.fixed_shared_bytes(),
        info_.cooperates
            ? ""
            : "  const ulong S = " + aligned_shared(info_, "(ulong)SH") +
                  ";\n"
                  "  const uint NX = (uint)get_num_groups(0), NY = (uint)get_num_groups(1), NZ = "
                  "(uint)get_num_groups(2);\n"
                  "  const uint BX = (uint)get_group_id(0), BY = (uint)get_group_id(1), BZ = "
                  "(uint)get_group_id(2);\n");
  }

  std::string direct(const std::string& body) const {
    return "  const uint TX = (uint)get_local_id(0), TY = (uint)get_local_id(1), TZ = "
           "(uint)get_local_id(2);\n"
           "  const uint LT = TX + (uint)get_local_size(0) * (TY + (uint)get_local_size(1) * TZ);\n" +
           declarations() + body + "  return;\n";
  }

  std::string declarations() const {
    std::map<unsigned, std::string> by_size;
    for (std::size_t id = 0; id < kernel_.registers.size(); ++id) {
      std::string& names = by_size[kernel_.registers[id].bits];
      names += fmt::format("{}v{}", names.empty() ? " " : ", ", id);
    }
    std::string text = "  uint CC = 0;\n";
    for (const auto& [bits, names] : by_size) text += "  " + unsigned_name(bits) + names + ";\n";
    if (info_.stepped) return text;
    for (std::size_t id = 0; id < pointers_.size(); ++id) {
      if (pointers_[id]) text += fmt::format("  FAIRGV_AS uchar* q{};\n", id);
    }
    for (std::size_t id = 0; id < kernel_.memories.size(); ++id) {
      const Memory& memory = kernel_.memories[id];
      if (memory.space != Memory::Space::kLocal && memory.space != Memory::Space::kCallParam) continue;
      text += fmt::format("  ulong m{}[{}] __attribute__((aligned({})));\n", id,
                          std::max<std::uint64_t>(1, (memory.size + 7) / 8),
                          std::max<std::uint64_t>(8, memory.alignment));
    }
    return text;
  }

  void write_one(Writer& w, const FlatInstruction& i) {
    w.begin(i);
    if (i.is_label()) return w.line(fmt::format("L{}:;", i.label));
    if (i.guard >= 0) w.line(fmt::format("if ({}v{}) {{", i.guard_negated ? "!" : "", i.guard));
    write_unguarded(w, i);
    if (i.guard >= 0) w.line("}");
  }

  void write_unguarded(Writer& w, const FlatInstruction& i) {
    if (is_matrix_transfer(i)) return write_matrix_transfer(w, i);
    if (control(w, i) || write_call(w, i, leave()) || synchronisation(w, i) || device_call(w, i) ||
        image(w, i))
      return;
    // Before a sum is written its operands are unchanged.
    if (i.name == "add") w.follow_pointer(i);
    const bool done = write_move(w, i) || write_memory(w, i) || write_integer(w, i) || write_bits(w, i) ||
                      write_float(w, i) || write_compare(w, i) || write_convert(w, i) || write_atomic(w, i) ||
                      write_half(w, i);
    if (!done) return w.refuse("this instruction is not supported");
    if (i.name != "add") w.follow_pointer(i);
  }

  std::string leave() const { return info_.stepped ? "{ me->state = FAIRGV_DONE; goto next; }" : "return;"; }

  bool control(Writer& w, const FlatInstruction& i) {
    if (i.name == "bra") {
      const Argument& to = w.argument(0);
      if (to.kind != Argument::Kind::kLabel) return w.refuse("a label is expected"), true;
      w.line(fmt::format("goto L{};", to.id));
    } else if (i.name == "brx") {
      branch_by_index(w);
    } else if (i.name == "ret" || i.name == "exit") {
      w.line(leave());
    } else if (i.name == "trap" || i.name == "brkpt") {
      w.line("fgv_trap(R, 1, TX, TY, TZ, 0, 0, 0, 0);");
      w.line(leave());
    } else {
      return false;
    }
    return true;
  }

  void branch_by_index(Writer& w) {
    const Argument& table = w.argument(1);
    if (table.kind != Argument::Kind::kTargets) return w.refuse("a list of .branchtargets is expected");
    const auto& labels = kernel_.targets[static_cast<std::size_t>(table.id)];
    w.line(fmt::format("switch ({}) {{", w.operand(0, {ScalarType::Kind::kUnsigned, 32})));
    for (std::size_t n = 0; n + 1 < labels.size(); ++n)
      w.line(fmt::format("case {}: goto L{};", n, labels[n]));
    if (labels.empty()) return w.refuse("the list of branch targets is empty");
    w.line(fmt::format("default: goto L{};\n  }}", labels.back()));
  }

  bool synchronisation(Writer& w, const FlatInstruction& i) {
    if (i.name == "bar" || i.name == "barrier") {
      info_.uses_barrier = info_.uses_barrier || !steps_ || !i.has("warp");
      info_.uses_warp = info_.uses_warp || i.has("warp");
    } else if (is_mbarrier(i)) {
      info_.uses_barrier = true;
      if (!is_synchronisation(i)) return write_mbarrier(w, i), true;
    } else if (is_synchronisation(i)) {
      info_.uses_barrier = info_.uses_barrier || !steps_;
      info_.uses_warp = true;
    } else {
      return false;
    }
    if (steps_) {
      steps_->write(w, i);
    } else {
      w.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
    }
    return true;
  }

  // The value that the caller put into an argument of a device function.
  std::string passed(Writer& w, std::size_t index, unsigned bits) {
    Argument address;
    address.kind = Argument::Kind::kAddress;
    address.parts.push_back(w.argument(index));
    return w.access(address, Writer::Space::kParam, memory_name({ScalarType::Kind::kBits, bits}));
  }

  // malloc, free and malloc with an alignment.
  bool heap_call(Writer& w, const FlatInstruction& i) {
    if (i.name == "call.malloc" || i.name == "call.__cuda_syscall_aligned_malloc") {
      const std::string alignment = i.name == "call.malloc" ? "16" : passed(w, 2, 64);
      w.line(fmt::format("{} = fgv_malloc(R, {}, {});", passed(w, 0, 64), passed(w, 1, 64), alignment));
    } else if (i.name == "call.free") {
      w.line(fmt::format("if (!fgv_free(R, {})) {{ fgv_trap(R, {}, TX, TY, TZ, 0, 0, 0, 0); {} }}",
                         passed(w, i.arguments.size() - 1, 64),
                         static_cast<std::uint32_t>(TrapKind::kNotAllocated), leave()));
    } else {
      return false;
    }
    info_.uses_heap = true;
    return true;
  }

  bool device_call(Writer& w, const FlatInstruction& i) {
    if (heap_call(w, i)) return true;
    if (i.name == "call.vprintf") {
      w.line(
          fmt::format("{} = fgv_vprintf(R, {}, {});", passed(w, 0, 32), passed(w, 1, 64), passed(w, 2, 64)));
    } else if (i.name == "call.__assertfail") {
      const std::size_t first = i.arguments.size() - 5;
      w.line(fmt::format("fgv_trap(R, 2, TX, TY, TZ, {}, {}, {}, {});", passed(w, first, 64),
                         passed(w, first + 1, 64), passed(w, first + 3, 64), passed(w, first + 2, 32)));
      w.line(leave());
    } else {
      return false;
    }
    return true;
  }

  bool image(Writer& w, const FlatInstruction& i) {
    if (!is_image_instruction(i)) return false;
    info_.uses_images = true;
    write_image(w, i, leave());
    return true;
  }

  FlatKernel& kernel_;
  KernelInfo& info_;
  std::optional<Steps> steps_;
  std::vector<bool> pointers_;
};

}  // namespace

std::optional<FlattenError> write_kernel(Flattened& flattened, std::string& source) {
  return KernelWriter(flattened).write(source);
}

}  // namespace fairgv::softcuda
