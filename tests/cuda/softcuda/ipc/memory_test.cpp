// Memory that two processes share (CUDA Driver API, "Memory Management": cuIpc*).
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "peer.hpp"

namespace {

constexpr unsigned kLazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

class SoftCudaIpc : public WithModule {
 protected:
  static CUipcMemHandle exported(CUdeviceptr memory) {
    CUipcMemHandle handle{};
    EXPECT_OK(cuIpcGetMemHandle(&handle, memory));
    return handle;
  }
  /// Done when it returns: fills and uploads may be under way otherwise, and the other process' stream knows
  /// nothing of this one's.
  template <class Value>
  static void write(CUdeviceptr memory, const std::vector<Value>& values) {
    upload(memory, values);
    EXPECT_OK(cuCtxSynchronize());
  }
  static CUresult open(const CUipcMemHandle& handle) {
    CUdeviceptr memory = 0;
    return cuIpcOpenMemHandle(&memory, handle, kLazy);
  }
  void increment(CUdeviceptr memory, int count) {
    EXPECT_OK(launch("increment", static_cast<unsigned>(count + 255) / 256, 256, nullptr, memory, count));
    EXPECT_OK(cuCtxSynchronize());
  }
};

TEST_F(SoftCudaIpc, BothProcessesSeeWhatKernelsWrite) {
  constexpr int kCount = 1001;  // not whole pages
  const CUdeviceptr memory = allocate(kCount * sizeof(unsigned));
  write(memory, std::vector<unsigned>(kCount, 40));
  Peer peer;
  EXPECT_DONE(peer.ask("open " + text_of(exported(memory))));
  EXPECT_ANSWER(CUDA_SUCCESS, std::to_string(kCount * sizeof(unsigned)), peer.ask("size"));
  EXPECT_ANSWER(CUDA_SUCCESS, "40", peer.ask("value 1000"));
  EXPECT_DONE(peer.ask("increment 1001"));
  EXPECT_EQ(std::vector<unsigned>(kCount, 41), download<unsigned>(memory, kCount));
  increment(memory, kCount);
  EXPECT_ANSWER(CUDA_SUCCESS, "42", peer.ask("value 0"));
  EXPECT_DONE(peer.ask("close"));
  EXPECT_EQ(std::vector<unsigned>(kCount, 42), download<unsigned>(memory, kCount));
  EXPECT_OK(cuMemFree(memory));
}

TEST_F(SoftCudaIpc, SmallNeighboursAreNotShared) {
  std::vector<CUdeviceptr> all;
  for (unsigned i = 0; i < 9; ++i) {
    all.push_back(allocate(sizeof(unsigned)));
    write(all.back(), std::vector<unsigned>{i});
  }
  Peer peer;
  EXPECT_DONE(peer.ask("open " + text_of(exported(all[4]))));
  EXPECT_ANSWER(CUDA_SUCCESS, "4", peer.ask("value 0"));
  EXPECT_DONE(peer.ask("fill 77"));
  for (unsigned i = 0; i < 9; ++i) EXPECT_EQ(i == 4 ? 77 : i, download<unsigned>(all[i], 1)[0]);
  for (const CUdeviceptr memory : all) EXPECT_OK(cuMemFree(memory));
  EXPECT_ANSWER(CUDA_SUCCESS, "77", peer.ask("value 0"));
}

TEST_F(SoftCudaIpc, AnAddressInsideNamesAllOfTheMemory) {
  const CUdeviceptr memory = allocate(4096);
  write(memory, std::vector<unsigned>{5, 6});
  EXPECT_EQ(text_of(exported(memory)), text_of(exported(memory + 4)));
  Peer peer;
  EXPECT_DONE(peer.ask("open " + text_of(exported(memory + 4))));
  EXPECT_ANSWER(CUDA_SUCCESS, "5", peer.ask("value 0"));
  EXPECT_OK(cuMemFree(memory));
}

TEST_F(SoftCudaIpc, NoWriteIsLostWhileItIsExported) {
  constexpr int kCount = 1 << 18;
  constexpr unsigned kTimes = 60;
  const CUdeviceptr memory = allocate(kCount * sizeof(unsigned));
  ASSERT_OK(cuMemsetD32(memory, 0, kCount));
  CUfunction kernel = function("increment");
  std::thread launching([&] {
    EXPECT_OK(cuCtxSetCurrent(context_));
    for (unsigned time = 0; time < kTimes; ++time) {
      CUdeviceptr address = memory;
      int count = kCount;
      void* arguments[] = {&address, &count};
      EXPECT_OK(cuLaunchKernel(kernel, kCount / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    }
  });
  const CUipcMemHandle handle = exported(memory);
  launching.join();
  EXPECT_OK(cuCtxSynchronize());
  const auto values = download<unsigned>(memory, kCount);
  EXPECT_EQ(kTimes, *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(kTimes, *std::max_element(values.begin(), values.end()));
  Peer peer;
  EXPECT_DONE(peer.ask("open " + text_of(handle)));
  EXPECT_ANSWER(CUDA_SUCCESS, std::to_string(kTimes), peer.ask("value 7"));
}

TEST_F(SoftCudaIpc, AProcessCannotOpenItsOwn) {
  const CUdeviceptr memory = allocate(64);
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, open(exported(memory)));
  EXPECT_OK(cuMemFree(memory));
}

TEST_F(SoftCudaIpc, OpenedTwiceItIsClosedTwice) {
  Peer peer;
  EXPECT_DONE(peer.ask("allocate 64"));
  EXPECT_DONE(peer.ask("fill 9"));
  const auto handle = handle_of(peer.ask("export").text);
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  ASSERT_OK(cuIpcOpenMemHandle(&first, handle, kLazy));
  ASSERT_OK(cuIpcOpenMemHandle(&second, handle, kLazy));
  EXPECT_EQ(first, second);
  EXPECT_OK(cuIpcCloseMemHandle(first));
  EXPECT_EQ(9U, download<unsigned>(first, 16)[15]);
  EXPECT_OK(cuIpcCloseMemHandle(first));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(first));
  unsigned value = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(first, first, sizeof value));
  // It can be opened again.
  ASSERT_OK(cuIpcOpenMemHandle(&first, handle, kLazy));
  EXPECT_EQ(9U, download<unsigned>(first, 1)[0]);
  EXPECT_OK(cuIpcCloseMemHandle(first));
}

TEST_F(SoftCudaIpc, OpenedMemoryIsNotItsOpeners) {
  Peer peer;
  EXPECT_DONE(peer.ask("allocate 64"));
  CUdeviceptr opened = 0;
  ASSERT_OK(cuIpcOpenMemHandle(&opened, handle_of(peer.ask("export").text), kLazy));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(opened));
  CUipcMemHandle handle{};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, opened));
  EXPECT_OK(cuMemsetD32(opened, 3, 16));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(opened, 3, 17));
  EXPECT_ANSWER(CUDA_SUCCESS, "3", peer.ask("value 15"));
  int capable = 1;
  EXPECT_OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, opened));
  EXPECT_EQ(0, capable);
  // Its context's end closes it.
}

