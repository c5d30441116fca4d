// Compiled kernels on disk. The key is source, options, device and driver versions; the value is OpenCL's own
// binary.
//
// Folder: $FAIRGV_SOFTCUDA_CACHE, else $XDG_CACHE_HOME/fairgv/softcuda, else ~/.cache/fairgv/softcuda;
// FAIRGV_SOFTCUDA_CACHE=off turns it off. A file holds a checksum and its whole key, so that two keys with
// the same hash do no harm. A file that is damaged, cut short or of another version is ignored and written
// anew. Files appear by rename, so readers never see half of one. Written only by the user (0600). Any thread
// of any process may call.
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

  /// The cache in the folder that the environment names. Nothing: the cache is off, or there is no home
  /// folder.
  static std::optional<KernelCache> of_environment();
  explicit KernelCache(std::filesystem::path folder, std::uint64_t bound = kDefaultBound)
      : folder_(std::move(folder)), bound_(bound) {}

  std::optional<std::vector<unsigned char>> read(std::string_view key) const;
  /// Best effort: a cache that cannot be written is only slow. The oldest files are deleted when the bound is
  /// passed.
  void write(std::string_view key, std::span<const unsigned char> binary) const;
  std::filesystem::path file_of(std::string_view key) const;

 private:
  void keep_within_bound() const;

  std::filesystem::path folder_;
  std::uint64_t bound_;
};

}  // namespace fairgv::cuda::soft
