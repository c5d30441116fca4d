#include "runtime/vgpu/move/image_writer.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace fairgv::vgpu {

void ImageWriter::put(session::ItemKind kind, std::span<const std::byte> bytes) {
  std::byte* const to = room(kind, bytes.size());
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

/// So many bytes behind a header, in memory.
std::byte* ImageWriter::room(session::ItemKind kind, std::size_t bytes) {
  if (waiting_bytes_ >= kFlushAt) (void)flush();
  put_header({kind, 0, bytes});
  return grow(session::padded(bytes));
}

void ImageWriter::put_header(const session::ItemHeader& header) {
  std::memcpy(grow(sizeof(header)), &header, sizeof(header));
}

std::byte* ImageWriter::grow(std::size_t bytes) {
  const std::size_t before = std::exchange(waiting_bytes_, waiting_bytes_ + bytes);
  waiting_.resize(waiting_bytes_ / sizeof(std::uint64_t));
  return reinterpret_cast<std::byte*>(waiting_.data()) + before;
}

Result<void> ImageWriter::flush() {
  const auto* const from = reinterpret_cast<const char*>(waiting_.data());
  for (std::size_t done = 0; done < waiting_bytes_ && !failed_;) {
    const ssize_t wrote = ::pwrite(file_, from + done, waiting_bytes_ - done, static_cast<off_t>(written_));
    if (wrote <= 0) {
      failed_ = system_error("the image has no room");
      break;
    }
    done += static_cast<std::size_t>(wrote);
    written_ += static_cast<std::uint64_t>(wrote);
  }
  waiting_.clear();
  waiting_bytes_ = 0;
  if (failed_) return *failed_;
  return {};
}

Error ImageWriter::fail(Error why) {
  failed_ = std::move(why);
  return *failed_;
}

Result<std::uint64_t> ImageWriter::leave_room_for_contents(std::uint64_t bytes) {
  if (failed_) return *failed_;
  put_header({session::ItemKind::contents, 0, bytes});
  FAIRGV_CHECK(flush());
  return std::exchange(written_, written_ + session::padded(bytes));
}

Result<std::uint64_t> ImageWriter::finish() {
  FAIRGV_CHECK(flush());
  // Behind the latest item there may be room that nobody has filled yet.
  if (::ftruncate(file_, static_cast<off_t>(written_)) != 0)
    return fail(system_error("the image has no room"));
  return written_;
}

}  // namespace fairgv::vgpu
