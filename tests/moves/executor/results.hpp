// The results of a random program: hashed in the order of its plan, printed at each check.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairgv::moves {

class Results {
 public:
  /// `details`: each result is a line on standard error, too, to find out which of them differ.
  explicit Results(bool details) : details_(details) {}

  /// FNV-1a.
  void add(const void* bytes, std::size_t count);
  template <class T>
  void add_value(const T& value) {
    add(&value, sizeof(value));
  }

  /// Prints a line with the hash of all since the line before.
  void print_check();
  /// Prints a line with the hash of everything.
  void print_total() const;

 private:
  static constexpr std::uint64_t kStart = 0xCBF29CE484222325U;
  std::uint64_t hash_ = kStart, total_ = kStart;
  std::size_t checks_ = 0, results_ = 0;
  bool details_;
};

}  // namespace fairgv::moves
