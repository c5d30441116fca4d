// The driver's beginning and end: programs that leave without cleaning up, fork, close the library, or have
// no device.
#include <dlfcn.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "fixture.hpp"

namespace {

/// Exit status and output.
std::pair<int, std::string> run(const std::string& environment, const std::string& way) {
  // The same ways to end, over the driver that the tests run on.
  Dl_info driver{};
  EXPECT_NE(0, dladdr(reinterpret_cast<void*>(&cuInit), &driver));
  const std::string command = environment + " '" + std::string(FAIRGV_LIFE_PROGRAM) + "' '" +
                              driver.dli_fname + "' '" + file_path("kernels.ptx") + "' " + way + " 2>&1";
  FILE* const output = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) text += line.data();
  const int status = pclose(output);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

}  // namespace

TEST(SoftCudaLife, ProcessMayEndInAnyWayWithWorkInFlight) {
  EXPECT_EQ((std::pair<int, std::string>{0, ""}), run("", "untouched"));
  for (const char* way : {"exit", "thread", "close", "wait", "loop"}) {
    EXPECT_EQ((std::pair<int, std::string>{0, "before: 3\nin exit: 4\n"}), run("", way)) << way;
  }
}

TEST(SoftCudaLife, AProcessMayBeKilledInALoopOfAGraph) {
  // The shell is replaced, so that it reports nothing; a signal is no exit status.
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ((std::pair<int, std::string>{-1, "before: 3\nloops\n"}), run("exec", "kill"));
}

TEST(SoftCudaLife, ForkedChildIsToldThatItHasNoDriver) {
  EXPECT_EQ((std::pair<int, std::string>{0, "before: 3\nchild: 0, parent: 0\nin exit: 4\n"}),
            run("", "fork"));
}

TEST(SoftCudaLife, MachineWithoutSuitableDeviceSaysSo) {
  if (is_tenant()) {
    const auto alone = run("FAIRGV_SOCKET=/nowhere", "exit");
    EXPECT_NE(std::string::npos, alone.second.find("start: 100\n")) << alone.second;
    EXPECT_NE(std::string::npos, alone.second.find("/nowhere")) << alone.second;
    return;
  }
  EXPECT_EQ((std::pair<int, std::string>{1, "before: 3\nstart: 100\nin exit: 3\n"}),
            run("FAIRGV_SOFTCUDA_PLATFORM=none-such", "exit"));
  const auto verbose = run("FAIRGV_SOFTCUDA_VERBOSE=1 FAIRGV_SOFTCUDA_PLATFORM=none-such", "exit");
  EXPECT_NE(std::string::npos, verbose.second.find("no OpenCL CPU device of a platform named 'none-such'"))
      << verbose.second;
}
