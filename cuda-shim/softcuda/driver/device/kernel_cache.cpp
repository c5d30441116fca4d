#include "cuda-shim/softcuda/driver/device/kernel_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace fairgv::cuda::soft {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'F', 'G', 'V', 'S', 'O', 'F', 'T', 'K'};
constexpr std::uint32_t kVersion = 1;

/// The header of a file; the key and the binary follow.
struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t key_bytes;
  std::uint64_t binary_bytes;
  std::uint64_t checksum;  // of key and binary
};

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::uint64_t fnv(std::string_view bytes, std::uint64_t hash) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  return hash;
}

constexpr std::uint64_t kBasis = 0xcbf29ce484222325U;

std::string_view as_text(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool write_all(int file, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(file, at, size);
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

std::optional<KernelCache> KernelCache::of_environment() {
  const auto set = [](const char* name) -> const char* {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
  };
  if (const char* const said = set("FAIRGV_SOFTCUDA_CACHE")) {
    if (std::strcmp(said, "off") == 0) return std::nullopt;
    return KernelCache(said);
  }
  if (const char* const said = set("XDG_CACHE_HOME"))
    return KernelCache(fs::path(said) / "fairgv" / "softcuda");
  if (const char* const home = set("HOME"))
    return KernelCache(fs::path(home) / ".cache" / "fairgv" / "softcuda");
  return std::nullopt;
}

fs::path KernelCache::file_of(std::string_view key) const {
  // Two different hashes. Entries whose names clash only replace each other.
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx.bin", static_cast<unsigned long long>(fnv(key, kBasis)),
                static_cast<unsigned long long>(fnv(key, ~kBasis)));
  return folder_ / name;
}

std::optional<std::vector<unsigned char>> KernelCache::read(std::string_view key) const {
  const fs::path path = file_of(key);
  std::ifstream file(path, std::ios::binary);
  FileHeader header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  std::error_code failed;
  const std::uint64_t size = fs::file_size(path, failed);
  if (failed || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.version != kVersion ||
      header.key_bytes != key.size() || size < sizeof header + key.size() ||
      header.binary_bytes != size - sizeof header - key.size() || header.binary_bytes == 0) {
    return std::nullopt;
  }
  std::string kept(key.size(), '\0');
  std::vector<unsigned char> binary(header.binary_bytes);
  if (!file.read(kept.data(), static_cast<std::streamsize>(kept.size())) || kept != key ||
      !file.read(reinterpret_cast<char*>(binary.data()), static_cast<std::streamsize>(binary.size())) ||
      fnv(as_text(binary), fnv(key, kBasis)) != header.checksum) {
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), failed);  // the longest unused file goes first
  return binary;
}

void KernelCache::write(std::string_view key, std::span<const unsigned char> binary) const {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) return;
  std::string temporary = (folder_ / ".new-XXXXXX").string();
  const int file = mkostemp(temporary.data(), O_CLOEXEC);  // 0600
  if (file < 0) return;
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.key_bytes = key.size();
  header.binary_bytes = binary.size();
  header.checksum = fnv(as_text(binary), fnv(key, kBasis));
  const bool whole = write_all(file, &header, sizeof header) && write_all(file, key.data(), key.size()) &&
                     write_all(file, binary.data(), binary.size());
  const bool closed = ::close(file) == 0;
  if (whole && closed) fs::rename(temporary, file_of(key), failed);
  if (!whole || !closed || failed) {
    fs::remove(temporary, failed);
    return;
  }
  keep_within_bound();
}

void KernelCache::keep_within_bound() const {
  struct File {
    fs::file_time_type used;
    std::uint64_t size;
    fs::path path;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code failed;
  for (fs::directory_iterator at(folder_, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() != ".bin") continue;
    std::error_code gone;  // another process may be doing the same
    const std::uint64_t size = at->file_size(gone);
    const auto used = at->last_write_time(gone);
    if (gone) continue;
    files.push_back({used, size, at->path()});
    total += size;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& oldest : files) {
    if (total <= bound_) return;
    fs::remove(oldest.path, failed);
    total -= oldest.size;
  }
}

}  // namespace fairgv::cuda::soft
