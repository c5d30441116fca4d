// Clients unlike the front end: a client of an older release, which reserves no memory, and clients that lie.
// The worker counts by itself.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include "runtime/base/socket.hpp"
#include "runtime/session/client/client.hpp"
#include "runtime/session/protocol.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct RawClient : System {
  /// A session of alice's, with a limit of 64 MiB.
  void connect(std::uint64_t features) {
    auto socket = Socket::connect(tenancy->socket());
    ASSERT_TRUE(socket);
    session::Hello hello;
    hello.features = features;
    hello.tenant = "alice";
    hello.memory = MemorySize{64 * kMiB};
    ASSERT_TRUE(socket->send(to_text(hello)));
    auto packet = socket->receive();
    ASSERT_TRUE(packet && packet->fds.size() == 1);
    const auto answer = session::parse_hello_answer(packet->text);
    ASSERT_TRUE(answer);
    welcome = std::get<session::Welcome>(answer.value());
    auto segment = ring::Segment::attach(std::move(packet->fds[0]));
    ASSERT_TRUE(segment);
    client.emplace(std::move(segment).value(), socket->release());
    const wire::DeviceIndex devices[] = {0};
    context = client->new_object();
    client->send(wire::CreateContext{context, devices});
    queue = client->new_object();
    client->send(wire::CreateQueue{queue, context, 0, 0});
  }

  wire::ObjectId make_buffer(std::uint64_t bytes) {
    const wire::ObjectId buffer = client->new_object();
    client->send(wire::CreateBuffer{buffer, context, CL_MEM_READ_WRITE, bytes, {}});
    return buffer;
  }
  wire::ObjectId make_image(std::uint64_t side) {
    const wire::ObjectId image = client->new_object();
    const wire::ImageDescription shape{.channel_order = CL_RGBA,
                                       .channel_type = CL_UNSIGNED_INT8,
                                       .type = CL_MEM_OBJECT_IMAGE2D,
                                       .width = side,
                                       .height = side};
    client->send(wire::CreateImage{image, context, CL_MEM_READ_WRITE, shape, {}});
    return image;
  }
  /// The final status of a command that uses the buffer.
  std::int32_t use(wire::ObjectId buffer) {
    const wire::EventId done = client->events().acquire();
    wire::EnqueueFillBuffer fill;
    fill.command.queue = queue;
    fill.command.completion = done;
    fill.buffer = buffer;
    const std::uint32_t pattern = 0;
    fill.pattern = std::as_bytes(std::span(&pattern, 1));
    fill.bytes = sizeof(pattern);
    client->send(fill);
    return client->wait(done);
  }
  std::uint64_t used() { return tenant("alice")["memory_used"][0]; }
  /// Returns when everything sent so far has been handled.
  void settle() { ASSERT_TRUE(client->call(wire::Ping{})); }

  session::Welcome welcome;
  std::optional<session::ClientSession> client;
  wire::ObjectId context, queue;
};

TEST_F(RawClient, OfAnOlderReleaseIsChargedByTheWorker) {
  ASSERT_NO_FATAL_FAILURE(connect(0));
  EXPECT_TRUE(welcome.memory_limits.empty());
  const wire::ObjectId first = make_buffer(40 * kMiB);
  const wire::ObjectId image = make_image(1024);
  settle();
  EXPECT_EQ(used(), 44 * kMiB);
  EXPECT_EQ(use(first), CL_COMPLETE);

  const wire::ObjectId refused = make_buffer(20 * kMiB + 1);
  EXPECT_EQ(use(refused), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(used(), 44 * kMiB);
  client->release_object(refused);
  client->release_object(image);
  EXPECT_EQ(use(make_buffer(24 * kMiB)), CL_COMPLETE);
  EXPECT_EQ(used(), 64 * kMiB);
  client->release_object(first);
  EXPECT_TRUE(eventually([&] { return used() == 24 * kMiB; }));
  EXPECT_FALSE(client->lost());
}

TEST_F(RawClient, IsNotChargedForLongForWhatTheDriverRefuses) {
  ASSERT_NO_FATAL_FAILURE(connect(session::kMemoryQuota));
  ASSERT_TRUE(client->call(wire::ReserveMemory{1, kMiB, 0}));
  const wire::ObjectId refused = client->new_object();
  client->send(wire::CreateBuffer{refused, context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, kMiB, {}});
  EXPECT_LT(use(refused), 0);
  client->release_object(refused);
  EXPECT_TRUE(eventually([&] { return used() == 0; }));
  EXPECT_FALSE(client->lost());
}

TEST_F(RawClient, HasItsSessionClosedForMakingMoreThanItReserved) {
  ASSERT_NO_FATAL_FAILURE(connect(session::kMemoryQuota));
  ASSERT_EQ(welcome.memory_limits.at(0), 64 * kMiB);
  const auto granted = client->call(wire::ReserveMemory{1, kMiB, kMiB});
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->bytes, 2 * kMiB);
  make_buffer(2 * kMiB);
  settle();
  make_buffer(1);
  EXPECT_TRUE(eventually([&] { return client->lost(); }));
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
  // A worker's memory counts until the worker is gone, which may be after its session's end.
  EXPECT_TRUE(eventually([&] { return ps()["devices"][0]["memory_used"] == 0; }));
}

TEST_F(RawClient, HasItsSessionClosedForReturningMoreThanItHas) {
  ASSERT_NO_FATAL_FAILURE(connect(session::kMemoryQuota));
  ASSERT_TRUE(client->call(wire::ReserveMemory{1, kMiB, 0}));
  client->send(wire::ReturnMemory{1, kMiB});
  settle();
  EXPECT_EQ(used(), 0);
  client->send(wire::ReturnMemory{1, 1});
  EXPECT_TRUE(eventually([&] { return client->lost(); }));
}

TEST_F(RawClient, HasItsSessionClosedForDevicesThatThereAreNot) {
  ASSERT_NO_FATAL_FAILURE(connect(session::kMemoryQuota));
  EXPECT_FALSE(client->call(wire::ReserveMemory{std::uint64_t{1} << 62, 1, 0}));
  EXPECT_TRUE(client->lost());
}

TEST_F(RawClient, IsRefusedWhatNobodyHas) {
  ASSERT_NO_FATAL_FAILURE(connect(session::kMemoryQuota));
  for (const std::uint64_t bytes : {64 * kMiB + 1, ~std::uint64_t{0}}) {
    const auto granted = client->call(wire::ReserveMemory{1, bytes, bytes});
    ASSERT_TRUE(granted);
    EXPECT_EQ(granted->bytes, 0);
  }
  EXPECT_EQ(client->call(wire::GetMemoryLeft{0})->bytes, 64 * kMiB);
  EXPECT_EQ(used(), 0);
}

}  // namespace
}  // namespace fairgv::integration
