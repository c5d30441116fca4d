#include "fixture.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

std::string code_name(CUresult code) {
  const char* name = nullptr;
  cuGetErrorName(code, &name);
  return name == nullptr ? std::to_string(static_cast<int>(code)) : name;
}

bool is_tenant() {
  const char* const which = std::getenv("FAIRGV_TEST_LIBCUDA");
  return which != nullptr && std::string(which) == "tenant";
}

std::string file_path(const std::string& name) {
  return std::string(FAIRGV_TEST_FILES) + "/" + name;
}

std::string file_bytes(const std::string& name) {
  std::ifstream file(file_path(name), std::ios::binary);
  EXPECT_TRUE(file.good()) << file_path(name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WithContext::SetUp() {
  ASSERT_OK(cuInit(0));
  ASSERT_OK(cuDeviceGet(&device_, 0));
  ASSERT_OK(cuCtxCreate(&context_, nullptr, 0, device_));
}

void WithContext::TearDown() {
  if (context_ != nullptr) {
    EXPECT_OK(cuCtxDestroy(context_));
  }
}

CUdeviceptr WithContext::allocate(std::size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT_OK(cuMemAlloc(&address, bytes));
  return address;
}

void WithModule::SetUp() {
  WithContext::SetUp();
  ASSERT_OK(cuModuleLoad(&module_, file_path("kernels.ptx").c_str()));
}

CUfunction WithModule::function(const char* name) {
  CUfunction found = nullptr;
  EXPECT_OK(cuModuleGetFunction(&found, module_, name));
  return found;
}

CUresult Gate::close(CUstream stream) {
  // The future outlives the gate: the stream may still be waiting while it goes out of scope.
  auto* const waiting = new std::shared_future<void>(waiting_);
  return cuLaunchHostFunc(
      stream,
      [](void* data) {
        auto* const future = static_cast<std::shared_future<void>*>(data);
        future->wait();
        delete future;
      },
      waiting);
}

void Gate::open() {
  if (!is_open_) opened_.set_value();
  is_open_ = true;
}
