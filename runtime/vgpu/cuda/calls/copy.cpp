// Copies, fills, writes of words.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "runtime/vgpu/cuda/handlers.hpp"
#include "runtime/vgpu/graph/command_kind.hpp"

namespace fairgv::vgpu::cuda {
namespace {

using wire::cuda::Place;
using wire::cuda::Space;

constexpr const char* kTooLarge = "a box that does not fit 64 bits";

bool is_linear(const Place& place, const wire::Extent3& extent) {
  return place.space != Space::array && extent.y == 1 && extent.z == 1;
}

std::optional<std::uint64_t> sum_of_products(
    std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> terms) {
  std::uint64_t sum = 0;
  for (const auto& [a, b] : terms) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

/// Bytes from the begin of rows and slices to the first that is copied, and behind the last.
std::optional<std::uint64_t> first_byte(const Place& place) {
  std::uint64_t slice = 0;
  if (__builtin_mul_overflow(place.pitch, place.rows, &slice)) return std::nullopt;
  return sum_of_products({{place.z, slice}, {place.y, place.pitch}, {place.x, 1}});
}

std::optional<std::uint64_t> span_of(const Place& place, const wire::Extent3& extent) {
  if (extent.x == 0 || extent.y == 0 || extent.z == 0) return 0;
  std::uint64_t slice = 0;
  if (__builtin_mul_overflow(place.pitch, place.rows, &slice)) return std::nullopt;
  return sum_of_products({{extent.z - 1, slice}, {extent.y - 1, place.pitch}, {extent.x, 1}});
}

/// One side of the driver's description of a copy.
struct Side {
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  std::byte* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
};

}  // namespace

Result<std::byte*> Handlers::arena(std::uint64_t offset, std::uint64_t bytes) const {
  const auto arena = segment_.arena();
  if (offset > arena.size() || bytes > arena.size() - offset) {
    return Error{fmt::format("{} bytes at {} do not lie in the arena of {}", bytes, offset, arena.size())};
  }
  return arena.data() + offset;
}

template <class Send>
Result<void> Handlers::enqueue_transfer(const wire::Command& command, std::uint64_t number,
                                        std::uint64_t bytes, Send send,
                                        std::vector<std::shared_ptr<const Object>> keeps) {
  FAIRGV_TRY(found, stream(command.queue));
  const sched::CommandKind kind = kind_from({number, static_cast<std::uint64_t>(std::bit_width(bytes))});
  auto transfer = std::make_shared<Transfer<Send>>(found.value(), kind, bytes, late_errors_, std::move(send),
                                                   std::move(keeps));
  return enqueue(*found.value(), transfer, command);
}

Result<void> Handlers::handle(const wire::cuda::Copy& call) {
  std::vector<std::shared_ptr<const Object>> keeps;
  const auto side_of = [&](const Place& place) -> Result<Side> {
    Side side;
    if (place.space == Space::device) {
      side.device = place.address;
      return side;
    }
    if (place.space == Space::array) {
      FAIRGV_TRY(array, objects_.get<Array>(wire::ObjectId{place.address}));
      keeps.push_back(array.value());
      side.type = CU_MEMORYTYPE_ARRAY;
      side.array = array.value()->handle;
      return side;
    }
    if (place.space != Space::arena) return Error{"a place that is neither device, arena nor array"};
    const auto first = first_byte(place);
    const auto span = span_of(place, call.extent);
    std::uint64_t bytes = 0;
    if (!first || !span || __builtin_add_overflow(*first, *span, &bytes)) return Error{kTooLarge};
    FAIRGV_TRY(host, arena(place.address, bytes));
    side.type = CU_MEMORYTYPE_HOST;
    side.host = host.value();
    return side;
  };
  FAIRGV_TRY(from, side_of(call.from));
  FAIRGV_TRY(to, side_of(call.to));
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(call.extent.x, call.extent.y, &bytes) ||
      __builtin_mul_overflow(bytes, call.extent.z, &bytes)) {
    return Error{kTooLarge};
  }
  const std::uint64_t number = kind_from({wire::cuda::Copy::opcode, static_cast<std::uint64_t>(from->type),
                                          static_cast<std::uint64_t>(to->type)});

