// Reads fatbins: the containers in which nvcc keeps PTX and machine code, as files, as images in memory, and
// behind the wrapper that compiled programs register. Pure, safe to call from any thread. All input is
// hostile: every length and offset is checked against what there is, and nothing is believed twice.
//
// Layout, little-endian, as nvcc 13 writes it (seen in its output; fatbinary_section.h of the toolkit has the
// wrapper):
//   container  u32 magic 0xBA55ED50, u16 version 1, u16 header bytes (16), u64 bytes of all entries
//   entry      u16 kind (1 PTX, 2 machine code), u16 version, u32 header bytes, u64 payload bytes (padded),
//              u32 bytes of compressed payload, u32 options offset, u16 minor and u16 major of the payload's
//              format, u32 architecture (75 = sm_75), u32 name offset, u32 name bytes, u64 flags, u64
//              reserved, u64 bytes when decompressed; the payload follows the header, the next entry follows
//              the payload
//   flags      0x2000 LZ4 (one raw block), 0x8000 Zstandard (one frame), neither: stored
//
// A container may follow another one directly (linked programs): read_fatbin() takes all that are in its
// input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::fatbin {

inline constexpr std::uint32_t kFatbinMagic = 0xBA55ED50U;
inline constexpr std::uint32_t kFatbinWrapperMagic = 0x466243B1U;
inline constexpr std::size_t kFatbinHeaderBytes = 16;
/// No PTX of a program comes near it; a payload that claims more is refused before memory is taken for it.
inline constexpr std::uint64_t kLargestPayload = std::uint64_t{512} << 20U;

enum class FatbinKind : std::uint16_t { ptx = 1, machine_code = 2 };
enum class FatbinCompression { none, lz4, zstd, unknown };

/// A view into the container: valid as long as that is.
struct FatbinEntry {
  std::uint16_t kind = 0;  // FatbinKind, or something newer
  std::uint32_t architecture = 0;
  std::uint64_t flags = 0;
  FatbinCompression compression = FatbinCompression::none;
  std::uint64_t unpacked_bytes = 0;
  std::span<const std::byte> payload;  // as stored, without padding where the size says so
};

/// Bytes of the container that begins here, header included. Nothing: it is no container.
std::optional<std::uint64_t> fatbin_bytes(std::span<const std::byte> begin);

Result<std::vector<FatbinEntry>> read_fatbin(std::span<const std::byte> container);
/// The payload, decompressed.
Result<std::string> unpack(const FatbinEntry& entry);

struct FatbinPtx {
  std::optional<std::string> text;  // nothing: there is no PTX, only machine code
  std::uint32_t architecture = 0;
};
/// The text for a device of this compute capability (80 of 8.0; 0: unknown): that of the highest target which
/// is not above it. Where all are above, the lowest: whether it can be used is the driver's to say.
Result<FatbinPtx> ptx_of_fatbin(std::span<const std::byte> container, std::uint32_t capability);

}  // namespace fairgv::fatbin
