// The worker's CUDA back end, asked by a client that speaks the wire itself: what the CUDA front end relies
// on, and what it never does.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <set>
#include <string>

#include "runtime/session/client/client.hpp"
#include "runtime/wire/cuda_calls.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

using namespace wire::cuda;

// CUDA's numbers (cuda.h), which this test reads without the toolkit.
constexpr int kOutOfMemory = 2;
constexpr int kNotFound = 500;
constexpr int kIllegalInstruction = 715;
constexpr int kSizeOfBlock = 0;  // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK

constexpr std::string_view kPtx = R"(.version 7.0
.target sm_75
.address_size 64
.global .align 4 .u32 counter;
// data[i] = data[i] * factor + i, for i below n
.visible .entry scale(.param .u64 data, .param .u32 n, .param .u32 factor)
{
  .reg .pred %p;
  .reg .b32 %r<9>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [factor];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p, %r6, %r1;
  @%p bra DONE;
  mul.wide.u32 %d2, %r6, 4;
  add.s64 %d3, %d1, %d2;
  ld.global.u32 %r7, [%d3];
  mad.lo.u32 %r8, %r7, %r2, %r6;
  st.global.u32 [%d3], %r8;
DONE:
  ret;
}
.visible .entry fail()
{
  trap;
  ret;
}
)";

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> list(count);
  std::iota(list.begin(), list.end(), 0U);
  return list;
}

struct CudaWorker : System {
  void SetUp() override {
    System::SetUp();
    ASSERT_NO_FATAL_FAILURE(connect("alice", {}));
  }

  void connect(const std::string& tenant, const std::string& memory) {
    session::ClientIdentity identity;
    identity.socket_path = tenancy->socket();
    identity.tenant = tenant;
    identity.slicing = session::parse_slicing_wish(slicing, "the test's").value();
    if (!memory.empty()) identity.memory = parse_memory_size(memory, "the test's").value();
    auto connected = session::ClientSession::connect(identity, session::Api::cuda);
    ASSERT_TRUE(connected) << connected.error().message;
    client = std::move(connected).value();
    const auto devices = client->call(GetDevices{});
    ASSERT_TRUE(devices);
    ASSERT_EQ(devices->code, 0);
    ASSERT_FALSE(devices->devices.empty());
    device = devices->devices.front();
    context = client->new_object();
    const auto made = client->call(CreateContext{context, 0, 1, 0});
    ASSERT_TRUE(made);
    ASSERT_EQ(made->code, 0);
    legacy = make_stream(StreamKind::legacy);
  }

  wire::ObjectId make_stream(StreamKind kind) {
    const wire::ObjectId stream = client->new_object();
    client->send(CreateStream{stream, context, kind, 0});
    return stream;
  }

  void load(std::string_view image) {
    module = client->new_object();
    const wire::EventId loaded = client->new_event();
    LoadModule load;
    load.id = module;
    load.context = context;
    load.completion = loaded;
    load.image = std::as_bytes(std::span(image));
    client->send(load);
    EXPECT_EQ(client->wait(loaded), session::kComplete);
    client->release_event(loaded);
  }
  FunctionReply find(std::string_view symbol) {
    function = client->new_object();
    auto found = client->call(GetFunction{function, module, symbol});
    EXPECT_TRUE(found) << "the session is lost";
    return found ? std::move(*found) : FunctionReply{.code = -1, .attributes = {}, .parameters = {}};
  }

  std::uint64_t allocate(std::uint64_t bytes) {
    const auto reply = client->call(AllocateMemory{context, bytes, 0, 0});
    return reply && reply->code == 0 ? reply->address : 0;
  }

