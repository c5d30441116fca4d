// A temporary file or folder between a benchmark and a program that it starts.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace fairgv::bench {

/// A name for a file, or a folder with all in it, that is gone with the object. One at a time for each
/// suffix.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& suffix)
      : path_(std::filesystem::temp_directory_path() /
              ("fairgv-bench-" + std::to_string(::getpid()) + suffix)) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fairgv::bench
