#include "runtime/vgpu/move/image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace fairgv::vgpu {
namespace {

constexpr std::uint64_t kLongestItem = std::uint64_t{1} << 31;  // contents apart

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + 7) & ~std::uint64_t{7};
}

}  // namespace

void ImageWriter::put(ItemKind kind, std::span<const std::byte> bytes) {
  std::byte* const to = room(kind, bytes.size());
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

/// So many bytes behind a header, in memory.
std::byte* ImageWriter::room(ItemKind kind, std::size_t bytes) {
  if (waiting_bytes_ >= kFlushAt) (void)flush();
  put_header({kind, 0, bytes});
  return grow(padded(bytes));
}

void ImageWriter::put_header(const ItemHeader& header) {
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
  put_header({ItemKind::contents, 0, bytes});
  FAIRGV_CHECK(flush());
  return std::exchange(written_, written_ + padded(bytes));
}

Result<std::uint64_t> ImageWriter::finish() {
  FAIRGV_CHECK(flush());
  // Behind the latest item there may be room that nobody has filled yet.
  if (::ftruncate(file_, static_cast<off_t>(written_)) != 0)
    return fail(system_error("the image has no room"));
  return written_;
}

Result<ImageReader> ImageReader::open(const UniqueFd& file, std::uint64_t bytes) {
  const off_t there = ::lseek(file.get(), 0, SEEK_END);
  if (there < 0 || bytes == 0 || static_cast<std::uint64_t>(there) < bytes)
    return Error{"an image of " + std::to_string(bytes) + " bytes in a shorter file"};
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return system_error("cannot map the image");
  return ImageReader(static_cast<const std::byte*>(memory), bytes);
}

ImageReader::ImageReader(ImageReader&& other) noexcept
    : image_(std::exchange(other.image_, nullptr)),
      bytes_(other.bytes_),
      at_(other.at_),
      copy_(std::move(other.copy_)) {}

ImageReader::~ImageReader() {
  if (image_ != nullptr) ::munmap(const_cast<std::byte*>(image_), bytes_);
}

Result<ImageReader::Item> ImageReader::next() {
  ItemHeader header;
  if (bytes_ - at_ < sizeof(header)) return Error{"an image without an end"};
  std::memcpy(&header, image_ + at_, sizeof(header));
  at_ += sizeof(header);
  if (header.bytes > bytes_ - at_) return Error{"an image with an item that is longer than the image"};
  const std::span<const std::byte> there(image_ + at_, static_cast<std::size_t>(header.bytes));
  at_ += std::min(padded(header.bytes), bytes_ - at_);
  if (header.kind == ItemKind::contents) return Item{header.kind, there};
  if (header.bytes > kLongestItem) return Error{"an image with an item that is too long"};
  copy_.resize(padded(header.bytes) / sizeof(std::uint64_t));
  if (!there.empty()) std::memcpy(copy_.data(), there.data(), there.size());
  return Item{header.kind, {reinterpret_cast<const std::byte*>(copy_.data()), there.size()}};
}

}  // namespace fairgv::vgpu
