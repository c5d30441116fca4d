// Functions and launches: variables, parameters, shapes, shared memory, errors and faults.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <thread>

#include "fixture.hpp"

TEST_F(WithModule, VariablesAreReachedByName) {
  CUdeviceptr table = 0;
  std::size_t bytes = 0;
  ASSERT_OK(cuModuleGetGlobal(&table, &bytes, module_, "table"));
  EXPECT_EQ(64 * sizeof(int), bytes);
  std::vector<int> values(64);
  std::iota(values.begin(), values.end(), 1);
  upload(table, values);
  EXPECT_OK(launch("count", 1, 32, nullptr, 10));
  CUdeviceptr counter = 0;
  ASSERT_OK(cuModuleGetGlobal(&counter, nullptr, module_, "counter"));
  EXPECT_EQ(7 + 55, download<int>(counter, 1)[0]);  // through the address that another variable holds
  EXPECT_CODE(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, nullptr, module_, "nothing"));
  CUfunction none = nullptr;
  EXPECT_CODE(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, module_, "nothing"));
}

TEST_F(WithModule, ParametersArriveAsLaidOut) {
  struct Mixed {
    short s;
    double d;
    char c;
  };
  const CUdeviceptr out = allocate(7 * sizeof(double));
  const std::vector<double> expected{-3, 2.5, -300, 12, -7.25, 9, 0.125};
  EXPECT_OK(launch("parameters", 1, 1, nullptr, static_cast<char>(-3), 2.5, static_cast<short>(-300),
                   Mixed{12, -7.25, 9}, 0.125F, out));
  EXPECT_EQ(expected, download<double>(out, 7));
  const CUfunction function = this->function("parameters");
  std::size_t offset = 0;
  std::size_t size = 0;
  EXPECT_OK(cuFuncGetParamInfo(function, 3, &offset, &size));
  EXPECT_EQ(24U, offset);
  EXPECT_EQ(24U, size);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(function, 6, &offset, &size));
  EXPECT_OK(cuFuncGetParamInfo(function, 5, &offset, &size));
  // The same arguments, packed by the program.
  std::vector<std::byte> block(offset + size);
  const auto put = [&](std::size_t index, const auto& value) {
    EXPECT_OK(cuFuncGetParamInfo(function, index, &offset, &size));
    ASSERT_EQ(sizeof value, size);
    std::memcpy(block.data() + offset, &value, size);
  };
  put(0, static_cast<char>(-3));
  put(1, 2.5);
  put(2, static_cast<short>(-300));
  put(3, Mixed{12, -7.25, 9});
  put(4, 0.125F);
  put(5, out);
  ASSERT_OK(cuMemsetD8(out, 0, 7 * sizeof(double)));
  std::size_t bytes = block.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(expected, download<double>(out, 7));
  bytes = 8;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

TEST_F(WithModule, GridsOfThreeDimensionsCoverEveryThread) {
  const CUdeviceptr out = allocate(24 * 24 * sizeof(unsigned));
  void* arguments[] = {const_cast<CUdeviceptr*>(&out)};
  EXPECT_OK(cuLaunchKernel(function("place"), 2, 3, 4, 4, 3, 2, 0, nullptr, arguments, nullptr));
  const auto places = download<unsigned>(out, 24 * 24);
  for (unsigned at = 0; at < places.size(); ++at) ASSERT_EQ(at / 24 * 1000 + at % 24, places[at]) << at;
}

TEST_F(WithModule, SharedMemoryIsDynamicAndLimited) {
  std::vector<int> values(4 * 64);
  std::iota(values.begin(), values.end(), 0);
  CUdeviceptr memory = allocate(values.size() * sizeof(int));
  upload(memory, values);
  void* arguments[] = {&memory};
  const CUfunction reverse = function("reverse");
  EXPECT_OK(cuLaunchKernel(reverse, 4, 1, 1, 64, 1, 1, 64 * sizeof(int), nullptr, arguments, nullptr));
  for (auto block = values.begin(); block != values.end(); block += 64) std::reverse(block, block + 64);
  EXPECT_EQ(values, download<int>(memory, values.size()));
  int limit = 0;
  EXPECT_OK(cuFuncGetAttribute(&limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, reverse));
  const auto asking = static_cast<unsigned>(limit) + 1;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuLaunchKernel(reverse, 1, 1, 1, 64, 1, 1, asking, nullptr, arguments, nullptr));
  int most = 0;
  EXPECT_OK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1));
  if (most > limit) {
    EXPECT_OK(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
    EXPECT_OK(cuLaunchKernel(reverse, 1, 1, 1, 64, 1, 1, asking, nullptr, arguments, nullptr));
  }
  EXPECT_OK(cuCtxSynchronize());
  int shared = 0;
  EXPECT_OK(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function("fixed_shared")));
  EXPECT_EQ(1024, shared);
}

