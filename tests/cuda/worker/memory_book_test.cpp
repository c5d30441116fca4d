// The memory of a context that is written down and made again, over the software driver in this process: the
// memory of the first context has to go before the second can have it.
#include "runtime/vgpu/cuda/move/memory_book.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/move/contents.hpp"

namespace fairgv::vgpu::cuda {
namespace {

constexpr std::uint64_t kBookPage = 4096;
constexpr std::uint64_t kBookGranule = std::uint64_t{2} << 20U;

Driver& books_driver() {
  static Driver opened = Driver::open(FAIRGV_SOFTCUDA, nullptr).value();
  return opened;
}

/// The part of one session that a worker has.
struct SessionOfBook {
  explicit SessionOfBook(const ring::Segment& segment)
      : allocations(functions()),
        ranges(functions(), 1000),
        book({books_driver(), segment, nullptr, allocations, pinned, ranges}) {
    context = std::make_shared<Context>(functions(), books_driver().devices().front(), false);
    EXPECT_EQ(functions().create_context(&context->handle, 0, context->device.handle), CUDA_SUCCESS);
    current_context() = nullptr;
    EXPECT_EQ(use(functions(), context->handle), CUDA_SUCCESS);
  }
  static const Functions& functions() { return books_driver().functions(); }

  std::uint64_t allocate(std::uint64_t bytes, int value) {
    CUdeviceptr address = 0;
    EXPECT_EQ(use(functions(), context->handle), CUDA_SUCCESS);
    EXPECT_EQ(functions().cuMemAlloc(&address, bytes), CUDA_SUCCESS);
    allocations.add(address, {context, bytes, bytes, {}});
    fill(address, bytes, value);
    return address;
  }
  void fill(std::uint64_t address, std::uint64_t bytes, int value) const {
    const std::vector<std::byte> from(bytes, static_cast<std::byte>(value));
    EXPECT_TRUE(write_linear(*context, address, from));
  }
  bool has(std::uint64_t address, std::uint64_t bytes, int value) const {
    std::vector<std::byte> to(bytes);
    EXPECT_TRUE(read_linear(*context, address, to));
    return to == std::vector<std::byte>(bytes, static_cast<std::byte>(value));
  }
  std::vector<std::byte> written() {
    std::vector<std::byte> to;
    to.resize(book.begin(*context, true));
    const auto read = book.read(to);
    EXPECT_TRUE(read) << read.error().message;
    return to;
  }

  Allocations allocations;
  PinnedParts pinned;
  AddressRanges ranges;
  MemoryBook book;
  std::shared_ptr<Context> context;
};

struct MemoryBookTest : testing::Test {
  std::string failure(const std::vector<std::byte>& written) {
    SessionOfBook next(segment);
    const auto made = next.book.write(next.context, written);
    return made ? "" : made.error().message;
  }

  ring::Segment segment = std::move(ring::Segment::create()).value();
};

TEST_F(MemoryBookTest, EverythingLiesWhereItWas) {
  std::vector<std::byte> written;
  std::uint64_t small = 0, large = 0, range = 0, number = 0;
  {
    SessionOfBook first(segment);
    small = first.allocate(3, 1);
    large = first.allocate(3 << 20U, 2);
    ASSERT_EQ(first.ranges.reserve(4 * kBookGranule, 0, 0, range), CUDA_SUCCESS);
    ASSERT_EQ(first.ranges.create(first.context->device, kBookGranule, {}, number), CUDA_SUCCESS);
    ASSERT_EQ(first.ranges.map(number, range + kBookGranule, kBookGranule), CUDA_SUCCESS);
    ASSERT_EQ(first.ranges.set_access(range + kBookGranule, kBookGranule, first.context->device,
                                      CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
              CUDA_SUCCESS);
    first.fill(range + kBookGranule, kBookGranule, 3);
    first.ranges.release(number);
    written = first.written();
    EXPECT_NE(failure(written).find("the driver does not make 3"), std::string::npos) << "it is in use yet";
    first.allocations.free(small);
    first.allocations.free(large);
    ASSERT_EQ(first.ranges.unmap(range + kBookGranule, kBookGranule), CUDA_SUCCESS);
    ASSERT_EQ(first.ranges.free(range, 4 * kBookGranule), CUDA_SUCCESS);
  }
  SessionOfBook second(segment);
  second.ranges.begin_at(number + 1);
  const auto made = second.book.write(second.context, written);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(second.has(small, 3, 1));
  EXPECT_TRUE(second.has(large, 3 << 20U, 2));
  EXPECT_TRUE(second.has(range + kBookGranule, kBookGranule, 3));
  EXPECT_FALSE(second.ranges.contains(number)) << "the program has released it";
  EXPECT_EQ(second.written(), written) << "as if it had always been there";
  second.allocations.free(small);
  second.allocations.free(large);
}

TEST_F(MemoryBookTest, ARangeThatIsInUseIsNamed) {
  SessionOfBook first(segment);
  std::uint64_t range = 0;
  ASSERT_EQ(first.ranges.reserve(kBookGranule, 0, 0, range), CUDA_SUCCESS);
  EXPECT_NE(failure(first.written()).find("the driver puts a range of 2097152 bytes"), std::string::npos);
  ASSERT_EQ(first.ranges.free(range, kBookGranule), CUDA_SUCCESS);
}

TEST_F(MemoryBookTest, BytesThatAreNoBookAreRefused) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<std::byte> written;
  {
    SessionOfBook first(segment);
    const std::uint64_t memory = first.allocate(kBookPage, 1);
    written = first.written();
    first.allocations.free(memory);
  }
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> wrong = written;
    if (random() % 4 == 0) wrong.resize(random() % wrong.size());
    const std::size_t book_bytes = std::min<std::size_t>(wrong.size(), 160);
    for (unsigned changes = 1 + random() % 4; changes != 0 && book_bytes != 0; --changes)
      wrong[random() % book_bytes] = static_cast<std::byte>(random());
    SessionOfBook next(segment);
    (void)next.book.write(next.context, wrong);
    std::vector<std::uint64_t> there;
    next.allocations.each([&](std::uint64_t address, const auto&) { there.push_back(address); });
    for (const std::uint64_t address : there) next.allocations.free(address);
  }
  EXPECT_NE(failure({}), "");
}

}  // namespace
}  // namespace fairgv::vgpu::cuda
