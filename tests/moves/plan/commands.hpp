// The commands of a plan, each as what its clEnqueue* call is given. Objects are named by the numbers that
// the plan gives them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "tests/moves/plan/opencl.hpp"

namespace fairgv::moves {

using Number = std::uint32_t;
inline constexpr Number kNone = UINT32_MAX;

using Triple = std::array<std::size_t, 3>;

/// Memory of the host that a command fills. It is new for each command, and holds kUntouched before.
struct Array {
  Number number = kNone;
  std::size_t bytes = 0;
};
inline constexpr std::uint8_t kUntouched = 0xA5;

/// Memory of the host that a command reads: random bytes by their seed.
struct Data {
  std::uint64_t seed = 0;
  std::size_t bytes = 0;
};

/// Pitches in bytes.
struct Layout {
  Triple origin{};
  std::size_t row = 0;
  std::size_t slice = 0;
};

struct Launch {
  Number kernel = kNone;
  cl_uint dimensions = 1;
  bool has_offset = false;
  bool has_local = false;  // else the driver chooses
  Triple offset{}, global{}, local{};
};

struct ReadBuffer {
  Number memory = kNone;
  std::size_t offset = 0;
  Array to;
};
struct WriteBuffer {
  Number memory = kNone;
  std::size_t offset = 0;
  Data from;
};
struct FillBuffer {
  Number memory = kNone;
  std::size_t offset = 0, bytes = 0;
  Data pattern;
};
struct CopyBuffer {
  Number from = kNone, to = kNone;
  std::size_t from_offset = 0, to_offset = 0, bytes = 0;
};
struct ReadRect {
  Number memory = kNone;
  Layout in_buffer, in_host;
  Triple region{};
  Array to;
};
struct WriteRect {
  Number memory = kNone;
  Layout in_buffer, in_host;
  Triple region{};
  Data from;
};
struct CopyRect {
  Number from = kNone, to = kNone;
  Layout in_from, in_to;
  Triple region{};
};

struct ReadImage {
  Number memory = kNone;
  Triple origin{}, region{};
  Array to;
};
struct WriteImage {
  Number memory = kNone;
  Triple origin{}, region{};
  Data from;
};
struct FillImage {
  Number memory = kNone;
  Triple origin{}, region{};
  std::array<cl_uint, 4> color{};
};
struct CopyImage {
  Number from = kNone, to = kNone;
  Triple from_origin{}, to_origin{}, region{};
};
struct CopyImageToBuffer {
  Number from = kNone, to = kNone;
  Triple origin{}, region{};
  std::size_t offset = 0;
};
struct CopyBufferToImage {
  Number from = kNone, to = kNone;
  std::size_t offset = 0;
  Triple origin{}, region{};
};

/// Of a buffer: `origin[0]` and `region[0]` in bytes.
struct Map {
  Number mapping = kNone, memory = kNone;
  cl_map_flags flags = 0;
  bool is_image = false;
  Triple origin{}, region{};
};
struct Unmap {
  Number mapping = kNone;
};
struct Migrate {
  Number memory = kNone;
  cl_mem_migration_flags flags = 0;
};

/// A mapping of shared virtual memory is `mapping`, as those of other memory.
struct SvmMap {
  Number mapping = kNone, svm = kNone;
  cl_map_flags flags = 0;
  std::size_t offset = 0, bytes = 0;
};
struct SvmUnmap {
  Number mapping = kNone;
};
struct SvmFill {
  Number svm = kNone;
  std::size_t offset = 0, bytes = 0;
  Data pattern;
};
struct SvmRead {
  Number svm = kNone;
  std::size_t offset = 0;
  Array to;
};
struct SvmWrite {
  Number svm = kNone;
  std::size_t offset = 0;
  Data from;
};
struct SvmFree {
  Number svm = kNone;
};

struct Marker {};
struct Barrier {};
struct Replay {
  Number recording = kNone;
};

using Action = std::variant<Launch, ReadBuffer, WriteBuffer, FillBuffer, CopyBuffer, ReadRect, WriteRect,
                            CopyRect, ReadImage, WriteImage, FillImage, CopyImage, CopyImageToBuffer,
                            CopyBufferToImage, Map, Unmap, Migrate, SvmMap, SvmUnmap, SvmFill, SvmRead,
                            SvmWrite, SvmFree, Marker, Barrier, Replay>;

}  // namespace fairgv::moves
