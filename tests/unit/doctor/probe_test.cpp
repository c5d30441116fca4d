// Work that may crash or hang runs in a process of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tools/fairgv/doctor/apart.hpp"
#include "tools/fairgv/doctor/library_probe.hpp"

namespace fairgv::tools::doctor {
namespace {

TEST(Apart, TellsWhatTheWorkSaidAndReturned) {
  const auto apart = run_apart([](int out) { return ::write(out, "a\nb\n", 4) == 4 ? 7 : 1; });
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart.value().said, "a\nb");
  EXPECT_EQ(apart.value().status, 7);
  EXPECT_EQ(apart.value().died, "");
}

TEST(Apart, TellsHowTheWorkDied) {
  const auto apart = run_apart([](int) { return ::raise(SIGKILL); });
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart.value().died, "was killed by signal 9 (Killed)");
}

TEST(Apart, EndsWorkThatDoesNot) {
  const auto apart = run_apart(
      [](int) {
        for (;;) ::pause();
        return 0;
      },
      std::chrono::milliseconds(1));
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart.value().died, "did not end within 1 ms");
}

TEST(LibraryProbe, TellsDriversFromOtherLibraries) {
  const OpenedLibrary driver = open_library(FAIRGV_ICD);
  EXPECT_EQ(driver.path, FAIRGV_ICD);
  EXPECT_TRUE(driver.is_opencl);
  const OpenedLibrary other = open_library("libm.so.6");
  EXPECT_TRUE(other.path.starts_with("/")) << other.path;
  EXPECT_FALSE(other.is_opencl);
}

TEST(LibraryProbe, SurvivesALibraryThatCrashes) {
  const OpenedLibrary crashing = open_library(FAIRGV_CRASHING_DRIVER);
  EXPECT_EQ(crashing.path, "");
  EXPECT_EQ(crashing.error, "a program that opens it was killed by signal 9 (Killed)");
}

TEST(LibraryProbe, SaysWhyALibraryCannotBeOpened) {
  const OpenedLibrary missing = open_library("libfairgv-none.so");
  EXPECT_EQ(missing.path, "");
  EXPECT_NE(missing.error.find("libfairgv-none.so"), std::string::npos) << missing.error;
}

}  // namespace
}  // namespace fairgv::tools::doctor
