// Shared by the Driver-API tests: a context per test, modules of the build folder, and shorthand that fails a
// test with the code's name.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <string>
#include <vector>

/// The code's name, such as "CUDA_ERROR_INVALID_VALUE".
std::string code_name(CUresult code);
/// Whether the driver is FairGV's own front end, with a worker behind it. Tests expect other answers where
/// the front end cannot do a thing, or does it as NVIDIA's driver does and the software driver does not.
bool is_tenant();
/// Under FAIRGV_TEST_FILES: nvcc's output for kernels.cu.
std::string file_path(const std::string& name);
std::string file_bytes(const std::string& name);

#define EXPECT_CODE(expected, call) EXPECT_EQ(code_name(expected), code_name(call)) << #call
#define ASSERT_CODE(expected, call) ASSERT_EQ(code_name(expected), code_name(call)) << #call
#define EXPECT_OK(call) EXPECT_CODE(CUDA_SUCCESS, call)
#define ASSERT_OK(call) ASSERT_EQ(code_name(CUDA_SUCCESS), code_name(call)) << #call

/// A created context that is current to the test's thread, and ends with the test.
class WithContext : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  CUdeviceptr allocate(std::size_t bytes);

  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// The context with the module of kernels.cu, in any container.
class WithModule : public WithContext {
 protected:
  void SetUp() override;
  CUfunction function(const char* name);
  /// Launches with these arguments; block and grid in one dimension.
  template <typename... Arguments>
  CUresult launch(const char* name, unsigned grid, unsigned block, CUstream stream, Arguments... arguments) {
    void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
    return cuLaunchKernel(function(name), grid, 1, 1, block, 1, 1, 0, stream, pointers, nullptr);
  }

  CUmodule module_ = nullptr;
};

/// A host function that holds its stream up until the test lets it go (at the latest when it goes out of
/// scope).
class Gate {
 public:
  ~Gate() { open(); }
  CUresult close(CUstream stream);
  void open();

 private:
  std::promise<void> opened_;
  std::shared_future<void> waiting_ = opened_.get_future().share();
  bool is_open_ = false;
};

template <typename Value>
std::vector<Value> download(CUdeviceptr from, std::size_t count) {
  std::vector<Value> values(count);
  EXPECT_OK(cuMemcpyDtoH(values.data(), from, count * sizeof(Value)));
  return values;
}

template <typename Value>
void upload(CUdeviceptr to, const std::vector<Value>& values) {
  EXPECT_OK(cuMemcpyHtoD(to, values.data(), values.size() * sizeof(Value)));
}
