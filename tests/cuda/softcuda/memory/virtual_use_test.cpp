// Virtual memory management: kernels, copies and fills over several mappings, ranges that grow, and random
// calls against a small model.
#include <array>
#include <map>
#include <optional>
#include <random>

#include "tests/cuda/softcuda/memory/virtual_fixture.hpp"
#include "tests/harness/seed.hpp"

TEST_F(Virtual, KernelsAndCopiesCrossMappings) {
  const CUdeviceptr range = reserve(3);
  add(range, 1);
  add(range + piece_, 2);
  const auto count = static_cast<int>(3 * piece_ / sizeof(unsigned));
  const auto length = static_cast<std::size_t>(count);
  ASSERT_OK(cuMemsetD32(range, 5, length));
  EXPECT_OK(launch("increment", (static_cast<unsigned>(count) + 255) / 256, 256, nullptr, range, count));
  EXPECT_EQ(std::vector<unsigned>(length, 6), download<unsigned>(range, length));
  std::vector<unsigned> numbers(length);
  for (std::size_t at = 0; at < length; ++at) numbers[at] = static_cast<unsigned>(at);
  upload(range, numbers);
  EXPECT_OK(launch("increment", (static_cast<unsigned>(count) + 255) / 256, 256, nullptr, range, count));
  for (unsigned& number : numbers) ++number;
  EXPECT_EQ(numbers, download<unsigned>(range, length));
  // From one mapping to the other, over the border, and rows across it.
  const std::size_t half = piece_ / 2;
  ASSERT_OK(cuMemcpyDtoD(range + piece_ + half, range + half, piece_));
  EXPECT_EQ(numbers[half / 4 + 9], download<unsigned>(range + piece_ + half + 36, 1)[0]);
  ASSERT_OK(cuMemsetD2D32(range + piece_ - 64, 64, 8, 4, 4));
  EXPECT_EQ(std::vector<unsigned>(4, 8), download<unsigned>(range + piece_ + 64, 4));
  unsigned word = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&word, range + 3 * piece_ - 2, 4)) << "beyond the end";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(range, 1, 3 * piece_ + 1));
  EXPECT_OK(unmap(range, 3));
  EXPECT_OK(cuMemAddressFree(range, 3 * piece_));
}

TEST_F(Virtual, ACopyThatWritesAcrossABorderNeedsAccessOnBothSides) {
  const CUdeviceptr range = reserve(2);
  add(range, 1);
  add(range + piece_, 1);
  ASSERT_OK(cuMemsetD8(range, 3, 2 * piece_));
  ASSERT_OK(allow(range + piece_, 1, CU_MEM_ACCESS_FLAGS_PROT_READ));
  const CUdeviceptr other = allocate(64);
  EXPECT_OK(cuMemcpyDtoD(other, range + piece_ - 32, 64));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(range + piece_ - 32, other, 64));
  EXPECT_OK(cuMemcpyDtoD(range + piece_ - 64, other, 64));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(range + piece_ - 32, 1, 64));
  EXPECT_EQ(std::vector<unsigned char>(64, 3), download<unsigned char>(range + piece_ - 32, 64));
  EXPECT_OK(unmap(range, 2));
  EXPECT_OK(cuMemAddressFree(range, 2 * piece_));
}

