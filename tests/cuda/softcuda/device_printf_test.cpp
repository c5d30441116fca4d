// printf of kernels: formats and their packed arguments become the text that C would print.
#include "cuda-shim/softcuda/driver/launch/device_printf.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cuda-shim/softcuda/translate/runtime_block.hpp"

namespace {

using fairgv::cuda::soft::format_device_text;
using fairgv::cuda::soft::text_of_ring;
using fairgv::softcuda::PrintfRecord;

/// Arguments as a kernel packs them: each at its natural alignment.
class Packed {
 public:
  template <typename Value>
  Packed& add(Value value) {
    bytes_.resize((bytes_.size() + sizeof value - 1) / sizeof value * sizeof value);
    bytes_.resize(bytes_.size() + sizeof value);
    std::memcpy(bytes_.data() + bytes_.size() - sizeof value, &value, sizeof value);
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

TEST(SoftCudaPrintf, ConversionsAreThoseOfC) {
  const char* const word = "word";
  Packed packed;
  packed.add(-5)
      .add(7U)
      .add(255U)
      .add(1.5)
      .add(12345678901234LL)
      .add('z' + 0)
      .add(word)
      .add(6)
      .add(2.25)
      .add(std::uint64_t{0});
  EXPECT_EQ("-5|0007|0xff|1.500|12345678901234|z|  word|  2.25|(null)|%",
            format_device_text("%d|%04u|%#x|%.3f|%lld|%c|%6s|%*.2f|%s|%%", packed.bytes()));
  EXPECT_EQ("wo", format_device_text("%.2s", Packed().add(word).bytes()));
  EXPECT_EQ("0x10", format_device_text("%p", Packed().add(std::uint64_t{16}).bytes()));
  EXPECT_EQ("-1 18446744073709551615",
            format_device_text("%hd %lu", Packed().add(-1).add(UINT64_MAX).bytes()));
}

TEST(SoftCudaPrintf, WhatIsNotThereEndsTheTextQuietly) {
  EXPECT_EQ("a  b", format_device_text("a %d b", {}));
  EXPECT_EQ("a ", format_device_text("a %", {}));
  EXPECT_EQ("a ", format_device_text("a %ll", {}));
  EXPECT_EQ("%n", format_device_text("%n", Packed().add(std::uint64_t{8}).bytes()));
  EXPECT_EQ(4096U, format_device_text("%999999999999d", Packed().add(1).bytes()).size());
}

TEST(SoftCudaPrintf, RingIsReadUpToWhatDidNotFit) {
  alignas(8) std::byte ring[128] = {};
  const char* const format = "n=%d;";
  for (std::size_t at = 0; at < 3; ++at) {
    const PrintfRecord record{reinterpret_cast<std::uint64_t>(format), 4, 1};
    const int number = static_cast<int>(at);
    std::memcpy(ring + at * 24, &record, sizeof record);
    std::memcpy(ring + at * 24 + 16, &number, sizeof number);
  }
  EXPECT_EQ("n=0;n=1;n=2;", text_of_ring(ring, 72, sizeof ring));
  EXPECT_EQ("n=0;n=1;", text_of_ring(ring, 48, sizeof ring));
  EXPECT_EQ("n=0;n=1;n=2;", text_of_ring(ring, 1'000'000, sizeof ring));  // a record of zeros ends the text
  EXPECT_EQ("n=0;", text_of_ring(ring, 72, 40));
  EXPECT_EQ("", text_of_ring(ring, 0, sizeof ring));
}
