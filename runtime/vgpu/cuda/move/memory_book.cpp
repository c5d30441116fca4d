#include "runtime/vgpu/cuda/move/memory_book.hpp"

#include <cuda.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/move/contents.hpp"
#include "runtime/vgpu/cuda/move/mapped_block.hpp"
#include "runtime/vgpu/cuda/places.hpp"

namespace fairgv::vgpu::cuda {
namespace {

constexpr std::uint64_t filled_up(std::uint64_t bytes) {
  return (bytes + 7) & ~std::uint64_t{7};
}

/// The parts of a book's contents, one behind the other.
template <class Byte>
class Pieces {
 public:
  explicit Pieces(std::span<Byte> all) : left_(all) {}
  Result<std::span<Byte>> next(std::uint64_t bytes) {
    if (bytes > left_.size()) return Error{"an image with less of a context's memory than it says"};
    const auto piece = left_.first(bytes);
    left_ = left_.subspan(std::min<std::size_t>(filled_up(bytes), left_.size()));
    return piece;
  }

 private:
  std::span<Byte> left_;
};

Error refused(const Functions& driver, const std::string& what, CUresult code) {
  return Error{fmt::format("the driver does not make {}: {}", what, describe(driver, code))};
}

}  // namespace

// ---- the worker that leaves

std::uint64_t MemoryBook::begin(const Context& context, bool with_ranges) {
  context_ = &context;
  book_ = {};
  parts_.allocations.each([&](std::uint64_t address, const Allocations::Allocation& allocation) {
    if (allocation.context.get() == &context)
      book_.linear.push_back({address, allocation.bytes, allocation.charged});
  });
  std::ranges::sort(book_.linear, {}, &BookOfContext::Linear::address);
  for (const auto& [offset, part] : parts_.pinned) {
    if (part.context.get() == &context) book_.pinned.push_back({offset, part.bytes, part.address});
  }
  CUdeviceptr heap = 0;
  std::size_t heap_bytes = 0;
  std::size_t limit = 0;
  if (functions().heap != nullptr && use(functions(), context.handle) == CUDA_SUCCESS &&
      functions().heap(0, &heap, &heap_bytes) == CUDA_SUCCESS && heap_bytes != 0) {
    functions().cuCtxGetLimit(&limit, CU_LIMIT_MALLOC_HEAP_SIZE);
    book_.heap_address = heap;
    book_.heap_bytes = heap_bytes;
    book_.heap_limit = limit;
  }
  if (with_ranges) add_ranges();
  std::uint64_t bytes = sizeof(std::uint64_t) + filled_up(wire::encoded_size(book_));
  for (const auto& linear : book_.linear) bytes += filled_up(linear.bytes);
  bytes += filled_up(book_.heap_bytes);
  for (const auto& memory : book_.physical) bytes += filled_up(memory.bytes);
  return bytes;
}

void MemoryBook::add_ranges() {
  for (const auto& [address, bytes] : parts_.ranges.ranges()) book_.ranges.push_back({address, bytes});
  for (const auto& [number, memory] : parts_.ranges.all_physical()) {
    const std::uint32_t is_released = parts_.ranges.contains(number) ? 0 : 1;
    book_.physical.push_back({number, memory->bytes, memory->device, is_released});
  }
  for (const auto& [address, mapping] : parts_.ranges.mappings()) {
    book_.mapped.push_back({address, mapping.bytes, mapping.memory->number});
    for (const auto& [device, flags] : mapping.access)
      book_.access.push_back({address, mapping.bytes, device, flags});
  }
}

Result<void> MemoryBook::read(std::span<std::byte> to) const {
  const std::uint64_t book_bytes = wire::encoded_size(book_);
  Pieces<std::byte> pieces(to);
  FAIRGV_TRY(size, pieces.next(sizeof(book_bytes)));
  std::memcpy(size->data(), &book_bytes, sizeof(book_bytes));
  FAIRGV_TRY(book, pieces.next(book_bytes));
  wire::encode(book_, book->data());
  for (const auto& linear : book_.linear) {
    FAIRGV_TRY(piece, pieces.next(linear.bytes));
    FAIRGV_CHECK(read_linear(*context_, linear.address, piece.value()));
  }
  FAIRGV_TRY(heap, pieces.next(book_.heap_bytes));
  if (!heap->empty())
    std::memcpy(heap->data(), reinterpret_cast<const void*>(book_.heap_address), heap->size());
  const auto all = parts_.ranges.all_physical();
  for (const auto& told : book_.physical) {
    FAIRGV_TRY(piece, pieces.next(told.bytes));
    FAIRGV_CHECK(with_mapping(*all.at(told.number), [&](std::uint64_t address) {
      return read_linear(*context_, address, piece.value());
    }));
  }
  return {};
}

template <class Copy>
Result<void> MemoryBook::with_mapping(const AddressRanges::Physical& memory, const Copy& copy) const {
  const Functions& driver = functions();
  CUdeviceptr address = 0;
  CUresult code = driver.cuMemAddressReserve(&address, memory.bytes, 0, 0, 0);
  if (code != CUDA_SUCCESS) return refused(driver, "room for physical memory", code);
  Result<void> copied;
  code = driver.cuMemMap(address, memory.bytes, 0, memory.handle, 0);
  if (code == CUDA_SUCCESS) {
    CUmemAccessDesc wish{};
    FAIRGV_TRY(there, device(memory.device));
    wish.location = properties_of(*there.value()).location;
    wish.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    code = driver.cuMemSetAccess(address, memory.bytes, &wish, 1);
    if (code == CUDA_SUCCESS) copied = copy(address);
    driver.cuMemUnmap(address, memory.bytes);
  }
  driver.cuMemAddressFree(address, memory.bytes);
  return code == CUDA_SUCCESS ? copied : refused(driver, "a mapping of physical memory", code);
}

// ---- the worker that takes over

Result<void> MemoryBook::write(const std::shared_ptr<Context>& context, std::span<const std::byte> from) {
  Pieces<const std::byte> pieces(from);
  std::uint64_t book_bytes = 0;
  FAIRGV_TRY(size, pieces.next(sizeof(book_bytes)));
  std::memcpy(&book_bytes, size->data(), sizeof(book_bytes));
  FAIRGV_TRY(encoded, pieces.next(book_bytes));
  // Bytes of an image may change while they are read.
  std::vector<std::uint64_t> copy(filled_up(book_bytes) / sizeof(std::uint64_t));
  if (book_bytes != 0) std::memcpy(copy.data(), encoded->data(), book_bytes);
  BookOfContext book;
  if (!wire::decode({reinterpret_cast<const std::byte*>(copy.data()), book_bytes}, book))
    return Error{"an image with a book of memory that is none"};
  FAIRGV_CHECK(make_all_linear(context, book));
  for (const auto& linear : book.linear) {
    FAIRGV_TRY(piece, pieces.next(linear.bytes));
    FAIRGV_CHECK(write_linear(*context, linear.address, piece.value()));
  }
  if (book.heap_bytes != 0) FAIRGV_CHECK(make_heap(*context, book));
  FAIRGV_TRY(heap, pieces.next(book.heap_bytes));
  if (!heap->empty()) std::memcpy(reinterpret_cast<void*>(book.heap_address), heap->data(), heap->size());
  for (const auto& part : book.pinned) FAIRGV_CHECK(pin(context, part));
  FAIRGV_CHECK(make_ranges(book));
  for (const auto& memory : book.physical) {
    FAIRGV_TRY(piece, pieces.next(memory.bytes));
    FAIRGV_CHECK(with_mapping(*parts_.ranges.all_physical().at(memory.number), [&](std::uint64_t address) {
      return write_linear(*context, address, piece.value());
    }));
  }
  return map_ranges(book);
}

Result<const Device*> MemoryBook::device(std::uint32_t index) const {
  for (const Device& device : parts_.driver.devices()) {
    if (device.facts.device == index) return &device;
  }
  return Error{fmt::format("an image with memory of device {}, which CUDA does not have there", index)};
}

Result<MemoryCharge> MemoryBook::charge(std::uint32_t device, std::uint64_t bytes) const {
  if (parts_.memory == nullptr) return MemoryCharge();
  FAIRGV_TRY(charged, parts_.memory->charge(std::uint64_t{1} << device, bytes, false));
  if (!charged.value()) return Error{fmt::format("the tenant's limit has no room for {} bytes there", bytes)};
  return std::move(*charged.value());
}

/// By the driver itself where it can put memory at an address, else by mappings.
Result<void> MemoryBook::make_all_linear(const std::shared_ptr<Context>& context, const BookOfContext& book) {
  if (functions().place_next != nullptr) {
    for (const auto& linear : book.linear) FAIRGV_CHECK(make_linear(context, linear));
    return {};
  }
  if (book.linear.empty()) return {};
  if (!parts_.ranges.is_served()) return Error{"the driver has no virtual memory management"};
  std::vector<Extent> memory;
  for (const auto& linear : book.linear) memory.push_back({linear.address, linear.bytes});
  FAIRGV_TRY(blocks, mapped_blocks(context, std::move(memory)));
  for (const auto& linear : book.linear) {
    const auto block = std::ranges::find_if(blocks.value(),
                                            [&](const auto& each) { return each->contains(linear.address); });
    FAIRGV_TRY(charged, charge(context->device.facts.device, linear.charged));
    parts_.allocations.add(linear.address,
                           {context, linear.bytes, linear.charged, std::move(charged).value(), *block});
  }
  return {};
}

Result<void> MemoryBook::make_linear(const std::shared_ptr<Context>& context,
                                     const BookOfContext::Linear& linear) {
  if (linear.address == 0 || parts_.allocations.contains(linear.address))
    return Error{"an image with memory in one place twice"};
  FAIRGV_TRY(charged, charge(context->device.facts.device, linear.charged));
  CUdeviceptr address = 0;
  CUresult code = use(functions(), context->handle);
  if (code == CUDA_SUCCESS) {
    const PlacedNext placed(functions(), linear.address);
    code = functions().cuMemAlloc(&address, linear.bytes);
  }
  const std::string what = fmt::format("{} bytes of memory at {:#x}", linear.bytes, linear.address);
  if (code != CUDA_SUCCESS) return refused(functions(), what, code);
  parts_.allocations.add(address, {context, linear.bytes, linear.charged, std::move(charged).value()});
  if (address != linear.address) return Error{fmt::format("the driver puts {} elsewhere", what)};
  return {};
}

Result<void> MemoryBook::pin(const std::shared_ptr<Context>& context, const BookOfContext::PinnedPart& part) {
  const auto arena = parts_.segment.arena();
  if (part.offset > arena.size() || part.bytes > arena.size() - part.offset ||
      parts_.pinned.contains(part.offset)) {
    return Error{"an image with a pinned part of the arena that is none"};
  }
  std::byte* const host = arena.data() + part.offset;
  CUresult code = use(functions(), context->handle);
  if (code == CUDA_SUCCESS) {
    code = functions().cuMemHostRegister(host, part.bytes,
                                         CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  }
  if (code != CUDA_SUCCESS) return refused(functions(), "pinned memory", code);
  CUdeviceptr address = 0;
  code = functions().cuMemHostGetDevicePointer(&address, host, 0);
  parts_.pinned[part.offset] = {context, part.bytes, address};
  if (code != CUDA_SUCCESS || address != part.address) {
    return Error{
        fmt::format("pinned memory that kernels have at {:#x} would lie elsewhere there", part.address)};
  }
  return {};
}

Result<void> MemoryBook::make_heap(Context& context, const BookOfContext& book) const {
  if (functions().heap == nullptr) return Error{"the driver has no heap that could be made again"};
  CUresult code = use(functions(), context.handle);
  if (code == CUDA_SUCCESS) code = functions().cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, book.heap_limit);
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  if (code == CUDA_SUCCESS) {
    const PlacedNext placed(functions(), book.heap_address);
    code = functions().heap(1, &address, &bytes);
  }
  if (code != CUDA_SUCCESS)
    return refused(functions(), fmt::format("the kernels' heap at {:#x}", book.heap_address), code);
  context.has_placed_heap = true;
  if (address != book.heap_address || bytes != book.heap_bytes)
    return Error{"the kernels' heap would be another one there"};
  return {};
}

Result<void> MemoryBook::make_ranges(const BookOfContext& book) {
  if (book.ranges.empty() && book.physical.empty()) return {};
  if (!parts_.ranges.is_served()) return Error{"the driver has no virtual memory management"};
  for (const auto& range : book.ranges) {
    std::uint64_t address = 0;
    const CUresult code = parts_.ranges.reserve(range.bytes, 0, range.address, address);
    const std::string what = fmt::format("a range of {} bytes at {:#x}", range.bytes, range.address);
    if (code != CUDA_SUCCESS) return refused(functions(), what, code);
    if (address != range.address) return Error{fmt::format("the driver puts {} elsewhere", what)};
  }
  const std::uint64_t next = parts_.ranges.next_number();
  for (const auto& memory : book.physical) {
    FAIRGV_TRY(there, device(memory.device));
    FAIRGV_TRY(charged, charge(memory.device, memory.bytes));
    if (memory.number == 0 || memory.number >= next || parts_.ranges.contains(memory.number))
      return Error{"an image with physical memory of an impossible number"};
    parts_.ranges.begin_at(memory.number);
    std::uint64_t number = 0;
    const CUresult code =
        parts_.ranges.create(*there.value(), memory.bytes, std::move(charged).value(), number);
    if (code != CUDA_SUCCESS)
      return refused(functions(), fmt::format("{} bytes of physical memory", memory.bytes), code);
  }
  parts_.ranges.begin_at(next);
  return {};
}

Result<void> MemoryBook::map_ranges(const BookOfContext& book) {
  const auto check = [this](CUresult code) -> Result<void> {
    if (code == CUDA_SUCCESS) return {};
    return refused(functions(), "a mapping of physical memory", code);
  };
  for (const auto& mapped : book.mapped) {
    if (!parts_.ranges.contains(mapped.number)) return Error{"an image with a mapping of no memory"};
    FAIRGV_CHECK(check(parts_.ranges.map(mapped.number, mapped.address, mapped.bytes)));
  }
  for (const auto& access : book.access) {
    FAIRGV_TRY(there, device(access.device));
    FAIRGV_CHECK(check(parts_.ranges.set_access(access.address, access.bytes, *there.value(), access.flags)));
  }
  for (const auto& memory : book.physical) {
    if (memory.is_released != 0) parts_.ranges.release(memory.number);
  }
  return {};
}

}  // namespace fairgv::vgpu::cuda