TEST_F(Virtual, GraphsCopyBetweenMappings) {
  const CUdeviceptr range = reserve(2);
  add(range, 1);
  add(range + piece_, 1);
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_OK(cuMemsetD32Async(range + piece_ - 16, 4, 8, stream));
  EXPECT_OK(launch("increment", 1, 8, stream, range + piece_ - 16, 8));
  EXPECT_OK(cuMemcpyDtoDAsync(range, range + piece_ - 16, 32, stream));
  CUgraph graph = nullptr;
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  CUgraphExec executable = nullptr;
  ASSERT_OK(cuGraphInstantiate(&executable, graph, 0));
  EXPECT_OK(cuGraphLaunch(executable, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(std::vector<unsigned>(8, 5), download<unsigned>(range, 8));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(unmap(range, 2));
  EXPECT_OK(cuMemAddressFree(range, 2 * piece_));
}

/// As allocators do that never move what they have (PyTorch's expandable segments).
TEST_F(Virtual, ARangeGrowsAndShrinks) {
  constexpr std::size_t kMost = 64;
  const std::size_t before = free_memory();
  const CUdeviceptr range = reserve(kMost);
  for (std::size_t pieces = 1; pieces <= 8; ++pieces) {
    add(range + (pieces - 1) * piece_, 1);
    EXPECT_OK(cuMemsetD32(range + (pieces - 1) * piece_, static_cast<unsigned>(pieces), piece_ / 4));
    for (std::size_t at = 0; at < pieces; ++at)
      EXPECT_EQ(at + 1, download<unsigned>(range + at * piece_ + 400, 1)[0]) << "of " << pieces;
  }
  EXPECT_EQ(before - 8 * piece_, free_memory());
  // From the middle, while work on it is under way: unmapping waits for it.
  const auto count = static_cast<int>(piece_ / 4);
  EXPECT_OK(launch("increment", (static_cast<unsigned>(count) + 255) / 256, 256, nullptr, range + 3 * piece_,
                   count));
  EXPECT_OK(unmap(range + 3 * piece_, 1));
  EXPECT_EQ(before - 7 * piece_, free_memory());
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(range + 2 * piece_, 0, 3 * piece_)) << "a hole";
  add(range + 3 * piece_, 1);
  EXPECT_OK(cuMemsetD32(range + 3 * piece_, 9, 1));
  EXPECT_EQ(3U, download<unsigned>(range + 3 * piece_ - 4, 1)[0]);
  EXPECT_EQ(5U, download<unsigned>(range + 4 * piece_, 1)[0]);
  EXPECT_OK(unmap(range, 8));
  EXPECT_EQ(before, free_memory());
  EXPECT_OK(cuMemAddressFree(range, kMost * piece_));
}

TEST_F(Virtual, MemoryThatThereIsNotTakesNothingElseAway) {
  const CUdeviceptr range = reserve(1);
  add(range, 1);
  EXPECT_OK(cuMemsetD32(range, 11, 1));
  const std::size_t before = free_memory();
  std::size_t free = 0, total = 0;
  ASSERT_OK(cuMemGetInfo(&free, &total));
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, (total / piece_ + 1) * piece_, &properties_, 0));
  EXPECT_EQ(before, free_memory());
  EXPECT_EQ(std::vector<unsigned>{11}, download<unsigned>(range, 1));
  EXPECT_OK(cuMemRelease(create(1)));
  EXPECT_OK(unmap(range, 1));
  EXPECT_OK(cuMemAddressFree(range, piece_));
}

TEST_F(Virtual, MemoryOutlivesTheContextThatWasCurrent) {
  const CUdeviceptr range = reserve(1);
  add(range, 1);
  EXPECT_OK(cuMemsetD32(range, 12, 1));
  ASSERT_OK(cuCtxDestroy(context_));
  context_ = nullptr;
  ASSERT_OK(cuCtxCreate(&context_, nullptr, 0, device_));
  EXPECT_EQ(std::vector<unsigned>{12}, download<unsigned>(range, 1));
  EXPECT_OK(unmap(range, 1));
  EXPECT_OK(cuMemAddressFree(range, piece_));
}

namespace {

/// The mappings that a range should have after calls: of each place, the one that it is in.
class Model {
 public:
  static constexpr std::size_t kPlaces = 8;
  struct Memory {
    std::size_t pieces = 0;
    bool has_handle = true;
    std::array<unsigned, 3> words{};  // the first of each piece
  };
  struct Mapping {
    std::size_t memory, pieces;
    bool has_access = false;
  };

  bool can_map(std::size_t place, std::size_t memory) const {
    const Memory& wanted = memories[memory];
    if (!wanted.has_handle || place + wanted.pieces > kPlaces) return false;
    for (std::size_t at = 0; at < wanted.pieces; ++at) {
      if (at_place(place + at)) return false;
    }
    return true;
  }
  /// Whether mappings fill the places exactly.
  bool is_whole(std::size_t place, std::size_t pieces) const {
    const std::size_t end = place + pieces;
    while (place < end) {
      const auto found = mappings.find(place);
      if (found == mappings.end()) return false;
      place += found->second.pieces;
    }
    return pieces != 0 && place == end;
  }
  /// Where the mapping around a place begins.
  std::optional<std::size_t> at_place(std::size_t place) const {
    auto found = mappings.upper_bound(place);
    if (found == mappings.begin()) return std::nullopt;
    --found;
    return place < found->first + found->second.pieces ? std::optional(found->first) : std::nullopt;
  }
  /// The word there; null: nothing is to be reached.
  unsigned* word(std::size_t place) {
    const auto begin = at_place(place);
    if (!begin || !mappings.at(*begin).has_access) return nullptr;
    return &memories[mappings.at(*begin).memory].words[place - *begin];
  }

  std::vector<Memory> memories;
  std::map<std::size_t, Mapping> mappings;
};

}  // namespace

