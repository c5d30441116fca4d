#include "tests/fuzz/worker_limits.hpp"

#include <algorithm>
#include <string_view>

#include "runtime/vgpu/opencl/command_kind.hpp"
#include "tests/fuzz/worker_script.hpp"

namespace fairgv::fuzz {
namespace {

constexpr std::uint64_t kMostWorkItems = 1 << 14;
constexpr std::uint64_t kMostBytes = 1 << 24;
/// No driver tries to allocate more than this.
constexpr std::uint64_t kImpossible = std::uint64_t{1} << 44;

bool takes_much(std::uint64_t bytes) {
  return bytes > kMostBytes && bytes < kImpossible;
}

bool takes_much(const wire::ImageDescription& image) {
  constexpr std::uint64_t kLargestElement = 16;
  std::uint64_t bytes = kLargestElement;
  for (const std::uint64_t size : {image.width, image.height, image.depth, image.array_size}) {
    if (size > kImpossible) return false;
    if (__builtin_mul_overflow(bytes, std::max<std::uint64_t>(size, 1), &bytes)) return false;
  }
  return takes_much(bytes);
}

/// Compilers are slow, and not ours to test.
bool is_unknown(std::string_view text, std::span<const std::string_view> known) {
  return std::find(known.begin(), known.end(), text) == known.end();
}

/// Bytes that PoCL takes for a program of its own, for LLVM's, or for SPIR-V: code, and input for foreign
/// parsers.
bool may_be_code(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::ranges::any_of(std::initializer_list<std::string_view>{"pocl", "BC", "\x03\x02\x23\x07"},
                             [&](std::string_view magic) { return text.find(magic) != text.npos; });
}

bool beyond(const wire::CreateProgramWithSource& call) {
  return is_unknown(call.source, kPrograms);
}
bool beyond(const wire::CreateProgramWithBinary& call) {
  return may_be_code(call.binaries);
}
bool beyond(const wire::CreateProgramWithIl& call) {
  return may_be_code(call.il);
}
bool beyond(const wire::BuildProgram& call) {
  return is_unknown(call.options, kBuildOptions);
}
bool beyond(const wire::CompileProgram& call) {
  return is_unknown(call.options, kBuildOptions);
}
bool beyond(const wire::LinkProgram& call) {
  return is_unknown(call.options, kBuildOptions);
}
bool beyond(const wire::CreateBuffer& call) {
  return takes_much(call.bytes);
}
bool beyond(const wire::CreateImage& call) {
  return takes_much(call.description);
}
bool beyond(const wire::CreatePipe& call) {
  return takes_much(std::uint64_t{call.packet_bytes} * call.max_packets);
}
bool beyond(const wire::EnqueueKernel& call) {
  return vgpu::opencl::volume(call.global_size) > kMostWorkItems;
}
bool beyond(const wire::RecordKernel& call) {
  return beyond(call.command);
}
/// PoCL 3.1 keeps pointers from each of the two buffers to the other, without references: where a program
/// links a buffer to itself, or to two others, a later release aborts the process or reads freed memory.
bool beyond(const wire::CallExtension& call) {
  return call.function == "clSetContentSizeBufferPoCL" && std::ranges::count(call.scalars, 0U) == 0;
}

template <class Call>
bool is_beyond(wire::Opcode opcode, std::span<const std::byte> message) {
  if constexpr (requires(const Call& call) { beyond(call); }) {
    Call call;
    return opcode == Call::opcode && wire::decode(message, call) && beyond(call);
  } else {
    return false;
  }
}

template <class... Calls>
bool any_is_beyond(wire::Opcode opcode, std::span<const std::byte> message, wire::TypeList<Calls...>) {
  return (is_beyond<Calls>(opcode, message) || ...);
}

}  // namespace

bool beyond_limits(wire::Opcode opcode, std::span<const std::byte> message) {
  return any_is_beyond(opcode, message, wire::AllCalls{});
}

}  // namespace fairgv::fuzz
