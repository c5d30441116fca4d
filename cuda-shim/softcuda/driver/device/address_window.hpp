// The addresses of memory that programs know of: a part of the address space that no other code of a process
// uses, and that lies at the same place in every process. A process that goes on with the work of another one
// can therefore have its memory at the same addresses, which kernels have stored anywhere.
//
// Pages come in large steps when they are first needed, and go when much is free. The memory begins and ends
// at any multiple of its alignment; blocks share pages.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace fairgv::cuda::soft {

/// Any thread may call.
class AddressWindow {
 public:
  /// The process's one. It never ends: programs free memory while they end.
  static AddressWindow& of_process();

  AddressWindow(std::uint64_t begin, std::uint64_t end);
  AddressWindow(const AddressWindow&) = delete;
  AddressWindow& operator=(const AddressWindow&) = delete;

  /// Makes the next memory of the calling thread lie at this address; 0: anywhere, as ever.
  static void place_next(std::uint64_t address);
  /// The wish of place_next(), which is fulfilled by that.
  static std::uint64_t take_next_place();

  /// The address of so many bytes that may be read and written; 0: there are none. `alignment` is a power of
  /// two, at most a page.
  std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment);
  /// The same at an address. False: some of it is in use, or does not lie in the window.
  bool take_at(std::uint64_t address, std::uint64_t bytes);
  /// So many bytes that were taken together. Their pages are private.
  void give_back(std::uint64_t address, std::uint64_t bytes);

 private:
  using Blocks = std::map<std::uint64_t, std::uint64_t>;  // begin and bytes, or begin and end

  // With the lock held.
  void insert_free(std::uint64_t begin, std::uint64_t bytes);
  void erase_free(Blocks::iterator block);
  bool carve(Blocks::iterator block, std::uint64_t address, std::uint64_t bytes);
  bool map(std::uint64_t begin, std::uint64_t end);
  void unmap_idle(std::uint64_t begin, std::uint64_t end);

  const std::uint64_t begin_, end_;
  std::mutex lock_;                                            // guards what follows
  Blocks free_;                                                // begin and bytes; no two adjoin each other
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // bytes and begin of the same
  Blocks mapped_;                                              // begin and end of pages that are there
  std::uint64_t idle_ = 0;                                     // bytes of such pages in no block
};

}  // namespace fairgv::cuda::soft
