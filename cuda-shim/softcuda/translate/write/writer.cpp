#include "cuda-shim/softcuda/translate/write/writer.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "cuda-shim/softcuda/translate/flow/pointers.hpp"
#include "slicing/ptx/printer.hpp"

namespace fairgv::softcuda {
namespace {

// Special registers (PTX ISA, "Special Registers"): their C expression. Registers for the machine's shape
// describe one multiprocessor.
struct Special {
  std::string_view name;
  std::string_view expression;
};
constexpr std::array<Special, 47> kSpecials = {{
    {"%tid.x", "TX"},
    {"%tid.y", "TY"},
    {"%tid.z", "TZ"},
    {"%ntid.x", "(uint)get_local_size(0)"},
    {"%ntid.y", "(uint)get_local_size(1)"},
    {"%ntid.z", "(uint)get_local_size(2)"},
    {"%ctaid.x", "BX"},
    {"%ctaid.y", "BY"},
    {"%ctaid.z", "BZ"},
    {"%nctaid.x", "NX"},
    {"%nctaid.y", "NY"},
    {"%nctaid.z", "NZ"},
    {"%laneid", "(LT & 31)"},
    {"%warpid", "(LT >> 5)"},
    {"%nwarpid", "32u"},
    {"%lanemask_eq", "(1u << (LT & 31))"},
    {"%lanemask_lt", "((1u << (LT & 31)) - 1)"},
    {"%lanemask_le", "((2u << (LT & 31)) - 1)"},
    {"%lanemask_gt", "(~((2u << (LT & 31)) - 1))"},
    {"%lanemask_ge", "(~((1u << (LT & 31)) - 1))"},
    {"%smid", "0u"},
    {"%nsmid", "1u"},
    {"%gridid", "FAIRGV_RUNTIME(R)->grid_id"},
    {"%clock", "(uint)fgv_clock(R)"},
    {"%clock_hi", "(uint)(fgv_clock(R) >> 32)"},
    {"%clock64", "fgv_clock(R)"},
    {"%globaltimer", "fgv_timer(R)"},
    {"%globaltimer_lo", "(uint)fgv_timer(R)"},
    {"%globaltimer_hi", "(uint)(fgv_timer(R) >> 32)"},
    {"%dynamic_smem_size", "(uint)FAIRGV_RUNTIME(R)->dynamic_shared_bytes"},
    {"%total_smem_size", "(uint)(SB + FAIRGV_RUNTIME(R)->dynamic_shared_bytes)"},
    {"%reserved_smem_offset_begin", "0u"},
    {"%reserved_smem_offset_end", "0u"},
    {"%reserved_smem_offset_cap", "0u"},
    {"%envreg1", "(uint)(fgv_grid_barrier(R) >> 32)"},
    {"%envreg2", "(uint)fgv_grid_barrier(R)"},
    {"%reserved_smem_offset_0", "0u"},
    {"%reserved_smem_offset_1", "0u"},
    {"WARP_SZ", "32u"},
    // Clusters are blocks of their own: one block per cluster.
    {"%is_explicit_cluster", "false"},
    {"%cluster_ctarank", "0u"},
    {"%cluster_nctarank", "1u"},
    {"%cluster_ctaid.x", "0u"},
    {"%cluster_nctaid.x", "1u"},
    {"%clusterid.x", "BX"},
    {"%nclusterid.x", "NX"},
    {"%current_graph_exec", "0ul"},
}};

std::string offset_text(std::int64_t offset) {
  if (offset == 0) return "";
  if (offset > 0) return fmt::format(" + {}", offset);
  return fmt::format(" - {}", 0 - static_cast<std::uint64_t>(offset));
}

}  // namespace

void Writer::refuse(const std::string& message) {
  if (failed_) return;
  failed_ = true;
  error_.line = current_->line;
  error_.instruction = current_->source != nullptr ? slicing::ptx::print(*current_->source) : "";
  error_.message = message;
}

const Argument& Writer::argument(std::size_t index) {
  static const Argument kNone;
  if (index < current_->arguments.size()) return current_->arguments[index];
  refuse("an operand is missing");
  return kNone;
}

std::string Writer::operand(std::size_t index, ScalarType type) {
  return value(argument(index), type);
}

ScalarType Writer::type(std::size_t back) {
  const auto& words = current_->words;
  if (back < words.size()) {
    if (const auto found = scalar_type(words[words.size() - 1 - back])) return *found;
  }
  refuse("this type is not supported");
  return {};
}

unsigned Writer::bits_of(const Argument& argument) const {
  if (argument.kind == Argument::Kind::kRegister)
    return kernel_.registers[static_cast<std::size_t>(argument.id)].bits;
  return argument.kind == Argument::Kind::kMemory ? 64 : 0;
}

std::string Writer::number(std::uint64_t bits, ScalarType type) {
  if (type.is_predicate()) return bits != 0 ? "true" : "false";
  if (type.bits < 64) bits &= (std::uint64_t{1} << type.bits) - 1;
  if (type.is_signed() && !type.packed) {
    return fmt::format("(({}){:#x}u{})", signed_name(type.bits), bits, type.bits == 64 ? "l" : "");
  }
  if (type.bits == 128) return fmt::format("(ulong2)({:#x}ul, 0)", bits);
  if (type.bits < 32) return fmt::format("(({}){:#x}u)", unsigned_name(type.bits), bits);
  return fmt::format("{:#x}u{}", bits, type.bits == 64 ? "l" : "");
}

std::string Writer::float_literal(const Argument& argument, ScalarType type) {
  std::uint64_t bits = argument.bits;
  if (argument.kind == Argument::Kind::kFloat && type.bits == 32 && !argument.single) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (argument.kind == Argument::Kind::kFloat && type.bits == 64 && argument.single) {
    bits = std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  }
  if (!type.is_native_float()) return number(bits, type);
  return type.bits == 32 ? fmt::format("as_float({:#x}u)", bits & 0xffffffff)
                         : fmt::format("as_double({:#x}ul)", bits);
}

std::string Writer::special(const Argument& argument) {
  for (const Special& each : kSpecials) {
    if (each.name == argument.text) return std::string(each.expression);
  }
  // Performance counters: nothing is counted.
  if (argument.text.starts_with("%pm")) return "0ul";
  refuse("the special register " + argument.text + " is not supported");
  return "0";
}

std::string Writer::condition(const Argument& argument) {
  if (argument.kind == Argument::Kind::kInteger) return argument.bits != 0 ? "true" : "false";
  if (bits_of(argument) != 1) refuse("a predicate is expected");
  return (argument.negated ? "!" : "") + name_of(argument);
}

std::string Writer::value(const Argument& argument, ScalarType type) {
  if (type.is_predicate()) return condition(argument);
  switch (argument.kind) {
    case Argument::Kind::kInteger:
    case Argument::Kind::kFloat:
      return float_literal(argument, type);
    case Argument::Kind::kMemory:
      return fmt::format("({})({})", unsigned_name(type.bits), variable_address(argument));
    case Argument::Kind::kSpecial:
      return fmt::format("({})({})", value_name(type), special(argument));
    case Argument::Kind::kRegister:
      break;
    default:
      refuse(argument.text.empty() ? "this operand is not supported" : "nothing is named " + argument.text);
      return "0";
  }
  const std::string name = name_of(argument);
  const unsigned bits = bits_of(argument);
  if (type.is_native_float()) {
    if (bits != type.bits) refuse("the register has another size");
    return fmt::format("as_{}({})", value_name(type), name);
  }
  if (bits == 128 || type.bits == 128) {
    if (bits != type.bits) refuse("the register has another size");
    return name;
  }
  if (bits == type.bits && (!type.is_signed() || type.packed)) return name;
  return fmt::format("({}){}", value_name(type), name);
}

void Writer::assign(const Argument& dest, ScalarType type, const std::string& expression) {
  if (dest.kind == Argument::Kind::kSink) return;
  if (dest.kind != Argument::Kind::kRegister) return refuse("the result must go to a register");
  const unsigned bits = bits_of(dest);
  const std::string name = name_of(dest);
  if ((bits == 1) != type.is_predicate()) return refuse("the register has another size");
  if (type.is_predicate() || bits == 128) {
    line(fmt::format("{} = {};", name, expression));
  } else if (type.is_native_float()) {
    if (bits != type.bits) return refuse("the register has another size");
    line(fmt::format("{} = as_{}({});", name, unsigned_name(bits), expression));
  } else if (type.is_signed() && !type.packed && bits > type.bits) {
    line(fmt::format("{} = ({})({})({})({});", name, unsigned_name(bits), signed_name(bits),
                     signed_name(type.bits), expression));
  } else if (bits >= type.bits) {
    line(fmt::format("{} = ({})({});", name, unsigned_name(type.bits), expression));
  } else {
    refuse("the register is too small");
  }
}

std::string Writer::variable_address(const Argument& argument) {
  const Memory& memory = kernel_.memories[static_cast<std::size_t>(argument.id)];
  const std::string offset = offset_text(argument.offset);
  switch (memory.space) {
    case Memory::Space::kGlobal:
    case Memory::Space::kConst:
      return fmt::format("D + {}ul{}", memory.offset, offset);
    case Memory::Space::kShared:
      return (memory.dynamic_shared ? std::string("SB") : fmt::format("{}u", memory.offset)) + offset;
    case Memory::Space::kKernelParam:
      return fmt::format("(ulong)&P + {}{}", memory.offset, offset);
    case Memory::Space::kLocal:
    case Memory::Space::kCallParam:
      if (memory.in_frame) return fmt::format("F + {}ul{}", memory.offset, offset);
      // A stepped thread's own memory lies in its scratch, because it must outlive a step.
      if (info_.stepped) return fmt::format("C + {}ul{}", memory.offset, offset);
      return fmt::format("(ulong)m{}{}", argument.id, offset);
  }
  return "0";
}

std::string Writer::plain_address(const Argument& address, Space space, std::int64_t byte_offset) {
  if (address.kind != Argument::Kind::kAddress || address.parts.size() != 1) {
    refuse("this form of an address is not supported");
    return "0";
  }
  const Argument& base = address.parts[0];
  std::string text;
  std::int64_t offset = byte_offset;
  if (base.kind == Argument::Kind::kMemory) {
    const Memory& memory = kernel_.memories[static_cast<std::size_t>(base.id)];
    text = (memory.space == Memory::Space::kShared ? "S + " : "") + variable_address(base);
  } else if (base.kind == Argument::Kind::kInteger) {
    text = (space == Space::kShared ? "S + " : "") + number(base.bits, {ScalarType::Kind::kUnsigned, 64});
  } else if (base.kind == Argument::Kind::kRegister && bits_of(base) >= 32 && bits_of(base) <= 64) {
    // A negative offset may take an address in a 32-bit register around: offsets belong to the register's
    // arithmetic.
    offset += base.offset;
    const std::string sum = name_of(base) + offset_text(offset);
    if (space == Space::kShared) return fmt::format("S + (uint)({})", sum);
    return sum;
  } else {
    refuse(base.text.empty() ? "this form of an address is not supported" : "nothing is named " + base.text);
    return "0";
  }
  return text + offset_text(offset);
}

std::string Writer::access(const Argument& address, Space space, const std::string& type,
                           std::int64_t byte_offset, std::string_view qualifier) {
  // The thread's own memory is named as a variable, so that the compiler can keep it in registers.
  if (address.kind == Argument::Kind::kAddress && address.parts.size() == 1 &&
      address.parts[0].kind == Argument::Kind::kMemory) {
    const Argument& base = address.parts[0];
    const Memory& memory = kernel_.memories[static_cast<std::size_t>(base.id)];
    const std::string offset = offset_text(base.offset + byte_offset);
    if (memory.space == Memory::Space::kKernelParam) {
      return fmt::format("*(__private {}*)((__private uchar*)&P + {}{})", type, memory.offset, offset);
    }
    if (!info_.stepped &&
        (memory.space == Memory::Space::kCallParam || memory.space == Memory::Space::kLocal)) {
      return fmt::format("*(__private {}*)((__private uchar*)m{}{})", type, base.id, offset);
    }
  }
  if (space == Space::kPlain && address.kind == Argument::Kind::kAddress && address.parts.size() == 1 &&
      has_pointer(address.parts[0])) {
    return fmt::format("*({}FAIRGV_AS {}*)(q{}{})", qualifier, type, address.parts[0].id,
                       offset_text(address.parts[0].offset + byte_offset));
  }
  const std::string plain = plain_address(address, space, byte_offset);
  return fmt::format("*({}FAIRGV_AS {}*)({})", qualifier, type, plain);
}

void Writer::follow_pointer(const FlatInstruction& i) {
  if (i.arguments.empty() || !has_pointer(i.arguments[0])) return;
  const std::string name = "q" + std::to_string(i.arguments[0].id);
  if (i.name == "add") {
    const std::size_t base = pointer_operand(i, pointers_);
    const std::string offset = value(i.arguments[3 - base], {ScalarType::Kind::kSigned, 64});
    return line(fmt::format("{} = q{} + {};", name, i.arguments[base].id, offset));
  }
  if (i.name == "mov" && has_pointer(i.arguments[1]))
    return line(fmt::format("{} = q{};", name, i.arguments[1].id));
  // A pointer begins here; the register has just been set.
  line(fmt::format("{} = (FAIRGV_AS uchar*){};", name, name_of(i.arguments[0])));
}

}  // namespace fairgv::softcuda