  void copy(wire::ObjectId stream, Place from, Place to, std::uint64_t bytes) {
    Copy copy;
    copy.command.queue = stream;
    copy.from = from;
    copy.to = to;
    copy.extent = {bytes, 1, 1};
    client->send(copy);
  }
  void write(wire::ObjectId stream, std::uint64_t address, std::span<const std::uint32_t> values) {
    const auto range = client->allocate(values.size_bytes());
    ASSERT_TRUE(range);
    std::memcpy(client->bytes(*range), values.data(), values.size_bytes());
    copy(stream, {Space::arena, 0, range->offset}, {Space::device, 0, address}, values.size_bytes());
  }
  std::vector<std::uint32_t> read(wire::ObjectId stream, std::uint64_t address, std::size_t count) {
    std::vector<std::uint32_t> values(count);
    const std::uint64_t bytes = count * sizeof(values[0]);
    const auto range = client->allocate(bytes);
    if (!range) return {};
    copy(stream, {Space::device, 0, address}, {Space::arena, 0, range->offset}, bytes);
    EXPECT_EQ(finish(stream), session::kComplete);
    std::memcpy(values.data(), client->bytes(*range), bytes);
    client->free(*range);
    return values;
  }

  void scale(wire::ObjectId stream, std::uint64_t address, std::uint32_t count, std::uint32_t factor) {
    struct {
      std::uint64_t data;
      std::uint32_t n, factor;
    } const parameters{address, count, factor};
    Launch launch;
    launch.command.queue = stream;
    launch.function = function;
    launch.grid = {(count + 63) / 64, 1, 1};
    launch.block = {64, 1, 1};
    launch.parameters = std::as_bytes(std::span(&parameters, 1));
    client->send(launch);
  }

  /// How everything in the stream so far ends.
  std::int32_t finish(wire::ObjectId stream, std::vector<wire::EventId> waits = {}) {
    const wire::EventId done = client->new_event();
    client->send(wire::EnqueueMarker{{stream, done, waits}});
    const std::int32_t status = client->wait(done);
    client->release_event(done);
    return status;
  }

  /// Whether the worker has ended the session.
  bool is_over() {
    return eventually([&] { return client->lost(); });
  }

  std::string slicing;
  std::unique_ptr<session::ClientSession> client;
  DeviceFacts device;
  wire::ObjectId context, legacy, module, function;
};

TEST_F(CudaWorker, CopiesLaunchesAndAnswersWhatTheDriverKnows) {
  load(kPtx);
  EXPECT_EQ(client->call(GetModule{module})->code, 0);
  const FunctionReply found = find("scale");
  ASSERT_EQ(found.code, 0);
  ASSERT_EQ(found.parameters.size(), 3U) << "the hidden one is not the program's";
  EXPECT_EQ(found.parameters[1].offset, 8U);
  EXPECT_EQ(found.parameters[2].bytes, 4U);
  EXPECT_GT(found.attributes.at(kSizeOfBlock), 0);
  EXPECT_FALSE(device.name.empty());
  EXPECT_GT(device.memory, 0U);

  constexpr std::uint32_t kCount = 100'000;
  const std::uint64_t data = allocate(kCount * 4);
  ASSERT_NE(data, 0U);
  write(legacy, data, numbers(kCount));
  scale(legacy, data, kCount, 3);
  const auto result = read(legacy, data, kCount);
  for (std::uint32_t i = 0; i < kCount; i += 997) ASSERT_EQ(result[i], 4 * i);
  EXPECT_EQ(wire::cuda::AddressReply(*client->call(GetGlobal{module, "counter"})).bytes, 4U);
  client->send(FreeMemory{context, data});
  EXPECT_EQ(client->late_error(), 0U);
}

TEST_F(CudaWorker, CutsLaunchesAtRandomAndNothingChanges) {
  slicing = "random:7";
  ASSERT_NO_FATAL_FAILURE(connect("bob", {}));
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  constexpr std::uint32_t kCount = 50'000;
  const std::uint64_t data = allocate(kCount * 4);
  write(legacy, data, numbers(kCount));
  for (int i = 0; i < 5; ++i) scale(legacy, data, kCount, 2);
  const auto result = read(legacy, data, kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(result[i], 63 * i);
}

TEST_F(CudaWorker, DoesNotNameTheFunctionsThatRunParts) {
  load(kPtx);
  const auto reply = client->call(GetFunctionNames{module});
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->code, 0);
  std::set<std::string> names;
  for (auto at = reply->names.begin(); at != reply->names.end();) {
    const auto end = std::find(at, reply->names.end(), '\0');
    names.emplace(at, end);
    at = end == reply->names.end() ? end : end + 1;
  }
  EXPECT_EQ(names, (std::set<std::string>{"fail", "scale"}));
  EXPECT_EQ(find("fairgv_part_of_scale").code, 0) << "there is no such function, and nothing was tested";
}

