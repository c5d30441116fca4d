// The fatbin reader on the output of nvcc's tool, and on hostile changes of it.
#include "runtime/fatbin/fatbin.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/harness/seed.hpp"

namespace {

using fairgv::fatbin::fatbin_bytes;
using fairgv::fatbin::FatbinCompression;
using fairgv::fatbin::ptx_of_fatbin;
using fairgv::fatbin::read_fatbin;
using fairgv::fatbin::unpack;
using Bytes = std::vector<std::byte>;

std::span<const std::byte> span_of(const Bytes& bytes) {
  return bytes;
}

template <typename Value>
void put(Bytes& bytes, std::size_t offset, Value value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// A container of one stored PTX entry.
Bytes container_of(const std::string& text, std::uint32_t architecture) {
  Bytes bytes(16 + 64 + text.size());
  put(bytes, 0, fairgv::fatbin::kFatbinMagic);
  put(bytes, 4, std::uint16_t{1});
  put(bytes, 6, std::uint16_t{16});
  put(bytes, 8, std::uint64_t{64 + text.size()});
  put(bytes, 16, std::uint16_t{1});
  put(bytes, 18, std::uint16_t{0x101});
  put(bytes, 20, std::uint32_t{64});
  put(bytes, 24, std::uint64_t{text.size()});
  put(bytes, 44, architecture);
  std::memcpy(bytes.data() + 80, text.data(), text.size());
  return bytes;
}

#ifdef FAIRGV_TEST_FILES
Bytes file(const std::string& name) {
  std::ifstream stream(std::string(FAIRGV_TEST_FILES) + "/" + name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string text_file(const std::string& name) {
  const Bytes bytes = file(name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
#endif

}  // namespace

TEST(SoftCudaFatbin, HighestTargetThatTheDeviceHasIsTakenFromAllContainers) {
  Bytes bytes = container_of("first", 75);
  const Bytes second = container_of("second", 90);
  const Bytes third = container_of("third", 80);
  bytes.insert(bytes.end(), second.begin(), second.end());
  bytes.insert(bytes.end(), third.begin(), third.end());
  bytes.resize(bytes.size() + 12);  // padding behind the last entry
  struct Case {
    std::uint32_t capability;
    const char* text;
    std::uint32_t architecture;
  };
  for (const Case& each : {Case{80, "third", 80}, Case{89, "third", 80}, Case{90, "second", 90},
                           Case{120, "second", 90}, Case{75, "first", 75}, Case{0, "second", 90},
                           Case{70, "first", 75}}) {  // all are above it: the lowest
    SCOPED_TRACE(each.capability);
    const auto ptx = ptx_of_fatbin(bytes, each.capability);
    ASSERT_TRUE(ptx) << ptx.error().message;
    EXPECT_EQ(each.text, ptx->text);
    EXPECT_EQ(each.architecture, ptx->architecture);
  }
}

TEST(SoftCudaFatbin, EveryLengthIsChecked) {
  const Bytes good = container_of("a text", 75);
  EXPECT_TRUE(read_fatbin(good));
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_FALSE(read_fatbin(span_of(good).first(size))) << size;
  }
  struct Lie {
    std::size_t offset;
    std::uint64_t value;
    const char* what;
  };
  for (const Lie& lie : {Lie{0, 0, "magic"}, Lie{6, 0x1'0000'0000'0008U, "container header"},
                         Lie{8, UINT64_MAX, "container bytes"}, Lie{8, 100, "container bytes"},
                         Lie{20, 0x6'0000'003FU, "entry header"}, Lie{20, 0x6FFFFFFFFU, "entry header"},
                         Lie{24, UINT64_MAX, "payload"}, Lie{24, 7, "payload"}}) {
    Bytes bad = good;
    put(bad, lie.offset, lie.value);
    EXPECT_FALSE(read_fatbin(bad)) << lie.what;
  }
  EXPECT_FALSE(fatbin_bytes(span_of(good).first(15)).has_value());
}

TEST(SoftCudaFatbin, CompressedSizesAreNotBelieved) {
  for (const std::uint64_t flag : {0x2000U, 0x8000U, 0xA000U}) {
    Bytes bad = container_of("not compressed at all, but it says so", 75);
    put(bad, 32, std::uint32_t{20});
    put(bad, 56, flag);
    for (const std::uint64_t claimed :
         {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{1} << 28U, UINT64_MAX}) {
      put(bad, 72, claimed);
      const auto entries = read_fatbin(bad);
      ASSERT_TRUE(entries);
      EXPECT_FALSE(unpack(entries->at(0))) << flag << " " << claimed;
    }
    put(bad, 32, std::uint32_t{2000});
    EXPECT_FALSE(read_fatbin(bad));
  }
}

#ifdef FAIRGV_TEST_FILES

TEST(SoftCudaFatbin, WhatTheToolkitPacksIsUnpacked) {
  const std::string ptx = text_file("kernels.ptx");
  struct Kind {
    const char* name;
    FatbinCompression compression;
  };
  for (const Kind& kind :
       {Kind{"stored.fatbin", FatbinCompression::none}, Kind{"lz4.fatbin", FatbinCompression::lz4},
        Kind{"zstd.fatbin", FatbinCompression::zstd}}) {
    SCOPED_TRACE(kind.name);
    const Bytes bytes = file(kind.name);
    EXPECT_EQ(bytes.size(), fatbin_bytes(bytes));
    const auto entries = read_fatbin(bytes);
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(1U, entries->size());
    EXPECT_EQ(kind.compression, entries->at(0).compression);
    EXPECT_EQ(75U, entries->at(0).architecture);
    const auto found = ptx_of_fatbin(bytes, 80);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(found->text.has_value());
    // The tool drops comments or ends the text with a zero: the rest is the same.
    EXPECT_NE(std::string::npos, found->text->find(".visible .entry add("));
    EXPECT_EQ('\n', found->text->back());
  }
  const Bytes mixed = file("mixed.fatbin");
  ASSERT_TRUE(read_fatbin(mixed));
  EXPECT_EQ(2U, read_fatbin(mixed)->size());
  EXPECT_TRUE(ptx_of_fatbin(mixed, 80)->text.has_value());
  const auto machine_code = ptx_of_fatbin(file("machine_code.fatbin"), 80);
  ASSERT_TRUE(machine_code) << machine_code.error().message;
  EXPECT_FALSE(machine_code->text.has_value());
}

TEST(SoftCudaFatbin, RandomDamageIsAnErrorOrTextAndNeverMore) {
  std::mt19937_64 random(fairgv::harness::printed_seed());
  int refused = 0;
  for (const char* name : {"stored.fatbin", "lz4.fatbin", "zstd.fatbin", "mixed.fatbin"}) {
    const Bytes good = file(name);
    for (int time = 0; time < 300; ++time) {
      // Memory of exactly the image's size, so that AddressSanitizer sees a read one byte too far.
      Bytes bad(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(
                                                 time % 3 == 0 ? random() % (good.size() + 1) : good.size()));
      const bool header_only = time % 2 == 0;
      for (unsigned damage = 0; damage <= random() % 4 && !bad.empty(); ++damage) {
        const std::size_t reach = header_only ? std::min<std::size_t>(bad.size(), 100) : bad.size();
        bad[random() % reach] = static_cast<std::byte>(random());
      }
      const auto ptx = ptx_of_fatbin(bad, 80);
      if (!ptx) {
        ++refused;
        EXPECT_EQ(0U, ptx.error().message.find("the fatbin is damaged: "));
      }
    }
  }
  EXPECT_GT(refused, 200);
}

#endif
