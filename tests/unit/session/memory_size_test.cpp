// Amounts of memory as people write them.
#include <gtest/gtest.h>

#include <limits>

#include "runtime/base/memory_size.hpp"

namespace fairgv::session {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct Written {
  const char* text;
  MemorySize size;
};

TEST(MemorySizes, AreReadInBytesUnitsAndPerCent) {
  for (const auto& [text, size] :
       {Written{"0", {0}}, Written{"4096", {4096}}, Written{"3KiB", {3072}}, Written{"3K", {3072}},
        Written{"512MiB", {512 * kMiB}}, Written{"512M", {512 * kMiB}}, Written{"15GiB", {15 * 1024 * kMiB}},
        Written{"15G", {15 * 1024 * kMiB}}, Written{"1TiB", {1024 * 1024 * kMiB}},
        Written{"1T", {1024 * 1024 * kMiB}}, Written{"0%", {0, 0}}, Written{"25%", {0, 25}},
        Written{"100%", kWholeDevice}, Written{"18446744073709551615", {kLargest}}}) {
    const auto read = parse_memory_size(text, "--mem");
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read.value(), size) << text;
  }
}

TEST(MemorySizes, ThatAreNoneAreRefusedInOneLine) {
  for (const char* text : {"",
                           "MiB",
                           "-1",
                           "+1",
                           "1.5GiB",
                           "1 GiB",
                           "1GB",
                           "1gib",
                           "1PiB",
                           "101%",
                           "-1%",
                           "%",
                           "1%%",
                           "1B",
                           " 1",
                           "1 ",
                           "0x10",
                           "18446744073709551616",
                           "18014398509481984KiB",
                           "16777216TiB",
                           "4294967321%"}) {
    const auto read = parse_memory_size(text, "--mem");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message.find("--mem is '" + std::string(text) + "'"), 0) << read.error().message;
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(parse_memory_size("1\n\033[2J", "x").error().message.find_first_of("\n\033"), std::string::npos);
}

TEST(MemorySizes, OfNothingAreNoLimitForAProgram) {
  for (const char* text : {"0", "0%", "0MiB"}) {
    EXPECT_TRUE(parse_memory_size(text, "--mem")) << text;
    const auto limit = parse_memory_limit(text, "--mem");
    ASSERT_FALSE(limit) << text;
    EXPECT_EQ(limit.error().message.find("--mem is '" + std::string(text) + "', and without memory"), 0)
        << limit.error().message;
  }
  EXPECT_TRUE(parse_memory_limit("1%", "--mem"));
  EXPECT_FALSE(parse_memory_limit("lots", "--mem"));
}

TEST(MemorySizes, AreWrittenAsTheyAreRead) {
  for (const char* text : {"0", "1", "1023", "1KiB", "1025", "512MiB", "15GiB", "3TiB", "0%", "7%", "100%",
                           "18446744073709551615"}) {
    EXPECT_EQ(to_text(parse_memory_size(text, "").value()), text);
  }
  EXPECT_EQ(to_text(MemorySize{2048}), "2KiB");
}

TEST(MemorySizes, PerCentAreOfTheDevice) {
  EXPECT_EQ((MemorySize{0, 25}.of(1000)), 250);
  EXPECT_EQ((MemorySize{0, 33}.of(10)), 3);
  EXPECT_EQ((MemorySize{0, 50}.of(199)), 99);
  EXPECT_EQ((MemorySize{0, 0}.of(kLargest)), 0);
  EXPECT_EQ(kWholeDevice.of(kLargest), kLargest);
  EXPECT_EQ(kWholeDevice.of(12'345), 12'345);
  EXPECT_EQ((MemorySize{5000}.of(10)), 5000) << "bytes are bytes";
}

TEST(MemorySizes, AreShownRounded) {
  EXPECT_EQ(readable_bytes(0), "0 B");
  EXPECT_EQ(readable_bytes(1023), "1023 B");
  EXPECT_EQ(readable_bytes(1536), "1.5 KiB");
  EXPECT_EQ(readable_bytes(512 * kMiB), "512.0 MiB");
  EXPECT_EQ(readable_bytes(kLargest), "16777216.0 TiB");
}

}  // namespace
}  // namespace fairgv::session
