// The facts about a checkpoint that decide whether a session can be restored from it, and about a session
// that it could be restored to.
//
// Pure logic. A file's facts are whatever its writer wants: they are checked as text and compared, and
// believed in nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::control {

struct CheckpointFacts {
  std::string fairgv;          // its version
  std::uint32_t protocol = 0;  // of the session's calls
  std::string api;
  std::string program;
  std::vector<std::string> devices;  // that the worker sees, in its order: name and platform
  std::uint64_t hidden = 0;          // of them, a bit each, those that are hidden from the program
  /// How far the program and its worker have come: slots produced and consumed of the rings of requests,
  /// responses and notices.
  std::array<std::uint64_t, 6> place{};
  /// The layout of the memory that both share: bytes of the three rings, completion slots, bytes of the
  /// arena.
  std::array<std::uint64_t, 5> layout{};
  std::uint64_t image_bytes = 0;          // what the worker has written
  std::uint64_t contents_bytes = 0;       // completion slots and arena
  std::uint64_t file_bytes = 0;           // of the file, whose end may be a hole of the contents
  std::vector<std::uint64_t> holdings{};  // bytes of device memory, by the program's devices
  std::uint32_t session = 0;
  std::string tenant{};
  std::int64_t made_s = 0;  // seconds since 1970

  bool operator==(const CheckpointFacts&) const = default;
};

nlohmann::json to_json(const CheckpointFacts& facts);
Result<CheckpointFacts> checkpoint_facts_from(nlohmann::json object);

/// Why the session cannot be restored from the file, as one line; empty: it can.
std::string why_not(const CheckpointFacts& file, const CheckpointFacts& session);

}  // namespace fairgv::control