TEST_F(WithModule, WrongLaunchesHaveTheirDocumentedCodes) {
  const CUdeviceptr out = allocate(4096);
  void* arguments[] = {const_cast<CUdeviceptr*>(&out)};
  const CUfunction place = function("place");
  const auto launch_shape = [&](CUfunction which, unsigned gx, unsigned gy, unsigned bx, unsigned bz) {
    return cuLaunchKernel(which, gx, gy, 1, bx, 1, bz, 0, nullptr, arguments, nullptr);
  };
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, launch_shape(place, 0, 1, 1, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, launch_shape(place, 1, 1, 0, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, launch_shape(place, 1, 1, 1025, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, launch_shape(place, 1, 1, 1, 65));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, launch_shape(place, 1, 70'000, 1, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, launch_shape(place, 1, 1, 512, 4));
  EXPECT_CODE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch_shape(function("bounded"), 1, 1, 65, 1));
  EXPECT_OK(launch_shape(function("bounded"), 1, 1, 64, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, launch_shape(reinterpret_cast<CUfunction>(arguments), 1, 1, 1, 1));
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, nullptr, &attribute, 1};
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, place, arguments, nullptr));
  attribute.value.clusterDim = {1, 1, 1};
  EXPECT_OK(cuLaunchKernelEx(&config, place, arguments, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  // A stream of another context is not a stream of this context.
  CUcontext other = nullptr;
  CUstream stream = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device_));
  ASSERT_OK(cuStreamCreate(&stream, 0));
  ASSERT_OK(cuCtxPopCurrent(nullptr));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE,
              cuLaunchKernel(place, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  EXPECT_OK(cuCtxDestroy(other));
}

/// The documentation of each call lists its codes, and so decides how the call answers a null handle.
TEST_F(WithModule, NoHandleIsAnInvalidValueWhereNoInvalidHandleIsDocumented) {
  const char* name = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr address = 0;
  std::size_t size = 0;
  unsigned count = 0;
  int number = 0;
  CUfunctionLoadingState state{};
  const CUresult values[] = {cuFuncGetName(&name, nullptr),
                             cuKernelGetName(&name, nullptr),
                             cuFuncGetModule(&module, nullptr),
                             cuFuncGetParamInfo(nullptr, 0, &size, &size),
                             cuKernelGetParamInfo(nullptr, 0, &size, &size),
                             cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_NONE),
                             cuModuleGetFunction(&function, nullptr, "add"),
                             cuModuleGetGlobal(&address, &size, nullptr, "counter"),
                             cuModuleUnload(nullptr),
                             cuLibraryUnload(nullptr),
                             cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, nullptr, 32, 0),
                             cuOccupancyAvailableDynamicSMemPerBlock(&size, nullptr, 1, 32)};
  for (std::size_t at = 0; at < std::size(values); ++at)
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, values[at]) << at;
  const CUresult handles[] = {cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr),
                              cuFuncIsLoaded(&state, nullptr),
                              cuFuncLoad(nullptr),
                              cuModuleGetFunctionCount(&count, nullptr),
                              cuLibraryGetKernelCount(&count, nullptr),
                              cuKernelGetFunction(&function, nullptr)};
  for (std::size_t at = 0; at < std::size(handles); ++at) {
    EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, handles[at]) << at;
  }
  // A handle that names nothing is not a null handle.
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuFuncGetName(&name, reinterpret_cast<CUfunction>(&number)));
}

TEST_F(WithModule, OccupancyAgreesWithTheDevice) {
  const CUfunction add = function("add");
  int blocks = 0;
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  EXPECT_EQ(8, blocks);  // of 2,048 threads
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 0));
  EXPECT_EQ(32, blocks);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("bounded"), 128, 0));
  EXPECT_EQ(0, blocks);
  int grid = 0;
  int block = 0;
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 0));
  int units = 0;
  EXPECT_OK(cuDeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_));
  EXPECT_EQ(2048 * units, grid * block);
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 100));
  EXPECT_LE(block, 100);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0));
}

