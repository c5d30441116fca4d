// Registered memory of a test, and memory that a test may unmap and protect.
#pragma once

#include <sys/mman.h>

#include <numeric>

#include "tests/cuda/softcuda/fixture.hpp"

inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// Unmapped at the latest when it goes out of scope.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) {
    at_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(MAP_FAILED, at_);
  }
  ~Pages() { unmap(); }
  void unmap() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
    at_ = nullptr;
  }
  void shrink(std::size_t bytes) {
    EXPECT_EQ(0, ::munmap(as<char>() + bytes, bytes_ - bytes));
    bytes_ = bytes;
  }
  void protect() { EXPECT_EQ(0, ::mprotect(at_, bytes_, PROT_READ)); }
  template <typename Value>
  Value* as() const {
    return static_cast<Value*>(at_);
  }

 private:
  std::size_t bytes_;
  void* at_ = nullptr;
};

/// A range of numbers that counts up, whose k-th is k at first.
class Registered : public WithModule {
 protected:
  static constexpr unsigned kCount = 5000;
  static constexpr std::size_t kBytes = kCount * sizeof(unsigned);

  void SetUp() override {
    WithModule::SetUp();
    std::iota(own_.begin(), own_.end(), 0U);
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }
  /// Registers own_, and says where kernels find it.
  CUdeviceptr map(unsigned flags = CU_MEMHOSTREGISTER_DEVICEMAP) {
    EXPECT_OK(cuMemHostRegister(own_.data(), kBytes, flags));
    return mapped();
  }
  CUdeviceptr mapped() {
    CUdeviceptr address = 0;
    EXPECT_OK(cuMemHostGetDevicePointer(&address, own_.data(), 0));
    return address;
  }
  CUresult increment(CUdeviceptr from, CUstream stream = nullptr, unsigned count = kCount) {
    return launch("increment", (count + 127) / 128, 128, stream, from, count);
  }
  void expect_incremented(unsigned by) {
    for (unsigned at = 0; at < kCount; ++at) ASSERT_EQ(at + by, own_[at]) << at;
  }

  std::vector<unsigned> own_ = std::vector<unsigned>(kCount);
  CUstream stream_ = nullptr;
};