TEST_F(SoftCudaIpc, WrongArgumentsAreRefused) {
  CUipcMemHandle handle{};
  const CUdeviceptr memory = allocate(64);
  CUdeviceptr managed = 0;
  CUdeviceptr pooled = 0;
  void* host = nullptr;
  ASSERT_OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  ASSERT_OK(cuMemAllocAsync(&pooled, 64, nullptr));
  ASSERT_OK(cuMemAllocHost(&host, 64));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(nullptr, memory));
  for (const CUdeviceptr wrong :
       {CUdeviceptr{0}, managed, pooled, reinterpret_cast<CUdeviceptr>(host), memory + 64}) {
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, wrong));
  }
  int capable = 0;
  EXPECT_OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory));
  EXPECT_EQ(1, capable);
  EXPECT_OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, managed));
  EXPECT_EQ(0, capable);
  CUdeviceptr opened = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&opened, exported(memory), 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(nullptr, exported(memory), kLazy));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(0));
  EXPECT_OK(cuMemFreeHost(host));
  for (const CUdeviceptr each : {memory, managed, pooled}) EXPECT_OK(cuMemFree(each));
}

TEST_F(SoftCudaIpc, ForgedHandlesOpenNothing) {
  Peer peer;
  EXPECT_DONE(peer.ask("allocate 64"));
  const CUipcMemHandle handle = handle_of(peer.ask("export").text);
  // Each byte that says anything: the kind, the place and the key.
  for (std::size_t at = 0; at < 40; ++at) {
    CUipcMemHandle forged = handle;
    forged.reserved[at] = static_cast<char>(forged.reserved[at] ^ 1);
    EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, open(forged)) << at;
  }
  std::mt19937 random(6);
  for (int time = 0; time < 20; ++time) {
    CUipcMemHandle forged{};
    for (char& byte : forged.reserved) byte = static_cast<char>(random());
    EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, open(forged));
  }
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, open(CUipcMemHandle{}));
  CUdeviceptr opened = 0;
  EXPECT_OK(cuIpcOpenMemHandle(&opened, handle, kLazy));
  EXPECT_OK(cuIpcCloseMemHandle(opened));
}

