// The kind of a command: commands of one kind are expected to keep the device busy for the same time.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "sched/command_history.hpp"

namespace fairgv::vgpu {

/// Different numbers make different kinds, but for one chance in 2^64 (FNV-1a by words).
inline sched::CommandKind kind_from(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint64_t number : numbers) {
    hash = (hash ^ number) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace fairgv::vgpu
