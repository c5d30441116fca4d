// The memory of a context, for a session that moves: what there is and where, with its contents. The first
// context whose memory is written has the session's ranges of addresses with it, which belong to none.
//
//   contents := bytes of the book (8), book, then the bytes of each allocation, of the heap and of each
//               physical memory, in the book's order, all filled up to multiples of 8
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/cuda/address_ranges.hpp"
#include "runtime/vgpu/cuda/allocations.hpp"
#include "runtime/vgpu/cuda/driver.hpp"
#include "runtime/vgpu/cuda/objects.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/wire/codec.hpp"

namespace fairgv::vgpu::cuda {

/// The book as it is encoded.
struct BookOfContext {
  struct Linear {
    std::uint64_t address = 0, bytes = 0, charged = 0;
  };
  struct PinnedPart {
    std::uint64_t offset = 0, bytes = 0, address = 0;
  };
  struct Range {
    std::uint64_t address = 0, bytes = 0;
  };
  struct Memory {
    std::uint64_t number = 0, bytes = 0;
    std::uint32_t device = 0;
    std::uint32_t is_released = 0;  // 1: it is there because it is mapped
  };
  struct Mapped {
    std::uint64_t address = 0, bytes = 0, number = 0;
  };
  struct Access {
    std::uint64_t address = 0, bytes = 0;
    std::uint32_t device = 0, flags = 0;
  };
  std::uint64_t heap_address = 0, heap_bytes = 0;
  std::uint64_t heap_limit = 0;  // with which it was made
  std::vector<Linear> linear;
  std::vector<PinnedPart> pinned;
  std::vector<Range> ranges;
  std::vector<Memory> physical;
  std::vector<Mapped> mapped;
  std::vector<Access> access;
  FAIRGV_FIELDS(heap_address, heap_bytes, heap_limit, linear, pinned, ranges, physical, mapped, access)
};

class MemoryBook {
 public:
  struct Parts {
    const Driver& driver;
    const ring::Segment& segment;
    MemoryAccount* memory;  // may be null
    Allocations& allocations;
    PinnedParts& pinned;
    AddressRanges& ranges;
  };
  explicit MemoryBook(const Parts& parts) : parts_(parts) {}

  /// Writes the context's book. `with_ranges`: it has the session's ranges, too. The bytes of its contents.
  std::uint64_t begin(const Context& context, bool with_ranges);
  /// Of the context of the last begin(). An Error if the driver refuses.
  Result<void> read(std::span<std::byte> to) const;
  /// Makes all that the book has, where it was, in a context that has nothing yet. An Error, as one line, if
  /// something cannot lie there.
  Result<void> write(const std::shared_ptr<Context>& context, std::span<const std::byte> from);

 private:
  const Functions& functions() const { return parts_.driver.functions(); }
  void add_ranges();
  Result<const Device*> device(std::uint32_t index) const;
  Result<MemoryCharge> charge(std::uint32_t device, std::uint64_t bytes) const;
  Result<void> make_all_linear(const std::shared_ptr<Context>& context, const BookOfContext& book);
  Result<void> make_linear(const std::shared_ptr<Context>& context, const BookOfContext::Linear& linear);
  Result<void> pin(const std::shared_ptr<Context>& context, const BookOfContext::PinnedPart& part);
  Result<void> make_heap(Context& context, const BookOfContext& book) const;
  Result<void> make_ranges(const BookOfContext& book);
  Result<void> map_ranges(const BookOfContext& book);
  /// Calls copy(address) with all of the memory mapped somewhere for that.
  template <class Copy>
  Result<void> with_mapping(const AddressRanges::Physical& memory, const Copy& copy) const;

  const Parts parts_;
  const Context* context_ = nullptr;  // of begin()
  BookOfContext book_;                // of the same
};

}  // namespace fairgv::vgpu::cuda
