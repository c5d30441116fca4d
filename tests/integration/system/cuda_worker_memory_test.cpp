// The worker's CUDA back end: device memory, its quota, and pages of the arena.
#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/system/cuda_worker.hpp"

namespace fairgv::integration::cuda_worker {
namespace {

TEST_F(CudaWorker, FreesInTheOrderOfAStream) {
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  constexpr std::uint32_t kCount = 10'000;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t data = allocate(kCount * 4);
    ASSERT_NE(data, 0U);
    write(legacy, data, numbers(kCount));
    scale(legacy, data, kCount, 1);
    client->send(EnqueueFreeMemory{{legacy, {}, {}}, data});
  }
  EXPECT_EQ(finish(legacy), session::kComplete);
  EXPECT_EQ(client->late_error(), 0U);
}

TEST_F(CudaWorker, RefusesMemoryBeyondTheQuota) {
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  const std::uint64_t most = allocate(48 * kMiB);
  ASSERT_NE(most, 0U);
  const auto refused = client->call(AllocateMemory{context, 32 * kMiB, 0, 0});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, kOutOfMemory);
  EXPECT_LE(client->call(GetMemoryInfo{context})->free, 16 * kMiB);
  client->send(FreeMemory{context, most});
  EXPECT_NE(allocate(32 * kMiB), 0U);
}

TEST_F(CudaWorker, ChargesAMipmapWithAllItsLevels) {
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  constexpr std::uint32_t kFloat = 0x20;  // CU_AD_FORMAT_FLOAT
  const auto make = [&](std::uint64_t extent, std::uint32_t levels) {
    const wire::ObjectId id = client->new_object();
    const auto reply = client->call(CreateMipmap{id, context, extent, extent, 0, kFloat, 1, 0, levels});
    EXPECT_TRUE(reply);
    return std::pair(id, reply ? reply->code : -1);
  };
  EXPECT_EQ(make(3700, 12).second, kOutOfMemory) << "52 MiB, and 17 of the other levels";
  const auto [mipmap, code] = make(2048, 12);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(make(3072, 1).second, 0) << "36 MiB beside 21";
  // A size beyond 64 bits is refused, not wrapped around.
  EXPECT_EQ(make(~std::uint64_t{0}, 1).second, kOutOfMemory);
  const wire::ObjectId level = client->new_object();
  client->send(NameLevel{level, mipmap, 11});
  EXPECT_TRUE(client->call(wire::Ping{})) << "the last level has a name";
}

TEST_F(CudaWorker, EndsASessionWhoseMipmapsAreWrong) {
  constexpr std::uint32_t kFloat = 0x20;
  const auto make = [&](std::uint32_t levels) {
    const wire::ObjectId id = client->new_object();
    const auto reply = client->call(CreateMipmap{id, context, 8, 8, 0, kFloat, 1, 0, levels});
    return reply && reply->code == 0 ? id : wire::ObjectId{};
  };
  const std::vector<std::function<void()>> lies{
      [&] { make(0); },
      [&] { make(5); },  // of four
      [&] { make(~0U); },
      [&] {
        client->send(NameLevel{client->new_object(), make(4), 4});
      },
      [&] {
        client->send(NameLevel{client->new_object(), context, 0});
      },
      [&] {
        const wire::ObjectId mipmap = make(4);
        client->send(NameLevel{mipmap, mipmap, 0});  // a name that is taken
      },
      [&] {
        CreateTexture call;
        call.id = client->new_object();
        call.context = context;
        call.memory.kind = 1;  // CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
        call.memory.address = legacy.raw;
        client->call(call);
      },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(connect("liar", {}));
    lies[i]();
    EXPECT_TRUE(is_over());
  }
}

