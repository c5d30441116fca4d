// Compiled kernels on disk, by content: source, options, device and driver versions lead to OpenCL's own
// binary.
//
// Folder: $FAIRGV_SOFTCUDA_CACHE, else $XDG_CACHE_HOME/fairgv/softcuda, else ~/.cache/fairgv/softcuda;
// FAIRGV_SOFTCUDA_CACHE=off turns it off. A file holds its whole key, so that two keys of one hash do no
// harm, and a checksum: what is damaged, cut short or of another version is not there, and is written anew.
// Files appear by rename, so readers never see half of one. Written only by the user (0600). Any thread of
// any process may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairgv::cuda::soft {

class KernelCache {
 public:
  static constexpr std::uint64_t kDefaultBound = std::uint64_t{256} << 20U;  // bytes

  /// Where the environment says. Nothing: the cache is off, or there is no home for it.
  static std::optional<KernelCache> of_environment();
  explicit KernelCache(std::filesystem::path folder, std::uint64_t bound = kDefaultBound)
      : folder_(std::move(folder)), bound_(bound) {}

  std::optional<std::vector<unsigned char>> read(std::string_view key) const;
  /// As far as it can: a cache that cannot be written is only slow. The oldest files go when the bound is
  /// passed.
  void write(std::string_view key, std::span<const unsigned char> binary) const;
  std::filesystem::path file_of(std::string_view key) const;

 private:
  void keep_within_bound() const;

  std::filesystem::path folder_;
  std::uint64_t bound_;
};

}  // namespace fairgv::cuda::soft
