// Writes the image of a session (runtime/session/move/image.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/move/image.hpp"
#include "runtime/vgpu/backend/mapped_part.hpp"
#include "runtime/wire/codec.hpp"

namespace fairgv::vgpu {

/// Writes items to a file, which grows.
class ImageWriter {
 public:
  /// The file outlives it.
  explicit ImageWriter(int file) : file_(file) {}

  template <wire::Message Item>
  void put(const Item& item) {
    const std::size_t bytes = wire::encoded_size(item);
    wire::encode(item, room(Item::kind, bytes));
  }
  void put(session::ItemKind kind, std::span<const std::byte> bytes);

  /// The contents of an object: `fill` writes so many bytes to where they lie in the file.
  template <class Fill>
  Result<void> put_contents(std::uint64_t bytes, const Fill& fill) {
    FAIRGV_TRY(offset, leave_room_for_contents(bytes));
    auto mapped = MappedPart::map(file_, offset.value(), bytes);
    if (!mapped) return fail(mapped.error());
    return fill(mapped->bytes());
  }
  /// The same, filled by others: where they lie in the file.
  Result<std::uint64_t> leave_room_for_contents(std::uint64_t bytes);

  /// The bytes of the whole image. An Error if the file had no room.
  Result<std::uint64_t> finish();

 private:
  static constexpr std::size_t kFlushAt = std::size_t{1} << 20;

  std::byte* room(session::ItemKind kind, std::size_t bytes);
  void put_header(const session::ItemHeader& header);
  std::byte* grow(std::size_t bytes);
  Error fail(Error why);
  Result<void> flush();

  const int file_;
  std::uint64_t written_ = 0;           // bytes of the file that are complete
  std::vector<std::uint64_t> waiting_;  // items behind them
  std::size_t waiting_bytes_ = 0;
  std::optional<Error> failed_;
};

}  // namespace fairgv::vgpu
