// Addresses of the worker's device memory, kept free in this process.
//
// The driver chooses a device address in the worker, and knows nothing of this process' memory. If the
// program had memory of its own at the same address, a pointer would be ambiguous (CUDA Driver API, "Unified
// Addressing": a pointer alone says what it points to). So every range of device memory is also mapped here,
// without access, for as long as it lives. The program's later allocations then lie elsewhere, and a host
// access to device memory is a fault, as on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace fairgv::cuda::remote {

/// Owns the pages in which a range lies; two ranges in one page share it. Different reservations may be used
/// by different threads.
class Reservation {
 public:
  Reservation() = default;
  /// Nothing: this process has memory of its own there. If the system has no mappings left, the range is
  /// assumed to be free.
  static std::optional<Reservation> make(std::uint64_t address, std::uint64_t size);

  /// Makes the pages memory that the program may use. False: the system has none.
  bool open() const;

  Reservation(Reservation&& other) noexcept { swap(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Reservation();

 private:
  Reservation(std::uint64_t first_page, std::uint64_t last_page)
      : first_page_(first_page), last_page_(last_page) {}
  void swap(Reservation& other) noexcept {
    std::swap(first_page_, other.first_page_);
    std::swap(last_page_, other.last_page_);
  }

  // The first page is not 0: no memory begins there.
  std::uint64_t first_page_ = 0, last_page_ = 0;
};

/// One line for people: device memory cannot be used because the program has memory of its own at this
/// address.
void say_addresses_taken(std::uint64_t address);

}  // namespace fairgv::cuda::remote