  const bool linear = is_linear(call.from, call.extent) && is_linear(call.to, call.extent);
  const auto from_first = first_byte(call.from);
  const auto to_first = first_byte(call.to);
  const bool both_host = from->host != nullptr && to->host != nullptr;
  if (linear && from_first && to_first && !both_host) {
    const auto send = [source = from.value(), target = to.value(), from_first = *from_first,
                       to_first = *to_first, bytes](const Functions& driver, CUstream stream) {
      if (source.host != nullptr) {
        return driver.cuMemcpyHtoDAsync(target.device + to_first, source.host + from_first, bytes, stream);
      }
      if (target.host != nullptr) {
        return driver.cuMemcpyDtoHAsync(target.host + to_first, source.device + from_first, bytes, stream);
      }
      return driver.cuMemcpyDtoDAsync(target.device + to_first, source.device + from_first, bytes, stream);
    };
    return enqueue_transfer(call.command, number, bytes, send, std::move(keeps));
  }

  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = from->type;
  copy.srcHost = from->host;
  copy.srcDevice = from->device;
  copy.srcArray = from->array;
  copy.srcPitch = call.from.pitch;
  copy.srcHeight = call.from.rows;
  copy.srcXInBytes = call.from.x;
  copy.srcY = call.from.y;
  copy.srcZ = call.from.z;
  copy.dstMemoryType = to->type;
  copy.dstHost = to->host;
  copy.dstDevice = to->device;
  copy.dstArray = to->array;
  copy.dstPitch = call.to.pitch;
  copy.dstHeight = call.to.rows;
  copy.dstXInBytes = call.to.x;
  copy.dstY = call.to.y;
  copy.dstZ = call.to.z;
  copy.WidthInBytes = call.extent.x;
  copy.Height = call.extent.y;
  copy.Depth = call.extent.z;
  const auto send = [copy](const Functions& driver, CUstream stream) {
    return driver.cuMemcpy3DAsync(&copy, stream);
  };
  return enqueue_transfer(call.command, number, bytes, send, std::move(keeps));
}

Result<void> Handlers::handle(const wire::cuda::Fill& call) {
  if (call.element_bytes != 1 && call.element_bytes != 2 && call.element_bytes != 4) {
    return Error{fmt::format("a fill with elements of {} bytes", call.element_bytes)};
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(call.width, call.rows, &bytes) ||
      __builtin_mul_overflow(bytes, call.element_bytes, &bytes)) {
    return Error{kTooLarge};
  }
  const auto send = [address = call.address, pitch = call.pitch, width = call.width, rows = call.rows,
                     element = call.element_bytes,
                     value = call.value](const Functions& driver, CUstream stream) {
    switch (element) {
      case 1:
        return driver.cuMemsetD2D8Async(address, pitch, static_cast<unsigned char>(value), width, rows,
                                        stream);
      case 2:
        return driver.cuMemsetD2D16Async(address, pitch, static_cast<unsigned short>(value), width, rows,
                                         stream);
      default:
        return driver.cuMemsetD2D32Async(address, pitch, value, width, rows, stream);
    }
  };
  return enqueue_transfer(call.command, wire::cuda::Fill::opcode, bytes, send, {});
}

Result<void> Handlers::handle(const wire::cuda::WriteWord& call) {
  if (call.bytes != 4 && call.bytes != 8) return Error{fmt::format("a word of {} bytes", call.bytes)};
  const auto send = [address = call.address, value = call.value, is_long = call.bytes == 8](
                        const Functions& driver, CUstream stream) {
    if (driver.cuStreamWriteValue32 == nullptr || driver.cuStreamWriteValue64 == nullptr)
      return CUDA_ERROR_NOT_SUPPORTED;
    return is_long ? driver.cuStreamWriteValue64(stream, address, value, 0)
                   : driver.cuStreamWriteValue32(stream, address, static_cast<cuuint32_t>(value), 0);
  };
  return enqueue_transfer(call.command, wire::cuda::WriteWord::opcode, call.bytes, send, {});
}

}  // namespace fairgv::vgpu::cuda
