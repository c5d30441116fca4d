// CUDA sessions that move, over the wire: all that the worker has of a session is the same in the next
// worker. The program of each test is the test, so that it says when the session moves, and what is pending
// then.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/integration/system/cuda_worker.hpp"

namespace fairgv::integration::cuda_worker {
namespace {

constexpr std::uint32_t kNumbers = 5'000;
constexpr std::uint32_t kReadWriteAccess = 3;

struct CudaMove : CudaWorker {
  pid_t worker() { return tenant("alice")["sessions"][0]["worker_pid"].get<pid_t>(); }

  /// Another worker serves from now on.
  void move() {
    const pid_t before = worker();
    const auto moved = fairgv({"migrate", "alice"});
    ASSERT_EQ(moved.status, 0) << joined(moved);
    EXPECT_NE(worker(), before);
  }
  /// Nobody has the session for a moment.
  void park() {
    const auto parked = fairgv({"park", "alice"});
    ASSERT_EQ(parked.status, 0) << joined(parked);
    const auto resumed = fairgv({"resume", "alice"});
    ASSERT_EQ(resumed.status, 0) << joined(resumed);
  }
  /// The line with which a move fails.
  std::string refusal() {
    const auto finished = harness::run({{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", harness::beside("fairgv"),
                                         "migrate", "alice", "--socket", tenancy->socket()},
                                        {}});
    EXPECT_TRUE(finished);
    EXPECT_EQ(finished->status, 1) << joined(finished.value());
    return joined(finished.value());
  }

  void load_scale() {
    load(kPtx);
    ASSERT_EQ(find("scale").code, 0);
  }
  std::uint64_t global() { return client->call(GetGlobal{module, "counter"})->address; }

