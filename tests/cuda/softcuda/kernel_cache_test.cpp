// The cache of compiled kernels: written entries can be read, damaged entries cannot, and the cache stays
// within its bound.
#include "cuda-shim/softcuda/driver/device/kernel_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "tests/harness/seed.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using fairgv::cuda::soft::KernelCache;
using Binary = std::vector<unsigned char>;

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) count += entry.is_regular_file() ? 1U : 0U;
  return count;
}

}  // namespace

class SoftCudaCache : public testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

 private:
  fairgv::harness::TemporaryFolder folder_;
};

TEST_F(SoftCudaCache, WhatIsWrittenIsReadAndNothingElse) {
  const KernelCache cache(folder() / "made" / "here");
  EXPECT_FALSE(cache.read("key").has_value());
  const Binary binary{1, 2, 3, 0, 255};
  cache.write("key", binary);
  EXPECT_EQ(binary, cache.read("key"));
  EXPECT_FALSE(cache.read("other").has_value());
  cache.write("key", Binary{9});
  EXPECT_EQ(Binary{9}, cache.read("key"));
  EXPECT_EQ(1U, files_in(folder() / "made" / "here"));  // nothing temporary stays
  EXPECT_EQ(fs::perms::owner_read | fs::perms::owner_write, fs::status(cache.file_of("key")).permissions());
}

TEST_F(SoftCudaCache, DamagedFileIsNotThereAndIsWrittenAnew) {
  std::mt19937_64 random(fairgv::harness::printed_seed());
  const KernelCache cache(folder());
  Binary binary(1000);
  for (auto& byte : binary) byte = static_cast<unsigned char>(random());
  cache.write("key", binary);
  const fs::path path = cache.file_of("key");
  const auto size = fs::file_size(path);
  for (int time = 0; time < 200; ++time) {
    SCOPED_TRACE(time);
    cache.write("key", binary);
    if (time % 4 == 0) {
      fs::resize_file(path, random() % size);
    } else if (time % 4 == 1) {
      fs::resize_file(path, size + 1 + random() % 100);
    } else {
      std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
      // Damages any byte except the reserved word of the header, which means nothing.
      std::uintmax_t at = random() % size;
      if (at >= 12 && at < 16) at = 0;
      file.seekg(static_cast<std::streamoff>(at));
      const char old = static_cast<char>(file.get());
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(old ^ static_cast<char>(1U << (random() % 8))));
    }
    ASSERT_FALSE(cache.read("key").has_value());
  }
  cache.write("key", binary);
  EXPECT_EQ(binary, cache.read("key"));
}

TEST_F(SoftCudaCache, FilesOfAnotherKeyUnderTheSameNameAreNotTaken) {
  const KernelCache cache(folder());
  cache.write("one", Binary{1});
  fs::copy_file(cache.file_of("one"), cache.file_of("two"));
  EXPECT_FALSE(cache.read("two").has_value());
}

TEST_F(SoftCudaCache, OldestUnusedFilesGoWhenTheBoundIsPassed) {
  const KernelCache cache(folder(), 5000);
  const auto age = [&cache](const std::string& key, int hours) {
    fs::last_write_time(cache.file_of(key), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (int number = 0; number < 4; ++number) {
    cache.write(std::to_string(number), Binary(1100, 'x'));
    age(std::to_string(number), 10 - number);
  }
  EXPECT_TRUE(cache.read("0").has_value());  // used now
  cache.write("new", Binary(1100, 'x'));
  EXPECT_FALSE(cache.read("1").has_value());
  EXPECT_TRUE(cache.read("0").has_value());
  EXPECT_TRUE(cache.read("new").has_value());
}

TEST_F(SoftCudaCache, EnvironmentNamesItOrTurnsItOff) {
  setenv("FAIRGV_SOFTCUDA_CACHE", "off", 1);
  EXPECT_FALSE(KernelCache::of_environment().has_value());
  setenv("FAIRGV_SOFTCUDA_CACHE", folder().c_str(), 1);
  EXPECT_EQ(folder(), KernelCache::of_environment()->file_of("k").parent_path());
  unsetenv("FAIRGV_SOFTCUDA_CACHE");
  setenv("XDG_CACHE_HOME", folder().c_str(), 1);
  EXPECT_EQ(folder() / "fairgv" / "softcuda", KernelCache::of_environment()->file_of("k").parent_path());
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(SoftCudaCache, FolderThatCannotBeMadeIsOnlySlow) {
  const KernelCache cache("/proc/no/such/place");
  cache.write("key", Binary{1});
  EXPECT_FALSE(cache.read("key").has_value());
}
