// Shared by the tests of memory operations in streams: two streams, and words that the program writes.
#pragma once

#include <atomic>

#include "tests/cuda/softcuda/fixture.hpp"

/// Pinned words: what a stream has written there shows how far it has come.
class WithWords : public WithModule {
 protected:
  static constexpr std::size_t kWords = 16;

  void SetUp() override {
    WithModule::SetUp();
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuMemHostAlloc(reinterpret_cast<void**>(&words_), kWords * sizeof(std::uint64_t), 0));
    std::fill_n(words_, kWords, 0U);
  }

  static CUdeviceptr address(const void* pointer) {
    CUdeviceptr on_device = 0;
    EXPECT_OK(cuMemHostGetDevicePointer(&on_device, const_cast<void*>(pointer), 0));
    return on_device;
  }
  /// The program's view of a word that streams write, too.
  static std::atomic_ref<std::uint64_t> seen(std::uint64_t& word) { return std::atomic_ref(word); }

  /// The stream writes `value` there when it gets so far.
  void mark(CUstream stream, std::uint64_t& word, std::uint64_t value = 1) {
    EXPECT_OK(cuStreamWriteValue64(stream, address(&word), value, 0));
  }
  /// All that was put into streams before, and can run, has run. The waits have been looked at.
  void others_go_on() {
    for (int time = 0; time < 3; ++time) {
      EXPECT_OK(cuMemsetD32Async(scratch(), 1, 1, other_));
      EXPECT_OK(cuStreamSynchronize(other_));
    }
  }
  CUdeviceptr scratch() {
    if (scratch_ == 0) scratch_ = allocate(64);
    return scratch_;
  }

  CUstream stream_ = nullptr, other_ = nullptr;
  std::uint64_t* words_ = nullptr;

 private:
  CUdeviceptr scratch_ = 0;
};