TEST_F(CudaWorker, OrdersTheDefaultStreamAmongTheBlockingOnes) {
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  const wire::ObjectId first = make_stream(StreamKind::blocking);
  const wire::ObjectId second = make_stream(StreamKind::blocking);
  constexpr std::uint32_t kCount = 200'000;
  const std::uint64_t data = allocate(kCount * 4);
  write(legacy, data, numbers(kCount));
  scale(first, data, kCount, 1);   // 2 i
  scale(legacy, data, kCount, 2);  // 5 i
  scale(second, data, kCount, 3);  // 16 i
  const auto result = read(legacy, data, kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(result[i], 16 * i);
}

TEST_F(CudaWorker, WaitsForTheProgramsOwnWorkInOneStreamAndNotInAnother) {
  const wire::ObjectId other = make_stream(StreamKind::non_blocking);
  const wire::EventId work = client->new_event();
  client->send(wire::EnqueueHostWork{{legacy, work, {}}});
  const wire::EventId behind = client->new_event();
  client->send(wire::EnqueueMarker{{legacy, behind, {}}});
  EXPECT_EQ(finish(other), session::kComplete);
  EXPECT_EQ(client->wait_for_grant(work), session::kRunning);
  EXPECT_EQ(client->status(behind), session::kQueued);
  client->send(wire::EndAccess{work});
  EXPECT_EQ(client->wait(behind), session::kComplete);
  EXPECT_GE(client->times(behind).ended, client->times(work).ended);
  EXPECT_NE(client->times(behind).ended, 0U) << "records of events have a time";
}

TEST_F(CudaWorker, AReleasedDefaultStreamMayBeFollowedByAnotherWhileItsWorkIsUnderWay) {
  const wire::ObjectId blocking = make_stream(StreamKind::blocking);
  const wire::EventId work = client->new_event();
  client->send(wire::EnqueueHostWork{{legacy, work, {}}});
  write(legacy, allocate(sizeof(std::uint32_t)), numbers(1));
  client->send(wire::ReleaseObject{legacy});
  legacy = make_stream(StreamKind::legacy);
  EXPECT_EQ(client->wait_for_grant(work), session::kRunning);
  std::vector<wire::EventId> later;
  for (const wire::ObjectId stream : {blocking, legacy}) {
    later.push_back(client->new_event());
    client->send(wire::EnqueueMarker{{stream, later.back(), {}}});
  }
  ASSERT_TRUE(client->call(wire::Ping{})) << "the session is lost";
  for (const wire::EventId event : later) EXPECT_EQ(client->status(event), session::kQueued);
  client->send(wire::EndAccess{work});
  for (const wire::EventId event : later) EXPECT_EQ(client->wait(event), session::kComplete);
}

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

/// Whoever has waited may tell another process of the tenant that there is memory now.
TEST_F(CudaWorker, WhatAStreamHasFreedIsThereForOtherProcessesOnceItIsSettled) {
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  auto first = std::move(client);
  const wire::ObjectId first_context = context;
  const wire::ObjectId first_stream = legacy;
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  for (std::uint64_t round = 1; round <= 50; ++round) {
    const auto made = first->call(AllocateMemory{first_context, 48 * kMiB, 0, 0});
    ASSERT_TRUE(made && made->code == 0) << "round " << round;
    first->send(EnqueueFreeMemory{{first_stream, {}, {}}, made->address});
    const wire::EventId end = first->new_event();
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

TEST_F(CudaWorker, TellsWhenFreedMemoryIsBackAndWhenNothingIsToCome) {
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  const auto await = [&](std::uint64_t bytes) {
    const wire::EventId answer = client->new_event();
    client->send(wire::AwaitMemory{answer, 1, bytes});
    const std::int32_t outcome = client->wait(answer);
    client->release_event(answer);
    return outcome;
  };
  const std::uint64_t memory = allocate(48 * kMiB);
  ASSERT_NE(memory, 0U);
  EXPECT_EQ(await(32 * kMiB), wire::kNothingOnItsWay) << "nothing is freed";
  const wire::EventId gate = client->new_event();
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

TEST_F(CudaWorker, EndsASessionThatWaitsForMemoryOfDevicesThatThereAreNot) {
  client->send(wire::AwaitMemory{client->new_event(), std::uint64_t{1} << 63, 1});
  EXPECT_TRUE(is_over());
}

TEST_F(CudaWorker, TellsWhatFailsInAModule) {
  load("this is no module");
  EXPECT_GT(client->call(GetModule{module})->code, 0);
  EXPECT_GT(find("scale").code, 0);
  load(kPtx);
  EXPECT_EQ(find("nothing").code, kNotFound);
}

TEST_F(CudaWorker, TellsLateWhatAKernelDid) {
  load(kPtx);
  ASSERT_EQ(find("fail").code, 0);
  Launch launch;
  launch.command.queue = legacy;
  launch.function = function;
  client->send(launch);
  finish(legacy);
  EXPECT_EQ(ring::LateError::code(client->late_error()), static_cast<std::uint32_t>(kIllegalInstruction));
  // It stays, and what follows does not run.
  launch.command.completion = client->new_event();
  client->send(launch);
  EXPECT_EQ(code_of(client->wait(launch.command.completion)), kIllegalInstruction);
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
  auto* const values = reinterpret_cast<std::uint32_t*>(client->arena().data() + offset);
  for (std::uint32_t i = 0; i < 1000; ++i) values[i] = i;
  scale(legacy, pinned->address, 1000, 4);
  ASSERT_EQ(finish(legacy), session::kComplete);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(values[i], 5 * i);
  client->send(UnpinArena{offset});
  EXPECT_TRUE(client->call(wire::Ping{})) << "the session goes on";
}

TEST_F(CudaWorker, EndsTheSessionOfWhoNamesWhatThereIsNot) {
  const std::vector<std::function<void()>> lies{
      [&] {
        client->send(FreeMemory{context, 0x1234});
      },
      [&] { scale(legacy, 0, 1, 1); },  // no function
      [&] {
        copy(legacy, {Space::arena, 0, ~std::uint64_t{0} - 8}, {Space::device, 0, 0}, 4096);
      },
      [&] {
        copy(context, {Space::device, 0, 0}, {Space::device, 0, 0}, 1);
      },
      [&] {
        client->send(CreateStream{client->new_object(), context, StreamKind::legacy, 0});
      },
      [&] { client->send(UnpinArena{0}); },
      [&] {
        client->send(wire::CreateContext{client->new_object(), {}});
      },  // OpenCL's
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(connect("liar", {}));
    lies[i]();
    EXPECT_TRUE(is_over());
  }
}

TEST_F(CudaWorker, SharesTheDeviceWithProgramsOfOpencl) {
  auto other = start_long_program("bob");
  ASSERT_TRUE(progresses(other));
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  constexpr std::uint32_t kCount = 100'000;
  const std::uint64_t data = allocate(kCount * 4);
  write(legacy, data, numbers(kCount));
  for (int i = 0; i < 200; ++i) scale(legacy, data, kCount, 1);
  EXPECT_EQ(read(legacy, data, kCount)[5], 5U * 201);
  EXPECT_TRUE(progresses(other));
  const auto report = ps();
  EXPECT_EQ(report["devices"].size(), 1U) << "one device for both APIs: " << report["devices"].dump();
  EXPECT_GT(tenant("alice")["device_time_ns"][0].get<std::uint64_t>(), 0U);
}

}  // namespace
}  // namespace fairgv::integration