TEST_F(SoftCudaIpc, MemoryLivesUntilTheLastLetsGo) {
  const CUdeviceptr memory = allocate(4096);
  write(memory, std::vector<unsigned>(1024, 8));
  const std::string handle = text_of(exported(memory));
  Peer first;
  Peer second;
  EXPECT_DONE(first.ask("open " + handle));
  EXPECT_DONE(second.ask("open " + handle));
  EXPECT_OK(cuMemFree(memory));
  EXPECT_DONE(first.ask("increment 1024"));
  EXPECT_ANSWER(CUDA_SUCCESS, "9", second.ask("value 1023"));
  EXPECT_DONE(first.ask("close"));
  EXPECT_ANSWER(CUDA_SUCCESS, "9", second.ask("value 0"));
  // Nobody opens it any more.
  EXPECT_EQ(code_name(CUDA_ERROR_INVALID_HANDLE), code_name(first.ask("open " + handle).code));
  // Other memory is not in its place.
  const CUdeviceptr next = allocate(4096);
  EXPECT_OK(cuMemsetD32(next, 1, 1024));
  EXPECT_ANSWER(CUDA_SUCCESS, "9", second.ask("value 0"));
  EXPECT_OK(cuMemFree(next));
}

TEST_F(SoftCudaIpc, TheMakersDeathLeavesTheMemoryToOthers) {
  Peer maker;
  EXPECT_DONE(maker.ask("allocate 4096"));
  EXPECT_DONE(maker.ask("fill 5"));
  const auto handle = handle_of(maker.ask("export").text);
  CUdeviceptr opened = 0;
  ASSERT_OK(cuIpcOpenMemHandle(&opened, handle, kLazy));
  EXPECT_EQ(SIGKILL, WTERMSIG(maker.end(SIGKILL)));
  increment(opened, 1024);
  EXPECT_EQ(std::vector<unsigned>(1024, 6), download<unsigned>(opened, 1024));
  EXPECT_OK(cuIpcCloseMemHandle(opened));
  increment(allocate(64), 16);
}

TEST_F(SoftCudaIpc, AnOpenersDeathIsNothingToTheMaker) {
  const CUdeviceptr memory = allocate(4096);
  write(memory, std::vector<unsigned>(1024, 1));
  const std::string handle = text_of(exported(memory));
  for (unsigned time = 0; time < 3; ++time) {
    Peer peer;
    EXPECT_DONE(peer.ask("open " + handle));
    EXPECT_DONE(peer.ask("increment 1024"));
    EXPECT_EQ(SIGKILL, WTERMSIG(peer.end(SIGKILL)));
  }
  EXPECT_EQ(std::vector<unsigned>(1024, 4), download<unsigned>(memory, 1024));
  EXPECT_OK(cuMemFree(memory));
}

}  // namespace
