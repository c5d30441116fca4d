// The codec: encoded messages come back, and bytes that are no message are refused without harm.
#include <gtest/gtest.h>

#include <random>

#include "runtime/wire/calls.hpp"

namespace fairgv::wire {
namespace {

template <Message M>
std::vector<std::byte> encoded(const M& message) {
  std::vector<std::byte> bytes(encoded_size(message));
  encode(message, bytes.data());
  return bytes;
}

TEST(WireCodec, EveryKindOfFieldComesBack) {
  const EventId waits[] = {EventId::make(1, 7), EventId::make(2, 9)};
  const ArgumentUpdate updates[] = {{0, ArgumentKind::memory, 8, 42}, {3, ArgumentKind::value, 3, 0}};
  const std::byte values[] = {std::byte{1}, std::byte{2}, std::byte{3}};
  EnqueueKernel call;
  call.command = {ObjectId::make(5, 1), EventId::make(6, 2), waits};
  call.dimensions = 2;
  call.global_size = {64, 32, 1};
  call.updates = updates;
  call.values = values;

  const auto bytes = encoded(call);
  EnqueueKernel back;
  ASSERT_TRUE(decode(std::span<const std::byte>(bytes), back));
  EXPECT_EQ(back.command.queue, call.command.queue);
  EXPECT_EQ(back.command.completion, call.command.completion);
  ASSERT_EQ(back.command.wait_list.size(), 2u);
  EXPECT_EQ(back.command.wait_list[1], waits[1]);
  EXPECT_EQ(back.dimensions, 2u);
  EXPECT_EQ(back.global_size.y, 32u);
  ASSERT_EQ(back.updates.size(), 2u);
  EXPECT_EQ(back.updates[0].position, 42u);
  ASSERT_EQ(back.values.size(), 3u);
  EXPECT_EQ(back.values[2], std::byte{3});
}

TEST(WireCodec, NestedMessagesAndStringsComeBack) {
  KernelsReply reply;
  reply.kernels.push_back(
      {"saxpy", "reqd_work_group_size(64,1,1)", 2, 1, {{1, 2, 3, "float*", "x"}, {4, 5, 6, "int", "n"}}});
  reply.kernels.push_back({"empty", "", 0, 0, {}});
  const auto bytes = encoded(reply);
  KernelsReply back;
  ASSERT_TRUE(decode(std::span<const std::byte>(bytes), back));
  ASSERT_EQ(back.kernels.size(), 2u);
  EXPECT_EQ(back.kernels[0].arguments[1].type_name, "int");
  EXPECT_EQ(back.kernels[1].name, "empty");
}

TEST(WireCodec, EveryTruncationAndEveryExtraByteIsRefused) {
  KernelsReply reply;
  reply.kernels.push_back({"k", "a", 1, 1, {{1, 2, 3, "float", "x"}}});
  auto bytes = encoded(reply);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    KernelsReply back;
    EXPECT_FALSE(decode(std::span<const std::byte>(bytes.data(), length), back)) << "length " << length;
  }
  bytes.push_back(std::byte{0});
  KernelsReply back;
  EXPECT_FALSE(decode(std::span<const std::byte>(bytes), back));
}

TEST(WireCodec, HugeCountsAllocateNothing) {
  std::vector<std::byte> bytes(16, std::byte{0xFF});
  KernelsReply kernels;
  EXPECT_FALSE(decode(std::span<const std::byte>(bytes), kernels));
  InfoReply info;
  EXPECT_FALSE(decode(std::span<const std::byte>(bytes), info));
}

TEST(WireCodec, RandomBytesNeverHarm) {
  const auto seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(random() % 256);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    KernelsReply kernels;
    EnqueueKernel kernel;
    const bool first = decode(std::span<const std::byte>(bytes), kernels);
    const bool second = decode(std::span<const std::byte>(bytes), kernel);
    // An accepted text is a message: encoding it again gives as many bytes.
    if (first) {
      EXPECT_EQ(encoded_size(kernels), bytes.size()) << "seed " << seed;
    }
    if (second) {
      EXPECT_EQ(encoded_size(kernel), bytes.size()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace fairgv::wire
