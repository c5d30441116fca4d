// Physical memory (cuMemCreate) and its mappings: the driver keeps it until the last handle is released and
// the last mapping is gone, and so does the ledger.
//
// Any thread may call any method.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "cuda-shim/direct/memory/ledger.hpp"

namespace fairgv::cuda::direct {

class Mappings {
 public:
  explicit Mappings(Ledger& ledger) : ledger_(ledger) {}

  void retained(std::uint64_t handle);
  void released(std::uint64_t handle);
  void mapped(std::uint64_t handle, std::uint64_t address);
  /// All mappings in the range.
  void unmapped(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Uses {
    std::uint64_t handles = 1;  // as cuMemCreate gives one
    std::uint64_t mappings = 0;
  };
  void settle(std::uint64_t handle);

  Ledger& ledger_;
  std::mutex mutex_;                                   // guards all below
  std::unordered_map<std::uint64_t, Uses> uses_;       // of handles that have more than the first use, or had
  std::map<std::uint64_t, std::uint64_t> by_address_;  // the handle of each mapping
};

}  // namespace fairgv::cuda::direct