TEST_F(Virtual, RandomCallsDoAsAModelSays) {
  std::mt19937_64 generator(fairgv::harness::printed_seed());
  const auto any = [&generator](std::size_t below) { return static_cast<std::size_t>(generator() % below); };
  const auto expected = [](bool is_right) { return is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; };
  Model model;
  std::vector<CUmemGenericAllocationHandle> handles;
  const CUdeviceptr range = reserve(Model::kPlaces);
  const auto at = [&](std::size_t place) { return range + place * piece_; };
  const std::size_t before = free_memory();
  const auto used = [&] {
    std::size_t pieces = 0;
    for (std::size_t memory = 0; memory < model.memories.size(); ++memory) {
      bool lives = model.memories[memory].has_handle;
      for (const auto& [place, mapping] : model.mappings) lives = lives || mapping.memory == memory;
      if (lives) pieces += model.memories[memory].pieces;
    }
    return pieces;
  };
  for (int step = 0; step < 600; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const std::size_t place = any(Model::kPlaces);
    const std::size_t pieces = 1 + any(3);
    const std::size_t memory = model.memories.empty() ? 0 : any(model.memories.size());
    switch (model.memories.empty() ? 0 : any(8)) {
      case 0: {
        if (used() > 12) break;
        handles.push_back(create(pieces));
        model.memories.push_back({pieces, true, {}});
        // New memory holds any bytes: give it those of the model.
        const CUdeviceptr other = reserve(pieces);
        ASSERT_OK(map(other, pieces, handles.back()));
        ASSERT_OK(allow(other, pieces));
        ASSERT_OK(cuMemsetD8(other, 0, pieces * piece_));
        ASSERT_OK(unmap(other, pieces));
        ASSERT_OK(cuMemAddressFree(other, pieces * piece_));
        break;
      }
      case 1:
        ASSERT_CODE(expected(model.memories[memory].has_handle), cuMemRelease(handles[memory]));
        model.memories[memory].has_handle = false;
        break;
      case 2: {
        const auto begin = model.at_place(place);
        CUmemGenericAllocationHandle handle = 0;
        if (begin && model.memories[model.mappings[*begin].memory].has_handle) break;
        ASSERT_CODE(expected(begin.has_value()),
                    cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(at(place) + 64)));
        if (!begin) break;
        ASSERT_EQ(handles[model.mappings[*begin].memory], handle);
        model.memories[model.mappings[*begin].memory].has_handle = true;
        break;
      }
      case 3:
      case 4: {
        const std::size_t size = model.memories[memory].pieces;
        const bool can = model.can_map(place, memory);
        ASSERT_CODE(expected(can), map(at(place), size, handles[memory]));
        if (can) model.mappings[place] = {memory, size};
        break;
      }
      case 5: {
        const bool is_whole = model.is_whole(place, pieces);
        ASSERT_CODE(expected(is_whole), unmap(at(place), pieces));
        if (is_whole)
          model.mappings.erase(model.mappings.find(place), model.mappings.lower_bound(place + pieces));
        break;
      }
      case 6: {
        const bool is_whole = model.is_whole(place, pieces);
        const bool grants = any(3) != 0;
        ASSERT_CODE(expected(is_whole),
                    allow(at(place), pieces,
                          grants ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE));
        if (!is_whole) break;
        for (auto mapping = model.mappings.find(place);
             mapping != model.mappings.end() && mapping->first < place + pieces; ++mapping)
          mapping->second.has_access = grants;
        break;
      }
      default: {
        unsigned* const word = model.word(place);
        ASSERT_CODE(expected(word != nullptr), cuMemsetD32(at(place), static_cast<unsigned>(step), 1));
        if (word != nullptr) *word = static_cast<unsigned>(step);
      }
    }
    for (std::size_t each = 0; each < Model::kPlaces; ++each) {
      const unsigned* const word = model.word(each);
      unsigned found = 0;
      ASSERT_CODE(expected(word != nullptr), cuMemcpyDtoH(&found, at(each), 4)) << "place " << each;
      if (word != nullptr) {
        ASSERT_EQ(*word, found) << "place " << each;
      }
    }
    ASSERT_EQ(before - used() * piece_, free_memory());
  }
  for (const auto& [place, mapping] : model.mappings) EXPECT_OK(unmap(at(place), mapping.pieces));
  for (std::size_t memory = 0; memory < handles.size(); ++memory) {
    if (model.memories[memory].has_handle) {
      EXPECT_OK(cuMemRelease(handles[memory]));
    }
  }
  EXPECT_EQ(before, free_memory());
  EXPECT_OK(cuMemAddressFree(range, Model::kPlaces * piece_));
}
