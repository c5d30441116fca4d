// Tenants whose streams wait for a word of memory: others go on, and a process may end.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "softcuda/fixture.hpp"

namespace {

/// This program anew, with these words before it and this case only. Its exit status is 0 if all was well.
int run(const std::string& environment, const std::string& filter) {
  std::array<char, 4096> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  EXPECT_GT(length, 0);
  const std::string program(path.data(), static_cast<std::size_t>(length));
  return std::system(("env " + environment + " '" + program + "' --gtest_filter=" + filter).c_str());
}

}  // namespace

class TenantWord : public WithModule {
 protected:
  void SetUp() override {
    WithModule::SetUp();
    ASSERT_TRUE(is_tenant()) << "this test runs by as_tenant";
  }
  /// The default stream waits for a word of the device, and a command waits behind it.
  void wait_for_ever() {
    word_ = allocate(8);
    ASSERT_OK(cuMemsetD32(word_, 0, 2));
    ASSERT_OK(cuStreamWaitValue32(nullptr, word_, 1, CU_STREAM_WAIT_VALUE_EQ));
    ASSERT_OK(cuMemsetD32Async(word_ + 4, 9, 1, nullptr));
  }

  CUdeviceptr word_ = 0;
};

TEST_F(TenantWord, OthersRunWhileAStreamWaits) {
  wait_for_ever();
  EXPECT_EQ(0, run("FAIRGV_TENANT=other", "TenantWord.Launches"));
  EXPECT_EQ(0, run("FAIRGV_TENANT=tests", "TenantWord.Launches")) << "another process of the same tenant";
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  CUstream free = nullptr;
  ASSERT_OK(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamWriteValue32(free, word_, 1, 0));
  EXPECT_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ((std::vector<unsigned>{1, 9}), download<unsigned>(word_, 2));
}

TEST_F(TenantWord, AProcessEndsWithWaitsThatAreNotOver) {
  EXPECT_EQ(0, run("FAIRGV_TENANT=other", "TenantWord.EndsWaiting"));
  EXPECT_EQ(0, run("FAIRGV_TENANT=other", "TenantWord.Launches")) << "the tenant's next process";
}

TEST_F(TenantWord, Launches) {
  const CUdeviceptr memory = allocate(4096);
  ASSERT_OK(cuMemsetD32(memory, 0, 1024));
  for (int time = 0; time < 200; ++time) ASSERT_OK(launch("increment", 4, 256, nullptr, memory, 1024));
  EXPECT_EQ(std::vector<unsigned>(1024, 200), download<unsigned>(memory, 1024));
}

TEST_F(TenantWord, EndsWaiting) {
  wait_for_ever();
  std::_Exit(HasFailure() ? 1 : 0);  // as a program that calls exit() in the midst of its work
}

TEST_F(TenantWord, AFaultEndsTheWaits) {
  wait_for_ever();
  CUstream free = nullptr;
  ASSERT_OK(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(launch("stop", 1, 1, free));
  EXPECT_NE(CUDA_SUCCESS, cuStreamSynchronize(nullptr));
  EXPECT_NE(CUDA_SUCCESS, cuStreamSynchronize(free));
  std::_Exit(HasFailure() ? 1 : 0);  // the process is faulty for good
}

TEST_F(TenantWord, AFaultLetsTheProgramGo) {
  EXPECT_EQ(0, run("FAIRGV_TENANT=other", "TenantWord.AFaultEndsTheWaits"));
}