  wire::EventId hold(wire::ObjectId stream) {
    const wire::EventId work = client->events().acquire();
    client->send(wire::EnqueueHostWork{{stream, work, {}}});
    EXPECT_EQ(client->wait_for_grant(work), session::kRunning);
    return work;
  }
};

TEST_F(CudaMove, KeepsMemoryModulesAndFunctions) {
  load_scale();
  const std::uint64_t data = allocate(kNumbers * 4);
  const std::uint64_t other = allocate(3);
  write(legacy, data, numbers(kNumbers));
  const std::uint64_t counter = global();
  write(legacy, counter, std::vector<std::uint32_t>{4711});
  std::uint32_t factor = 1;
  for (int round = 0; round < 3; ++round) {
    scale(legacy, data, kNumbers, 2);
    factor = 2 * factor + 1;
    ASSERT_NO_FATAL_FAILURE(round == 1 ? park() : move());
  }
  const auto result = read(legacy, data, kNumbers);
  for (std::uint32_t i = 0; i < kNumbers; ++i) ASSERT_EQ(result[i], factor * i);
  EXPECT_EQ(global(), counter);
  EXPECT_EQ(read(legacy, counter, 1)[0], 4711U);
  EXPECT_EQ(find("nothing").code, kNotFound);
  const std::uint64_t more = allocate(kNumbers * 4);
  EXPECT_NE(more, data);
  EXPECT_NE(more, other);
  client->send(FreeMemory{context, data});
  client->send(FreeMemory{context, other});
  EXPECT_EQ(client->late_error(), 0U);
}

TEST_F(CudaMove, KeepsCommandsThatWaitForTheProgram) {
  load_scale();
  const std::uint64_t data = allocate(kNumbers * 4);
  write(legacy, data, numbers(kNumbers));
  const wire::ObjectId side = make_stream(StreamKind::non_blocking);
  const wire::ObjectId blocking = make_stream(StreamKind::blocking);
  const wire::EventId work = hold(side);
  scale(side, data, kNumbers, 2);
  const wire::EventId scaled = client->events().acquire();
  client->send(wire::EnqueueMarker{{side, scaled, {}}});
  ASSERT_NO_FATAL_FAILURE(move());
  const wire::EventId waits[] = {scaled};
  client->send(wire::EnqueueMarker{{legacy, {}, waits}});
  scale(blocking, data, kNumbers, 3);
  ASSERT_NO_FATAL_FAILURE(move());
  ASSERT_NO_FATAL_FAILURE(park());
  ASSERT_TRUE(client->call(wire::Ping{}));
  EXPECT_NE(client->events().status(scaled), session::kComplete);
  client->send(wire::EndAccess{work});
  EXPECT_EQ(client->wait(scaled), session::kComplete);
  const auto result = read(blocking, data, kNumbers);
  for (std::uint32_t i = 0; i < kNumbers; ++i) ASSERT_EQ(result[i], 10 * i);
}

TEST_F(CudaMove, KeepsStreamsAndModulesThatOnlyCommandsUse) {
  load_scale();
  const std::uint64_t data = allocate(kNumbers * 4);
  write(legacy, data, numbers(kNumbers));
  EXPECT_EQ(finish(legacy), session::kComplete);
  const wire::ObjectId side = make_stream(StreamKind::non_blocking);
  const wire::EventId work = hold(side);
  scale(side, data, kNumbers, 2);
  const wire::EventId scaled = client->events().acquire();
  client->send(wire::EnqueueMarker{{side, scaled, {}}});
  for (const wire::ObjectId id : {side, function, module}) client->release_object(id);
  // In the places of the released objects.
  const wire::ObjectId other = make_stream(StreamKind::non_blocking);
  ASSERT_NO_FATAL_FAILURE(move());
  ASSERT_NO_FATAL_FAILURE(move());
  EXPECT_EQ(finish(other), session::kComplete);
  client->send(wire::EndAccess{work});
  EXPECT_EQ(client->wait(scaled), session::kComplete);
  EXPECT_EQ(read(other, data, kNumbers)[2], 6U);
}

TEST_F(CudaMove, ADefaultStreamThatFollowsAReleasedOneKeepsItsOrder) {
  load_scale();
  const std::uint64_t data = allocate(kNumbers * 4);
  write(legacy, data, numbers(kNumbers));
  EXPECT_EQ(finish(legacy), session::kComplete);
  const wire::EventId work = hold(legacy);
  scale(legacy, data, kNumbers, 2);
  client->release_object(legacy);
  legacy = make_stream(StreamKind::legacy);
  ASSERT_NO_FATAL_FAILURE(move());
  scale(legacy, data, kNumbers, 3);
  ASSERT_NO_FATAL_FAILURE(move());
  client->send(wire::EndAccess{work});
  EXPECT_EQ(read(legacy, data, kNumbers)[2], 20U);
}

TEST_F(CudaMove, KeepsWaitsForWords) {
  const std::uint64_t word = allocate(8);
  write(legacy, word, std::vector<std::uint32_t>{0, 0});
  EXPECT_EQ(finish(legacy), session::kComplete);
  const auto range = client->allocate(64);
  ASSERT_TRUE(range);
  std::memset(client->bytes(*range), 0, 64);
  const std::array<wire::ObjectId, 3> streams{make_stream(StreamKind::non_blocking),
                                              make_stream(StreamKind::non_blocking),
                                              make_stream(StreamKind::non_blocking)};
  std::array<wire::EventId, 3> ends;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    WaitForWord wait;
    wait.command.queue = streams[i];
    wait.space = i == 0 ? Space::device : Space::arena;
    wait.address = i == 0 ? word : range->offset + 8 * i;
    wait.value = 7;
    client->send(wait);
    ends[i] = client->events().acquire();
    client->send(wire::EnqueueMarker{{streams[i], ends[i], {}}});
  }
  ASSERT_NO_FATAL_FAILURE(move());
  store_word(client->bytes(*range) + 8, 4, 7);
  EXPECT_EQ(client->wait(ends[1]), session::kComplete);
  client->send(GiveUpWaits{streams[2]});
  EXPECT_LT(client->wait(ends[2]), 0);
  ASSERT_NO_FATAL_FAILURE(move());
  EXPECT_NE(client->events().status(ends[0]), session::kComplete);
  WriteWord write;
  write.command.queue = legacy;
  write.address = word;
  write.value = 8;
  client->send(write);
  EXPECT_EQ(client->wait(ends[0]), session::kComplete);
  // A stream that has given its waits up gives up the next one, too.
  WaitForWord late;
  late.command.queue = streams[2];
  late.command.completion = client->events().acquire();
  late.space = Space::arena;
  late.address = range->offset + 16;
  late.value = 7;
  client->send(late);
  EXPECT_LT(client->wait(late.command.completion), 0);
}

TEST_F(CudaMove, KeepsFreesInTheOrderOfAStream) {
  const std::uint64_t first = allocate(kMiB);
  const std::uint64_t second = allocate(kMiB);
  client->send(EnqueueFreeMemory{{legacy, {}, {}}, first});
  EXPECT_EQ(finish(legacy), session::kComplete);
  const wire::EventId work = hold(legacy);
  client->send(EnqueueFreeMemory{{legacy, {}, {}}, second});
  ASSERT_NO_FATAL_FAILURE(move());
  EXPECT_EQ(client->call(SettleFrees{})->freed, 1U);
  client->send(wire::EndAccess{work});
  EXPECT_EQ(finish(legacy), session::kComplete);
  ASSERT_NO_FATAL_FAILURE(move());
  EXPECT_EQ(client->call(SettleFrees{})->freed, 2U);
}

TEST_F(CudaMove, KeepsRangesAndPhysicalMemory) {
  load_scale();
  const std::uint64_t range = client->call(ReserveRange{16 * kMiB, 0, 0})->address;
  ASSERT_NE(range, 0U);
  std::array<std::uint64_t, 3> memory{};
  for (std::uint64_t& number : memory) number = client->call(CreatePhysical{0, 2 * kMiB})->number;
  const std::uint64_t step = 2 * kMiB;
  EXPECT_EQ(client->call(MapPhysical{memory[0], range, step})->code, 0);
  EXPECT_EQ(client->call(MapPhysical{memory[1], range + step, step})->code, 0);
  EXPECT_EQ(client->call(SetAccess{range, 2 * step, 0, kReadWriteAccess})->code, 0);
  client->send(ReleasePhysical{memory[0]});
  write(legacy, range, numbers(kNumbers));
  write(legacy, range + step, numbers(kNumbers));
  ASSERT_NO_FATAL_FAILURE(move());
  scale(legacy, range, kNumbers, 2);
  EXPECT_EQ(read(legacy, range, kNumbers)[7], 21U);
  EXPECT_EQ(client->call(UnmapRange{range + step, step})->code, 0);
  ASSERT_NO_FATAL_FAILURE(move());
  // Memory that is mapped nowhere has its contents all the same.
  EXPECT_EQ(client->call(MapPhysical{memory[1], range + 2 * step, step})->code, 0);
  EXPECT_EQ(client->call(SetAccess{range + 2 * step, step, 0, kReadWriteAccess})->code, 0);
  EXPECT_EQ(read(legacy, range + 2 * step, kNumbers)[7], 7U);
  EXPECT_EQ(client->call(CreatePhysical{0, step})->number, memory[2] + 1);
  EXPECT_EQ(read(legacy, range, kNumbers)[7], 21U);
}

TEST_F(CudaMove, KeepsPinnedMemory) {
  load_scale();
  const auto part = client->allocate(16 * 4096);
  ASSERT_TRUE(part);
  const auto pinned = client->call(PinArena{context, *part});
  ASSERT_EQ(pinned->code, 0);
  const auto numbers_there = numbers(kNumbers);
  std::memcpy(client->bytes(*part), numbers_there.data(), kNumbers * 4);
  ASSERT_NO_FATAL_FAILURE(move());
  scale(legacy, pinned->address, kNumbers, 4);
  EXPECT_EQ(finish(legacy), session::kComplete);
  std::uint32_t found = 0;
  std::memcpy(&found, client->bytes(*part) + 4 * 9, 4);
  EXPECT_EQ(found, 45U);
  client->send(UnpinArena{part->offset});
  EXPECT_EQ(client->call(PinArena{context, *part})->code, 0);
}

TEST_F(CudaMove, KeepsArraysTexturesAndSurfaces) {
  const wire::ObjectId array = client->new_object();
  ASSERT_EQ(client->call(CreateArray{array, context, 64, 4, 2, 0x03, 1, 0})->code, 0);  // u32
  const auto part = client->allocate(64 * 4 * 4 * 2);
  const auto values = numbers(64 * 4 * 2);
  std::memcpy(client->bytes(*part), values.data(), values.size() * 4);
  Copy copy;
  copy.command.queue = legacy;
  copy.from = {Space::arena, 0, part->offset, 64 * 4, 4};
  copy.to = {Space::array, 0, array.raw};
  copy.extent = {64 * 4, 4, 2};
  client->send(copy);
  const wire::ObjectId texture = client->new_object();
  CreateTexture call;
  call.id = texture;
  call.context = context;
  call.memory.address = array.raw;
  const auto made = client->call(call);
  ASSERT_EQ(made->code, 0);
  EXPECT_EQ(finish(legacy), session::kComplete);
  // Only the texture has it from now on.
  client->release_object(array);
  ASSERT_NO_FATAL_FAILURE(move());
  const wire::ObjectId next = client->new_object();
  ASSERT_EQ(client->call(CreateArray{next, context, 64, 4, 2, 0x03, 1, 0})->code, 0);
  ASSERT_NO_FATAL_FAILURE(move());
  call.id = client->new_object();
  call.memory.address = next.raw;
  EXPECT_NE(client->call(call)->handle, made->handle) << "the first one has that place";
}

TEST_F(CudaMove, CountsLateErrorsOn) {
  write(legacy, 8, numbers(1));  // there is no memory
  finish(legacy);
  const auto first = client->late_error();
  EXPECT_NE(first, 0U);
  ASSERT_NO_FATAL_FAILURE(move());
  EXPECT_EQ(client->late_error(), first);
  write(legacy, 8, numbers(1));
  finish(legacy);
  EXPECT_NE(client->late_error(), first) << "the second is another one";
}

TEST_F(CudaMove, ASessionWhoseDeviceHasFailedStaysWhereItIs) {
  load(kPtx);
  ASSERT_EQ(find("fail").code, 0);
  Launch launch;
  launch.command.queue = legacy;
  launch.function = function;
  client->send(launch);
  finish(legacy);
  EXPECT_NE(client->late_error(), 0U);
  EXPECT_NE(refusal().find("its device has failed for good"), std::string::npos);
}

TEST_F(CudaMove, ASessionThatLendsMemoryStaysWhereItIs) {
  const std::uint64_t data = allocate(kMiB);
  ASSERT_EQ(client->call(ExportMemory{data})->code, 0);
  EXPECT_NE(refusal().find("it shares memory with other processes"), std::string::npos);
  client->send(FreeMemory{context, data});
  move();
}

TEST_F(CudaMove, KeepsLimitsAndAttributes) {
  constexpr std::uint32_t kStack = 0;    // CU_LIMIT_STACK_SIZE
  constexpr std::uint32_t kHeap = 2;     // CU_LIMIT_MALLOC_HEAP_SIZE
  constexpr std::uint32_t kDynamic = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  load_scale();
  EXPECT_EQ(client->call(SetLimit{context, kStack, 4096})->code, 0);
  EXPECT_EQ(client->call(SetLimit{context, kHeap, kMiB})->code, 0);
  EXPECT_EQ(client->call(SetFunctionAttribute{function, kDynamic, 1234})->code, 0);
  ASSERT_NO_FATAL_FAILURE(move());
  EXPECT_EQ(client->call(GetLimit{context, kStack})->value, 4096U);
  EXPECT_EQ(client->call(GetLimit{context, kHeap})->value, kMiB);
  EXPECT_EQ(find("scale").attributes.at(kDynamic), 1234);
}

/// Over a driver that has no way to put memory at an address but virtual memory management.
struct CudaMoveByMappings : CudaMove {
  void SetUp() override {
    start_daemon("[cuda]\nlibrary = \"" FAIRGV_UNPLACED_DRIVER "\"\n");
    ASSERT_NO_FATAL_FAILURE(connect("alice", {}));
  }
  static std::string without_variables() {
    std::string text(kPtx);
    const std::string variable = ".global .align 4 .u32 counter;\n";
    return text.erase(text.find(variable), variable.size());
  }
};

TEST_F(CudaMoveByMappings, KeepsMemoryAtItsAddresses) {
  load(without_variables());
  ASSERT_EQ(find("scale").code, 0);
  const std::uint64_t small = allocate(4);
  const std::uint64_t data = allocate(kNumbers * 4);
  const std::uint64_t large = allocate(5 * kMiB);
  write(legacy, small, std::vector<std::uint32_t>{12});
  write(legacy, data, numbers(kNumbers));
  write(legacy, large + 4 * kMiB, numbers(kNumbers));
  ASSERT_NO_FATAL_FAILURE(move());
  scale(legacy, data, kNumbers, 2);
  client->send(FreeMemory{context, large});
  ASSERT_NO_FATAL_FAILURE(park());
  scale(legacy, data, kNumbers, 3);
  EXPECT_EQ(read(legacy, data, kNumbers)[5], 50U);
  EXPECT_EQ(read(legacy, small, 1)[0], 12U);
  client->send(FreeMemory{context, data});
  client->send(FreeMemory{context, small});
  EXPECT_EQ(client->late_error(), 0U);
}

TEST_F(CudaMoveByMappings, AModuleWithAddressesOfItsOwnKeepsTheSessionWhereItIs) {
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  EXPECT_NE(refusal().find("it has variables (counter), which lie where the driver puts them"),
            std::string::npos);
  client->release_object(function);
  client->release_object(module);
  ASSERT_TRUE(client->call(wire::Ping{}));
  move();
}

}  // namespace
}  // namespace fairgv::integration::cuda_worker
