// RAII for the two kernel handles that shared memory needs: a file descriptor and a mapping.
//
// Both are move-only values owned by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/result.hpp"

namespace fairgv {

/// Owns a file descriptor and closes it. Holds -1 when empty.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  /// Gives the descriptor to the caller, who must close it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  /// Closes what is held, then owns `fd`.
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

/// Owns a range of mapped memory and unmaps it. Empty when data() is null.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { reset(); }

  /// Maps the first `bytes` of `fd` for reading and writing, shared with every other process that maps it.
  /// Pages are neither reserved nor written to core dumps. The mapping outlives the descriptor. It begins at
  /// `wanted_address` (a multiple of a page) if that much is free there, else, and with 0, anywhere.
  static Result<Mapping> shared(int fd, uint64_t bytes, uint64_t wanted_address = 0);

  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }

  /// Unmaps what is held.
  void reset();

 private:
  Mapping(std::byte* data, uint64_t size) : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace fairgv
