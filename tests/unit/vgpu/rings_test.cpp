// The worker's writes to the response ring, and its reading of any bytes in the request ring.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "runtime/ring/spsc_ring.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/ends/replies.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu {
namespace {

ring::Segment small_segment() {
  ring::SegmentSizes sizes;
  sizes.response_bytes = 4096;
  sizes.completion_slots = 1;
  sizes.arena_bytes = 4096;
  return std::move(ring::Segment::create(sizes)).value();
}

TEST(Replies, AReplyBeyondTheRingArrivesInPiecesWhileTheDeviceIsLookedAfter) {
  const ring::Segment segment = small_segment();
  int meanwhile = 0;
  wire::InfoReply sent;
  sent.value.resize(100'000);
  for (std::size_t i = 0; i < sent.value.size(); ++i) sent.value[i] = static_cast<std::byte>(i * 7 % 251);

  std::vector<std::byte> received;
  bool last = false;
  std::thread reader([&] {
    ring::RingConsumer responses(segment.responses());
    ring::SpinBudget budget;
    ring::RecordHeader header;
    std::span<const std::byte> payload;
    while (!last) {
      ring::wait(segment.header().reply_bell, budget, [&] { return responses.has_record(); });
      ASSERT_EQ(responses.peek(header, payload), ring::RingConsumer::Next::record);
      EXPECT_EQ(header.tag, 77U);
      last = header.opcode == wire::GetProgramInfo::opcode;
      EXPECT_TRUE(last || header.opcode == wire::kPartialReply);
      received.insert(received.end(), payload.begin(), payload.end());
      responses.pop();
      ring::ring(segment.header().room_bell);
    }
  });
  Replies replies(segment, [&] { ++meanwhile; });
  replies.send(wire::GetProgramInfo::opcode, 77, sent);
  reader.join();
  EXPECT_GT(meanwhile, 0);
  wire::InfoReply reply;
  ASSERT_TRUE(wire::decode(std::span<const std::byte>(received), reply));
  EXPECT_EQ(reply.value, sent.value);
}

TEST(Replies, AClosedSessionEndsTheWaitForRoom) {
  ring::Segment segment = small_segment();
  wire::InfoReply reply;
  reply.value.resize(100'000);
  Replies replies(segment, [&] { segment.close(); });
  replies.send(wire::GetProgramInfo::opcode, 1, reply);
  EXPECT_TRUE(segment.closed());
}

class DispatchTest : public ::testing::Test {
 protected:
  Result<void> dispatch_bytes(wire::Opcode opcode, std::size_t count) {
    return dispatch(backend, loop, replies, opcode, std::as_bytes(std::span(words)).first(count), 0);
  }
  template <class Call>
  Result<void> dispatch_call(const Call& call) {
    std::vector<std::uint64_t> memory(wire::encoded_size(call) / 8 + 1);
    wire::encode(call, reinterpret_cast<std::byte*>(memory.data()));
    return dispatch(backend, loop, replies, Call::opcode,
                    std::as_bytes(std::span(memory)).first(wire::encoded_size(call)), 0);
  }

  ring::Segment segment = small_segment();
  opencl::Driver driver;  // without devices: no call below reaches one
  Executor executor{segment, {}, {}};
  Executor::Loop& loop = loop_of(executor);
  opencl::Handlers backend{driver, segment, executor};
  Replies replies{segment, [] {}};
  std::array<std::uint64_t, 64> words{};
};

TEST_F(DispatchTest, UnknownOpcodesAreErrorsThatNameThem) {
  for (const int opcode : {0x0000, 0x0501, 0x07FF, 0x0800, 0x7FFE}) {
    const auto result = dispatch_bytes(static_cast<wire::Opcode>(opcode), 0);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find(fmt::format("{:#06x}", opcode)), std::string::npos);
  }
}

TEST_F(DispatchTest, MessagesOfTheWrongLengthAreErrors) {
  EXPECT_TRUE(dispatch_bytes(wire::Ping::opcode, 8));
  EXPECT_FALSE(dispatch_bytes(wire::Ping::opcode, 7));
  EXPECT_FALSE(dispatch_bytes(wire::Ping::opcode, 9));
  EXPECT_FALSE(dispatch_bytes(wire::EnqueueKernel::opcode, 16));
}

TEST_F(DispatchTest, IdsThatNameNothingAreErrorsThatNameTheCall) {
  const auto result = dispatch_call(wire::ReleaseObject{wire::ObjectId::make(3, 1)});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "ReleaseObject: 0x100000003 names no object");
  EXPECT_FALSE(dispatch_call(wire::FlushQueue{wire::ObjectId::make(3, 1)}));
  EXPECT_FALSE(dispatch_call(wire::GetDeviceInfo{0, 0x1000}));
  EXPECT_FALSE(dispatch_call(wire::GetPlatformInfo{7, 0x900}));
  EXPECT_FALSE(dispatch_call(wire::ReleaseEvent{wire::EventId::make(0, 1)}));
}

}  // namespace
}  // namespace fairgv::vgpu
