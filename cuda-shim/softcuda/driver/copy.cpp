#include "cuda-shim/api/memory/copy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda-shim/api/memory/word.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/launch/short_work.hpp"
#include "cuda-shim/softcuda/driver/storage.hpp"

namespace fairgv::cuda::soft {
namespace {

/// Up to this size a copy from pageable memory is staged, and the call returns at once; NVIDIA's driver does
/// the same up to 64 KiB (CUDA Driver API, "API synchronization behavior").
constexpr std::size_t kStagedBytes = 64U << 10U;

/// The bytes of a pageable source, packed, so that the program may change them at once.
struct Staged {
  std::vector<std::byte> bytes;
  Place place;
};

std::shared_ptr<Staged> stage(const Place& from, const Extent& extent) {
  auto staged = std::make_shared<Staged>();
  staged->bytes.resize(bytes_of(extent));
  staged->place.address = reinterpret_cast<std::uint64_t>(staged->bytes.data());
  staged->place.pitch = extent.width;
  staged->place.slice = extent.width * extent.height;
  move_bytes(staged->place, from, extent);
  return staged;
}

/// An array is plain rows in memory.
Place touchable(const Place& place) {
  if (!place.array) return place;
  Place rows = place;
  rows.address = address_of(*place.array) + place.z * place.slice + place.y * place.pitch + place.x;
  return rows;
}

/// A word is read and written as one: other threads may be polling it, or writing it for a stream to see.
void move(const Place& to, const Place& from, const Extent& extent) {
  const std::size_t bytes = bytes_of(extent);
  const bool is_word = bytes == extent.width && (bytes == 4 || bytes == 8) && to.address % bytes == 0 &&
                       from.address % bytes == 0;
  if (!is_word) return move_bytes(to, from, extent);
  const auto width = static_cast<std::uint32_t>(bytes);
  wire::cuda::store_word(to.host(), width, wire::cuda::load_word(from.host(), width));
}

template <typename Element>
void fill_rows(const Fill& fill) {
  for (std::size_t y = 0; y < fill.rows; ++y) {
    auto* const row = reinterpret_cast<Element*>(fill.address + y * fill.pitch);
    std::fill_n(row, fill.count, static_cast<Element>(fill.value));
  }
}

void submit_sized(Engine& engine, const std::shared_ptr<cuda::Stream>& stream, std::size_t bytes, Work work) {
  if (bytes <= kShortBytes) {
    submit_short(engine, share(stream), std::move(work));
  } else {
    engine.operations.submit(own(stream), std::move(work));
  }
}

}  // namespace

CUresult Commands::copy(const std::shared_ptr<cuda::Stream>& stream, const Place& to_place,
                        const Place& from_place, const Extent& extent, bool async) {
  const Place to = touchable(to_place);
  const Place from = touchable(from_place);
  if (is_empty(extent)) return CUDA_SUCCESS;
  const std::size_t bytes = bytes_of(extent);
  const auto queue = [&](const Place& source, std::shared_ptr<Staged> staged) {
    submit_sized(engine_, stream, bytes, [to, source, extent, staged = std::move(staged)] {
      move(to, source, extent);
      return CUDA_SUCCESS;
    });
    return CUDA_SUCCESS;
  };
  const bool between_devices = to.side == Side::device && from.side == Side::device;
  const bool pageable = to.side == Side::pageable || from.side == Side::pageable;
  if (between_devices || (async && !pageable)) return queue(from, nullptr);
  if (async && to.side != Side::pageable && bytes <= kStagedBytes) {
    const auto staged = stage(from, extent);
    return queue(staged->place, staged);
  }
  return engine_.operations.run(own(stream), [&] {
    move(to, from, extent);
    return CUDA_SUCCESS;
  });
}

CUresult Commands::fill(const std::shared_ptr<cuda::Stream>& stream, const Fill& fill, const Allocation&) {
  submit_sized(engine_, stream, fill.rows * fill.count * fill.element, [fill] {
    switch (fill.element) {
      case 1:
        fill_rows<std::uint8_t>(fill);
        break;
      case 2:
        fill_rows<std::uint16_t>(fill);
        break;
      default:
        fill_rows<std::uint32_t>(fill);
    }
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::soft