/// A process that has waited may tell another process of the tenant that memory is free now.
TEST_F(CudaWorker, MemoryThatAStreamHasFreedIsThereForOtherProcessesOnceItHasSettled) {
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  auto first = std::move(client);
  const wire::ObjectId first_context = context;
  const wire::ObjectId first_stream = legacy;
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  for (std::uint64_t round = 1; round <= 50; ++round) {
    const auto made = first->call(AllocateMemory{first_context, 48 * kMiB, 0, 0});
    ASSERT_TRUE(made && made->code == 0) << "round " << round;
    first->send(EnqueueFreeMemory{{first_stream, {}, {}}, made->address});
    const wire::EventId end = first->events().acquire();
    first->send(wire::EnqueueMarker{{first_stream, end, {}}});
    EXPECT_EQ(first->wait(end), session::kComplete);
    first->release_event(end);
    EXPECT_EQ(first->call(SettleFrees{})->freed, round);
    const std::uint64_t taken = allocate(48 * kMiB);
    ASSERT_NE(taken, 0U) << "round " << round;
    client->send(FreeMemory{context, taken});
    ASSERT_TRUE(client->call(GetMemoryInfo{context}));
  }
}

TEST_F(CudaWorker, ReportsWhenFreedMemoryIsBackAndWhenNoneIsToCome) {
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  const auto await = [&](std::uint64_t bytes) {
    const wire::EventId answer = client->events().acquire();
    client->send(wire::AwaitMemory{answer, 1, bytes});
    const std::int32_t outcome = client->wait(answer);
    client->release_event(answer);
    return outcome;
  };
  const std::uint64_t memory = allocate(48 * kMiB);
  ASSERT_NE(memory, 0U);
  EXPECT_EQ(await(32 * kMiB), wire::kNothingOnItsWay) << "nothing is freed";
  const wire::EventId gate = client->events().acquire();
  client->send(wire::CreateUserEvent{gate});
  const wire::EventId waits[] = {gate};
  client->send(EnqueueFreeMemory{{legacy, {}, waits}, memory});
  EXPECT_EQ(await(32 * kMiB), wire::kNothingOnItsWay) << "only the program can let it go on";
  client->send(wire::SetUserEventStatus{gate, session::kComplete});
  EXPECT_EQ(await(32 * kMiB), session::kComplete);
  EXPECT_NE(allocate(32 * kMiB), 0U);
  EXPECT_EQ(await(65 * kMiB), wire::kNothingOnItsWay) << "more than there will ever be";
  client->send(wire::AwaitMemory{gate, 1, 1});
  EXPECT_TRUE(is_over()) << "the event is in use";
}

TEST_F(CudaWorker, EndsASessionThatWaitsForMemoryOfUnknownDevices) {
  client->send(wire::AwaitMemory{client->events().acquire(), std::uint64_t{1} << 63, 1});
  EXPECT_TRUE(is_over());
}

TEST_F(CudaWorker, LooksAtAWordOfTheArenaUntilItPassesTheTest) {
  const auto range = client->allocate(8);
  ASSERT_TRUE(range);
  std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(client->bytes(*range)));
  word.store(0);
  const wire::ObjectId stream = make_stream(StreamKind::non_blocking);
  WaitForWord wait{{stream, {}, {}}, Space::arena, Comparison::equal, range->offset, 7, 8};
  client->send(wait);
  const wire::EventId end = client->events().acquire();
  client->send(wire::EnqueueMarker{{stream, end, {}}});
  EXPECT_EQ(finish(legacy), session::kComplete) << "another stream goes on";
  EXPECT_GT(client->events().status(end), session::kComplete);
  word.store(7);
  EXPECT_EQ(client->wait(end), session::kComplete);
  client->release_event(end);
  // A front end that ends the wait itself has done so, and the worker does not end it again.
  wait.command.completion = client->events().acquire();
  wait.value = 8;
  client->send(wait);
  EXPECT_TRUE(
      eventually([&] { return client->events().status(wait.command.completion) == session::kRunning; }));
  client->send(wire::EndAccess{wait.command.completion});
  EXPECT_EQ(client->wait(wait.command.completion), session::kComplete);
  word.store(8);
  wait.command.completion = {};
  client->send(wait);
  EXPECT_EQ(finish(stream), session::kComplete);
  EXPECT_EQ(client->late_error(), 0U);
}

