// The launch calls of the first CUDA releases, and contexts that count their users.
#include <cstring>

#include "tests/cuda/softcuda/fixture.hpp"

namespace {

class LegacyLaunchTest : public WithModule {
 protected:
  /// Parameters of add(a, b, sum, n), set one by one.
  void prepare(CUfunction add, CUdeviceptr a, CUdeviceptr b, CUdeviceptr sum, int n) {
    EXPECT_OK(cuFuncSetBlockShape(add, 32, 1, 1));
    EXPECT_OK(cuParamSetv(add, 0, &a, sizeof a));
    EXPECT_OK(cuParamSetv(add, 8, &b, sizeof b));
    EXPECT_OK(cuParamSetv(add, 16, &sum, sizeof sum));
    EXPECT_OK(cuParamSeti(add, 24, static_cast<unsigned>(n)));
    EXPECT_OK(cuParamSetSize(add, 28));
  }
};

TEST_F(LegacyLaunchTest, RunsWhatWasSet) {
  constexpr int kCount = 100;
  const CUdeviceptr a = allocate(kCount * sizeof(float));
  const CUdeviceptr b = allocate(kCount * sizeof(float));
  const CUdeviceptr sum = allocate(kCount * sizeof(float));
  upload(a, std::vector<float>(kCount, 1.0f));
  upload(b, std::vector<float>(kCount, 10.0f));
  CUfunction const add = function("add");
  prepare(add, a, b, sum, kCount);
  EXPECT_OK(cuLaunchGrid(add, 2, 2));
  const auto values = download<float>(sum, kCount);
  for (int at = 0; at < 64; ++at)
    EXPECT_EQ(11.5f + static_cast<float>(at % 4), values[static_cast<std::size_t>(at)]);
  // What was set stays, and single values change.
  EXPECT_OK(cuParamSetv(add, 8, const_cast<CUdeviceptr*>(&a), sizeof a));
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuLaunchGridAsync(add, 4, 1, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(2.5f, download<float>(sum, 1)[0]);
  EXPECT_EQ(5.5f, download<float>(sum, kCount)[99]);
  EXPECT_OK(cuLaunch(add));
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST_F(LegacyLaunchTest, FloatsAndSharedMemory) {
  const CUdeviceptr out = allocate(7 * sizeof(double));
  CUfunction const parameters = function("parameters");
  std::size_t offset = 0;
  std::size_t size = 0;
  ASSERT_OK(cuFuncGetParamInfo(parameters, 4, &offset, &size));
  EXPECT_OK(cuFuncSetBlockShape(parameters, 1, 1, 1));
  EXPECT_OK(cuParamSetf(parameters, static_cast<int>(offset), 2.5f));
  ASSERT_OK(cuFuncGetParamInfo(parameters, 5, &offset, &size));
  EXPECT_OK(cuParamSetv(parameters, static_cast<int>(offset), const_cast<CUdeviceptr*>(&out), sizeof out));
  EXPECT_OK(cuParamSetSize(parameters, static_cast<unsigned>(offset + size)));
  EXPECT_OK(cuLaunch(parameters));
  const auto values = download<double>(out, 7);
  EXPECT_EQ(2.5, values[6]);
  EXPECT_EQ(0.0, values[1]) << "what was never set is zero";

  const CUdeviceptr block = allocate(4 * sizeof(int));
  upload<int>(block, {1, 2, 3, 4});
  CUfunction const reverse = function("reverse");
  EXPECT_OK(cuFuncSetBlockShape(reverse, 4, 1, 1));
  EXPECT_OK(cuFuncSetSharedSize(reverse, 4 * sizeof(int)));
  EXPECT_OK(cuParamSetv(reverse, 0, const_cast<CUdeviceptr*>(&block), sizeof block));
  EXPECT_OK(cuParamSetSize(reverse, sizeof block));
  EXPECT_OK(cuLaunch(reverse));
  EXPECT_EQ((std::vector<int>{4, 3, 2, 1}), download<int>(block, 4));
}

TEST_F(LegacyLaunchTest, WrongValuesAreErrors) {
  CUfunction const increment = function("increment");
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuLaunch(increment)) << "no block, no parameters";
  EXPECT_OK(cuFuncSetBlockShape(increment, 1, 1, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuLaunch(increment)) << "too few parameters";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(increment, 0, 1, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(increment, -1, 1, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuParamSeti(increment, -4, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuParamSetv(increment, 0, nullptr, 4));
  int value = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuParamSetv(increment, 32764, &value, sizeof value));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuParamSetv(increment, 0x7fffffff, &value, 0xffffffffU));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuParamSetSize(increment, 40000));
  EXPECT_OK(cuParamSetSize(increment, 12));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(increment, 0, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(increment, 1, 70000)) << "beyond the device's limit";
}

TEST_F(LegacyLaunchTest, LaunchesAreCaptured) {
  const CUdeviceptr number = allocate(sizeof(unsigned));
  upload<unsigned>(number, {0});
  CUfunction const append = function("append");
  EXPECT_OK(cuFuncSetBlockShape(append, 1, 1, 1));
  EXPECT_OK(cuParamSetv(append, 0, const_cast<CUdeviceptr*>(&number), sizeof number));
  EXPECT_OK(cuParamSeti(append, 8, 7));
  EXPECT_OK(cuParamSetSize(append, 12));
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(cuLaunchGridAsync(append, 1, 1, stream));
  CUgraph graph = nullptr;
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  EXPECT_OK(cuParamSeti(append, 8, 3)) << "the graph has the values of its time";
  CUgraphExec executable = nullptr;
  ASSERT_OK(cuGraphInstantiate(&executable, graph, 0));
  EXPECT_EQ(0u, download<unsigned>(number, 1)[0]);
  EXPECT_OK(cuGraphLaunch(executable, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(7u, download<unsigned>(number, 1)[0]);
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST(ContextUsersTest, TheLastOneEndsTheContext) {
  ASSERT_OK(cuInit(0));
  CUcontext context = nullptr;
  ASSERT_OK(cuCtxCreate(&context, nullptr, 0, 0));
  CUcontext attached = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(&attached, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(nullptr, 0));
  EXPECT_OK(cuCtxAttach(&attached, 0));
  EXPECT_EQ(context, attached);
  EXPECT_OK(cuCtxDetach(context));
  EXPECT_OK(cuCtxSynchronize()) << "one user is left";
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(context)) << "not the current one";
  EXPECT_OK(cuCtxDetach(other));
  EXPECT_OK(cuCtxDetach(context));
  CUcontext current = other;
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(nullptr, current);
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(context));
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxAttach(&attached, 0)) << "no context is current";
}

TEST(ContextUsersTest, ThePrimaryContextHasItsOwn) {
  ASSERT_OK(cuInit(0));
  CUcontext primary = nullptr;
  ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
  ASSERT_OK(cuCtxPushCurrent(primary));
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(primary));
  EXPECT_OK(cuCtxPopCurrent(nullptr));
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
}

}  // namespace