TEST_F(WithModule, LaunchesAreAsynchronousAndInOrder) {
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr number = allocate(sizeof(unsigned));
  ASSERT_OK(cuMemsetD32(number, 0, 1));
  ASSERT_OK(cuCtxSynchronize());
  Gate gate;
  ASSERT_OK(gate.close(stream));
  for (unsigned digit = 1; digit <= 9; ++digit) EXPECT_OK(launch("append", 1, 1, stream, number, digit));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  gate.open();
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(123'456'789U, download<unsigned>(number, 1)[0]);
}

TEST_F(WithModule, PrintfIsSaidWhenItsLaunchIsOver) {
  const std::string word = "word";
  const CUdeviceptr text = allocate(16);
  ASSERT_OK(cuMemcpyHtoD(text, word.c_str(), word.size() + 1));
  testing::internal::CaptureStdout();
  EXPECT_OK(launch("say", 1, 1, nullptr, 42, 2.5, text));
  EXPECT_OK(launch("say", 2, 1, nullptr, -1, 1e6, text));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(
      "42| 2.50|word|x|123456789abc|%\n-1|1000000.00|word|x|123456789abc|%\n"
      "-1|1000000.00|word|x|123456789abc|%\n",
      testing::internal::GetCapturedStdout());
}

TEST_F(WithModule, FaultSticksToItsContextAndToNoOther) {
  if (is_tenant()) GTEST_SKIP() << "it sticks to the process, as NVIDIA's driver has it";
  testing::internal::CaptureStderr();
  EXPECT_OK(launch("expect_small", 1, 8, nullptr, 4));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(launch("expect_small", 1, 8, nullptr, 5));
  EXPECT_CODE(CUDA_ERROR_ASSERT, cuCtxSynchronize());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(std::string::npos, said.find("Assertion `value < 5` failed.")) << said;
  CUdeviceptr memory = 0;
  EXPECT_CODE(CUDA_ERROR_ASSERT, cuMemAlloc(&memory, 16));
  EXPECT_CODE(CUDA_ERROR_ASSERT, cuCtxSynchronize());
  EXPECT_CODE(CUDA_ERROR_ASSERT, cuStreamQuery(nullptr));
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device_));
  EXPECT_OK(cuMemAlloc(&memory, 16));
  CUmodule module = nullptr;
  ASSERT_OK(cuModuleLoad(&module, file_path("kernels.ptx").c_str()));
  CUfunction stop = nullptr;
  ASSERT_OK(cuModuleGetFunction(&stop, module, "stop"));
  EXPECT_OK(cuLaunchKernel(stop, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_INSTRUCTION, cuStreamSynchronize(nullptr));
  EXPECT_OK(cuCtxDestroy(other));
}

TEST_F(WithModule, EightThreadsAtOnceGetWhatTheyAskFor) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 12;
  constexpr std::size_t kCount = 512;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([this, number] {
      ASSERT_OK(cuCtxSetCurrent(context_));
      CUstream stream = nullptr;
      CUevent event = nullptr;
      CUdeviceptr memory = 0;
      ASSERT_OK(cuStreamCreate(&stream, number % 2 == 0 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
      ASSERT_OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_OK(cuMemAllocAsync(&memory, kCount * sizeof(unsigned), stream));
        ASSERT_OK(cuMemsetD32Async(memory, static_cast<unsigned>(number * 100), kCount, stream));
        for (int time = 0; time <= round % 4; ++time) {
          ASSERT_OK(launch("increment", 4, 128, stream, memory, static_cast<int>(kCount)));
        }
        ASSERT_OK(cuEventRecord(event, stream));
        ASSERT_OK(cuEventSynchronize(event));
        std::vector<unsigned> values(kCount);
        ASSERT_OK(cuMemcpyDtoHAsync(values.data(), memory, kCount * sizeof(unsigned), stream));
        ASSERT_EQ(std::vector<unsigned>(kCount, static_cast<unsigned>(number * 100 + round % 4 + 1)), values);
        ASSERT_OK(cuMemFreeAsync(memory, stream));
      }
      EXPECT_OK(cuEventDestroy(event));
      EXPECT_OK(cuStreamDestroy(stream));
    });
  }
  for (auto& thread : threads) thread.join();
}
