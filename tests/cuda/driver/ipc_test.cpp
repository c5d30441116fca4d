// Memory that another session has open is its maker's to pay, until nobody has it. Runs as a tenant that may
// hold 256 MiB (FAIRGV_MEM).
#include <csignal>
#include <string>

#include "softcuda/ipc/peer.hpp"

namespace {

class IpcRelease : public WithContext {
 protected:
  static constexpr std::size_t kMiB = std::size_t{1} << 20U;
  static constexpr std::size_t kMost = 160 * kMiB;  // twice is too much

  void SetUp() override {
    WithContext::SetUp();
    ASSERT_OK(cuMemAlloc(&memory_, kMost));
    CUipcMemHandle handle{};
    ASSERT_OK(cuIpcGetMemHandle(&handle, memory_));
    EXPECT_DONE(peer_.ask("open " + text_of(handle)));
  }
  static CUresult try_most() {
    CUdeviceptr more = 0;
    const CUresult code = cuMemAlloc(&more, kMost);
    return code == CUDA_SUCCESS ? cuMemFree(more) : code;
  }
  /// The other session's worker lets go by itself.
  static void wait_until_it_is_back() {
    while (try_most() == CUDA_ERROR_OUT_OF_MEMORY) {
    }
    EXPECT_OK(try_most());
  }

  CUdeviceptr memory_ = 0;
  Peer peer_;
};

TEST_F(IpcRelease, TheOpenerPaysNothing) {
  CUdeviceptr more = 0;
  EXPECT_OK(cuMemAlloc(&more, 64 * kMiB));
  EXPECT_OK(cuMemFree(more));
  EXPECT_DONE(peer_.ask("close"));
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, try_most()) << "the maker has it";
  EXPECT_OK(cuMemFree(memory_));
  wait_until_it_is_back();
}

TEST_F(IpcRelease, TheMakerPaysUntilTheOpenerCloses) {
  EXPECT_OK(cuMemFree(memory_));
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, try_most());
  EXPECT_DONE(peer_.ask("close"));
  wait_until_it_is_back();
}

TEST_F(IpcRelease, TheMakerPaysUntilTheOpenerDies) {
  EXPECT_OK(cuMemFree(memory_));
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, try_most());
  EXPECT_EQ(SIGKILL, WTERMSIG(peer_.end(SIGKILL)));
  wait_until_it_is_back();
}

}  // namespace
