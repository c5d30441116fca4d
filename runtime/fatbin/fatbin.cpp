#include "runtime/fatbin/fatbin.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairgv::fatbin {
namespace {

constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::size_t kEntryHeaderBytes = 64;  // the part that is always there
constexpr std::uint64_t kLz4BestRatio = 255;   // LZ4's block format cannot do better

/// The caller has checked that it lies inside.
template <typename Value>
Value at(std::span<const std::byte> bytes, std::size_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Error malformed(const std::string& what) {
  return Error{"the fatbin is damaged: " + what};
}

FatbinCompression compression_of(std::uint64_t flags) {
  const bool lz4 = (flags & kFlagLz4) != 0;
  const bool zstd = (flags & kFlagZstd) != 0;
  if (lz4 && zstd) return FatbinCompression::unknown;
  if (lz4) return FatbinCompression::lz4;
  return zstd ? FatbinCompression::zstd : FatbinCompression::none;
}

/// The entry at the beginning of what is left, which moves behind it.
Result<FatbinEntry> next_entry(std::span<const std::byte>& left) {
  if (left.size() < kEntryHeaderBytes) return malformed("an entry's header is cut short");
  const std::uint64_t header_bytes = at<std::uint32_t>(left, 4);
  const auto padded_bytes = at<std::uint64_t>(left, 8);
  const std::uint64_t packed_bytes = at<std::uint32_t>(left, 16);
  if (header_bytes < kEntryHeaderBytes || header_bytes > left.size())
    return malformed("an entry's header size");
  if (padded_bytes > left.size() - header_bytes) return malformed("an entry is longer than its container");
  FatbinEntry entry;
  entry.kind = at<std::uint16_t>(left, 0);
  entry.architecture = at<std::uint32_t>(left, 28);
  entry.flags = at<std::uint64_t>(left, 40);
  entry.compression = compression_of(entry.flags);
  entry.payload = left.subspan(header_bytes, padded_bytes);
  entry.unpacked_bytes = padded_bytes;
  if (entry.compression != FatbinCompression::none) {
    if (packed_bytes > padded_bytes) return malformed("an entry's compressed size");
    entry.payload = entry.payload.first(packed_bytes);
    entry.unpacked_bytes = at<std::uint64_t>(left, 56);
  }
  left = left.subspan(header_bytes + padded_bytes);
  return entry;
}

Result<std::string> unpack_lz4(const FatbinEntry& entry) {
  if (entry.unpacked_bytes > (entry.payload.size() + 1) * kLz4BestRatio) {
    return malformed("an LZ4 payload claims more than it can hold");
  }
  std::string text(entry.unpacked_bytes, '\0');
  const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload.data()), text.data(),
                                       static_cast<int>(entry.payload.size()), static_cast<int>(text.size()));
  if (size < 0 || static_cast<std::uint64_t>(size) != entry.unpacked_bytes)
    return malformed("an LZ4 payload");
  return text;
}

Result<std::string> unpack_zstd(const FatbinEntry& entry) {
  // The frame's own statement is compared first, so that a small lie takes no large memory.
  const unsigned long long stated = ZSTD_getFrameContentSize(entry.payload.data(), entry.payload.size());
  if (stated != entry.unpacked_bytes && stated != ZSTD_CONTENTSIZE_UNKNOWN) {
    return malformed("a Zstandard payload's size");
  }
  std::string text(entry.unpacked_bytes, '\0');
  const std::size_t size =
      ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
  if (ZSTD_isError(size) != 0U || size != entry.unpacked_bytes) return malformed("a Zstandard payload");
  return text;
}

}  // namespace

std::optional<std::uint64_t> fatbin_bytes(std::span<const std::byte> begin) {
  if (begin.size() < kFatbinHeaderBytes || at<std::uint32_t>(begin, 0) != kFatbinMagic ||
      at<std::uint16_t>(begin, 6) < kFatbinHeaderBytes) {
    return std::nullopt;
  }
  const std::uint64_t header = at<std::uint16_t>(begin, 6);
  const auto entries = at<std::uint64_t>(begin, 8);
  if (entries > UINT64_MAX - header) return std::nullopt;
  return header + entries;
}

Result<std::vector<FatbinEntry>> read_fatbin(std::span<const std::byte> container) {
  std::vector<FatbinEntry> entries;
  while (!container.empty()) {
    const auto bytes = fatbin_bytes(container);
    if (!bytes) {
      // Behind the last container there may be padding, and nothing else.
      const bool padding =
          std::all_of(container.begin(), container.end(), [](std::byte b) { return b == std::byte{0}; });
      if (padding && !entries.empty()) break;
      return malformed("no container begins where one should");
    }
    if (*bytes > container.size()) return malformed("it is cut short");
    const std::size_t header = at<std::uint16_t>(container, 6);
    auto left = container.subspan(header, *bytes - header);
    while (!left.empty()) {
      FAIRGV_TRY(entry, next_entry(left));
      entries.push_back(entry.value());
    }
    container = container.subspan(*bytes);
  }
  return entries;
}

Result<std::string> unpack(const FatbinEntry& entry) {
  if (entry.unpacked_bytes > kLargestPayload || entry.payload.size() > kLargestPayload) {
    return malformed("a payload of " + std::to_string(entry.unpacked_bytes) + " bytes");
  }
  switch (entry.compression) {
    case FatbinCompression::none:
      return std::string(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
    case FatbinCompression::lz4:
      return unpack_lz4(entry);
    case FatbinCompression::zstd:
      return unpack_zstd(entry);
    case FatbinCompression::unknown:
      break;
  }
  return malformed("a payload compressed in an unknown way");
}

Result<FatbinPtx> ptx_of_fatbin(std::span<const std::byte> container, std::uint32_t capability) {
  FAIRGV_TRY(entries, read_fatbin(container));
  const auto is_better = [capability](const FatbinEntry& entry, const FatbinEntry& than) {
    const auto fits = [capability](const FatbinEntry& each) {
      return capability == 0 || each.architecture <= capability;
    };
    if (fits(entry) != fits(than)) return fits(entry);
    return fits(entry) ? entry.architecture > than.architecture : entry.architecture < than.architecture;
  };
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry& entry : entries.value()) {
    if (entry.kind != static_cast<std::uint16_t>(FatbinKind::ptx)) continue;
    if (best == nullptr || is_better(entry, *best)) best = &entry;
  }
  if (best == nullptr) return FatbinPtx{};
  FAIRGV_TRY(text, unpack(*best));
  FatbinPtx ptx;
  ptx.text = std::move(text).value();
  // Stored PTX is padded with zeros.
  ptx.text->resize(std::min(ptx.text->size(), ptx.text->find('\0')));
  ptx.architecture = best->architecture;
  return ptx;
}

}  // namespace fairgv::fatbin
