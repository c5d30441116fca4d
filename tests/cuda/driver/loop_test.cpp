// Tenants whose graphs loop for ever: others go on, and a process may end.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "tests/cuda/softcuda/graph/conditional_fixture.hpp"

namespace {

/// This program anew, as that tenant and with this case only. Its status as system(3) has it.
int run_case(const std::string& tenant, const std::string& filter) {
  std::array<char, 4096> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  EXPECT_GT(length, 0);
  const std::string program(path.data(), static_cast<std::size_t>(length));
  return std::system(
      ("FAIRGV_TENANT=" + tenant + " '" + program + "' --gtest_filter=TenantLoop." + filter).c_str());
}

}  // namespace

class TenantLoop : public Conditionals {
 protected:
  void SetUp() override {
    Conditionals::SetUp();
    ASSERT_TRUE(is_tenant()) << "this test runs by as_tenant";
    ASSERT_OK(cuMemHostAlloc(reinterpret_cast<void**>(&words_), 64, 0));
    words_[0] = words_[1] = 0;
    ASSERT_OK(cuMemHostGetDevicePointer(&word_, words_, 0));
  }
  /// The stream is in a loop that never ends.
  void loop() {
    ASSERT_OK(cuGraphLaunch(endless(graph_, word_), stream_));
    wait_for_more(words_[0]);
  }

  std::uint32_t* words_ = nullptr;
  CUdeviceptr word_ = 0;
};

TEST_F(TenantLoop, OthersRunMeanwhile) {
  loop();
  EXPECT_EQ(0, run_case("other", "Launches"));
  EXPECT_EQ(0, run_case("tests", "Launches")) << "another process of the same tenant";
  wait_for_more(words_[0]);
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
}

TEST_F(TenantLoop, Launches) {
  const CUdeviceptr memory = allocate(4096);
  ASSERT_OK(cuMemsetD32(memory, 0, 1024));
  for (int time = 0; time < 200; ++time) ASSERT_OK(launch("increment", 4, 256, nullptr, memory, 1024));
  EXPECT_EQ(std::vector<unsigned>(1024, 200), download<unsigned>(memory, 1024));
}

TEST_F(TenantLoop, AProcessMayEndInOne) {
  EXPECT_EQ(0, run_case("other", "EndsByExit"));
  EXPECT_EQ(128 + SIGKILL, WEXITSTATUS(run_case("other", "EndsByASignal"))) << "as the shell reports it";
  EXPECT_EQ(0, run_case("other", "EndsByAFailure"));
  EXPECT_EQ(0, run_case("other", "Launches")) << "the tenant's next process";
}

TEST_F(TenantLoop, EndsByExit) {
  loop();
  std::exit(HasFailure() ? 1 : 0);
}

TEST_F(TenantLoop, EndsByASignal) {
  loop();
  if (HasFailure()) std::_Exit(1);
  ::kill(::getpid(), SIGKILL);
}

TEST_F(TenantLoop, EndsByAFailure) {
  ASSERT_OK(cuGraphLaunch(endless(graph_, word_, true), stream_));
  ASSERT_OK(cuMemsetD32Async(word_ + 4, 1, 1, stream_));
  EXPECT_NE(CUDA_SUCCESS, cuStreamSynchronize(stream_));
  EXPECT_NE(CUDA_SUCCESS, cuCtxSynchronize());
  EXPECT_EQ(1U, words_[0]);
  EXPECT_EQ(0U, words_[1]) << "what is behind the loop is not run";
  std::_Exit(HasFailure() ? 1 : 0);  // the process is faulty for good
}
