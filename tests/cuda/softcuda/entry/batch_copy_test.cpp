// Copies in batches, of ranges and of boxes.
#include <numeric>

#include "tests/cuda/softcuda/fixture.hpp"

namespace {

class BatchCopyTest : public WithModule {
 protected:
  void SetUp() override {
    WithModule::SetUp();
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }
  void TearDown() override {
    EXPECT_OK(cuStreamDestroy(stream_));
    WithModule::TearDown();
  }
  static CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
  static CUmemcpyAttributes in_order(CUmemcpySrcAccessOrder order) {
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = order;
    return attributes;
  }

  CUstream stream_ = nullptr;
};

TEST_F(BatchCopyTest, RangesOfEveryKindOfMemory) {
  std::vector<int> source(64);
  std::iota(source.begin(), source.end(), 1);
  std::vector<int> target(64);
  const CUdeviceptr one = allocate(64 * sizeof(int));
  const CUdeviceptr other = allocate(64 * sizeof(int));
  // To the device, on the device, and back, in their order.
  CUdeviceptr to[] = {one, one + 32 * sizeof(int), other, address(target.data())};
  CUdeviceptr from[] = {address(source.data()), address(source.data() + 32), one, other};
  std::size_t sizes[] = {32 * sizeof(int), 32 * sizeof(int), 64 * sizeof(int), 64 * sizeof(int)};
  CUmemcpyAttributes attributes[] = {in_order(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL),
                                     in_order(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)};
  std::size_t indices[] = {0, 2};
  EXPECT_OK(cuMemcpyBatchAsync(to, from, sizes, 4, attributes, indices, 2, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(source, target);
}

TEST_F(BatchCopyTest, ASourceIsReadDuringTheCallIfTheProgramAsks) {
  int* pinned = nullptr;
  ASSERT_OK(cuMemAllocHost(reinterpret_cast<void**>(&pinned), sizeof(int)));
  const CUdeviceptr memory = allocate(sizeof(int));
  for (int round = 0; round < 50; ++round) {
    *pinned = round;
    CUdeviceptr to = memory;
    CUdeviceptr from = address(pinned);
    std::size_t size = sizeof(int);
    std::size_t index = 0;
    CUmemcpyAttributes attributes = in_order(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
    ASSERT_OK(cuMemcpyBatchAsync(&to, &from, &size, 1, &attributes, &index, 1, stream_));
    *pinned = -1;
    ASSERT_OK(cuStreamSynchronize(stream_));
    ASSERT_EQ(round, download<int>(memory, 1)[0]);
  }
  EXPECT_OK(cuMemFreeHost(pinned));
}

TEST_F(BatchCopyTest, AWrongBatchCopiesNothing) {
  const CUdeviceptr memory = allocate(sizeof(int));
  upload<int>(memory, {7});
  int value = 8;
  CUdeviceptr to[] = {memory, memory};
  CUdeviceptr from[] = {address(&value), address(&value)};
  std::size_t sizes[] = {sizeof value, 2 * sizeof value};  // the second does not fit
  std::size_t indices[] = {0, 1};
  CUmemcpyAttributes attributes[] = {in_order(CU_MEMCPY_SRC_ACCESS_ORDER_ANY),
                                     in_order(CU_MEMCPY_SRC_ACCESS_ORDER_ANY)};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuMemcpyBatchAsync(to, from, sizes, 2, attributes, indices, 1, stream_));
  EXPECT_EQ(7, download<int>(memory, 1)[0]);
  sizes[1] = sizeof value;
  const auto copy = [&](std::size_t count, std::size_t attribute_count, CUstream stream) {
    return cuMemcpyBatchAsync(to, from, sizes, count, attributes, indices, attribute_count, stream);
  };
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, copy(2, 1, nullptr)) << "the legacy stream";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, copy(0, 1, stream_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, copy(2, 0, stream_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, copy(1, 2, stream_));
  indices[1] = 2;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, copy(2, 2, stream_)) << "behind the last copy";
  indices[1] = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, copy(2, 2, stream_)) << "not ascending";
  indices[0] = 1;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, copy(2, 1, stream_)) << "nothing is for the first copy";
  indices[0] = 0;
  attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, copy(2, 1, stream_));
  EXPECT_EQ(7, download<int>(memory, 1)[0]);
}

TEST_F(BatchCopyTest, BoxesOfMemoryAndArrays) {
  constexpr std::size_t kWidth = 5;
  constexpr std::size_t kHeight = 3;
  CUDA_ARRAY_DESCRIPTOR of_array{};
  of_array.Width = 8;
  of_array.Height = 4;
  of_array.Format = CU_AD_FORMAT_SIGNED_INT32;
  of_array.NumChannels = 1;
  CUarray array = nullptr;
  ASSERT_OK(cuArrayCreate(&array, &of_array));
  std::vector<int> source(10 * kHeight);
  std::iota(source.begin(), source.end(), 100);
  std::vector<int> target(kWidth * kHeight);
  CUDA_MEMCPY3D_BATCH_OP copies[2] = {};
  for (CUDA_MEMCPY3D_BATCH_OP& copy : copies) {
    copy.extent = {kWidth, kHeight, 1};
    copy.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  }
  copies[0].src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  copies[0].src.op.ptr.ptr = address(source.data());
  copies[0].src.op.ptr.rowLength = 10;
  copies[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  copies[0].dst.op.array.array = array;
  copies[0].dst.op.array.offset = {2, 1, 0};
  copies[1].src = copies[0].dst;
  copies[1].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  copies[1].dst.op.ptr.ptr = address(target.data());
  EXPECT_OK(cuMemcpy3DBatchAsync(2, copies, 0, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  for (std::size_t y = 0; y < kHeight; ++y) {
    for (std::size_t x = 0; x < kWidth; ++x) EXPECT_EQ(source[y * 10 + x], target[y * kWidth + x]) << x << y;
  }
  copies[1].dst.op.ptr.rowLength = kWidth - 1;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, copies, 0, stream_)) << "rows overlap";
  copies[1].dst.op.ptr.rowLength = 0;
  copies[1].src.op.array.offset.x = 4;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, copies, 0, stream_)) << "beyond the array";
  copies[1].src.op.array.offset.x = SIZE_MAX;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, copies, 0, stream_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, nullptr, 0, stream_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, copies, 1, stream_)) << "flags";
  copies[0].extent.depth = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, copies, 0, stream_));
  EXPECT_OK(cuArrayDestroy(array));
}

TEST_F(BatchCopyTest, ABatchIsCaptured) {
  const CUdeviceptr one = allocate(2 * sizeof(int));
  const CUdeviceptr other = allocate(2 * sizeof(int));
  upload<int>(one, {1, 2});
  upload<int>(other, {0, 0});
  CUdeviceptr to[] = {other + sizeof(int), other};
  CUdeviceptr from[] = {one, one + sizeof(int)};
  std::size_t sizes[] = {sizeof(int), sizeof(int)};
  std::size_t index = 0;
  CUmemcpyAttributes attributes = in_order(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  ASSERT_OK(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, stream_));
  CUgraph graph = nullptr;
  ASSERT_OK(cuStreamEndCapture(stream_, &graph));
  std::size_t nodes = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(2u, nodes);
  CUgraphExec executable = nullptr;
  ASSERT_OK(cuGraphInstantiate(&executable, graph, 0));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ((std::vector<int>{2, 1}), download<int>(other, 2));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
}

}  // namespace
