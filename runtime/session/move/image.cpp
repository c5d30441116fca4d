#include "runtime/session/move/image.hpp"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/wire/calls.hpp"

namespace fairgv::session {
namespace {

constexpr std::uint64_t kLongestItem = std::uint64_t{1} << 31;  // contents apart

}  // namespace

Result<ImageReader> ImageReader::open(const UniqueFd& file, std::uint64_t bytes, std::uint64_t at) {
  const off_t there = ::lseek(file.get(), 0, SEEK_END);
  if (there < 0 || bytes == 0 || static_cast<std::uint64_t>(there) < at ||
      static_cast<std::uint64_t>(there) - at < bytes)
    return Error{"an image of " + std::to_string(bytes) + " bytes in a shorter file"};
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(at));
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

Result<ImageHead> read_head(ImageReader& image) {
  FAIRGV_TRY(first, image.next());
  if (first->kind != ItemKind::head) return bad_image("no head");
  FAIRGV_TRY(head, item_as<ImageHead>(first->bytes, "a head that is none"));
  if (head->version == kImageVersion && head->protocol == wire::kProtocolVersion) return head;
  const auto words = [](std::uint32_t version, std::uint32_t protocol) {
    return std::to_string(version) + "." + std::to_string(protocol);
  };
  return Error{"the image has version " + words(head->version, head->protocol) + ", and this FairGV reads " +
               words(kImageVersion, wire::kProtocolVersion)};
}

}  // namespace fairgv::session