TEST_F(CudaWorker, GivesUpTheWaitsOfAStreamAndWhatIsBehindThem) {
  const std::uint64_t memory = allocate(8);
  write(legacy, memory, std::vector<std::uint32_t>{1, 2});
  ASSERT_EQ(finish(legacy), session::kComplete);
  const wire::ObjectId stream = make_stream(StreamKind::non_blocking);
  client->send(WaitForWord{{stream, {}, {}}, Space::device, Comparison::equal, memory, 5, 4});
  const wire::EventId end = client->events().acquire();
  client->send(WriteWord{{stream, end, {}}, memory + 4, 6, 4});
  client->send(GiveUpWaits{stream});
  EXPECT_LT(client->wait(end), 0);
  client->release_event(end);
  EXPECT_EQ(read(legacy, memory, 2), (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(CudaWorker, AWaitEndsInAnErrorWhereTheDriverCannotReadTheWord) {
  const wire::ObjectId stream = make_stream(StreamKind::non_blocking);
  // The marker is behind the wait before the wait has its turn: what comes later finds the stream empty.
  const wire::EventId gate = client->events().acquire();
  client->send(wire::CreateUserEvent{gate});
  const wire::EventId waits[] = {gate};
  client->send(WaitForWord{{stream, {}, waits}, Space::device, Comparison::equal, 64, 5, 4});
  const wire::EventId end = client->events().acquire();
  client->send(wire::EnqueueMarker{{stream, end, {}}});
  client->send(wire::SetUserEventStatus{gate, session::kComplete});
  EXPECT_LT(client->wait(end), 0);
  EXPECT_NE(client->late_error(), 0U);
}

TEST_F(CudaWorker, EndsASessionWhoseWordsAreWrong) {
  const std::uint64_t arena = client->segment().arena().size();
  const auto wrong = [&](Space space, Comparison comparison, std::uint64_t address, std::uint32_t bytes) {
    SCOPED_TRACE(address);
    client->send(WaitForWord{{legacy, {}, {}}, space, comparison, address, 0, bytes});
    EXPECT_TRUE(is_over());
    connect("alice", {});
  };
  wrong(Space::arena, Comparison::equal, arena, 4);
  wrong(Space::arena, Comparison::equal, UINT64_MAX - 7, 8);
  wrong(Space::arena, Comparison::equal, 4, 8);
  wrong(Space::array, Comparison::equal, 0, 4);
  wrong(Space::device, static_cast<Comparison>(4), 4096, 4);
  wrong(Space::device, Comparison::equal, 4096, 2);
  client->send(WriteWord{{legacy, {}, {}}, 4096, 0, 16});
  EXPECT_TRUE(is_over());
}

TEST_F(CudaWorker, PinsPagesOfTheArenaOnce) {
  const auto range = client->allocate(8 * kMiB);
  ASSERT_TRUE(range);
  const std::uint64_t offset = (range->offset + 4095) / 4096 * 4096;
  const auto pinned = client->call(PinArena{context, {offset, 4 * kMiB}});
  ASSERT_TRUE(pinned);
  ASSERT_EQ(pinned->code, 0);
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  auto* const values = reinterpret_cast<std::uint32_t*>(client->segment().arena().data() + offset);
  for (std::uint32_t i = 0; i < 1000; ++i) values[i] = i;
  scale(legacy, pinned->address, 1000, 4);
  ASSERT_EQ(finish(legacy), session::kComplete);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(values[i], 5 * i);
  client->send(UnpinArena{offset});
  EXPECT_TRUE(client->call(wire::Ping{})) << "the session goes on";
}

}  // namespace
}  // namespace fairgv::integration::cuda_worker
