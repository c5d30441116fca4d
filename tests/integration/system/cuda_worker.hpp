// A session of the worker's CUDA back end whose client speaks the wire itself.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/session/client/client.hpp"
#include "runtime/wire/cuda_calls.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration::cuda_worker {

using namespace wire::cuda;

// CUDA's numbers (cuda.h), which this test reads without the toolkit.
inline constexpr int kOutOfMemory = 2;
inline constexpr int kNotFound = 500;
inline constexpr int kIllegalInstruction = 715;
inline constexpr int kSizeOfBlock = 0;  // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK

inline constexpr std::string_view kPtx = R"(.version 7.0
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

inline std::vector<std::uint32_t> numbers(std::size_t count) {
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
    const wire::EventId loaded = client->events().acquire();
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

  /// The status with which everything in the stream so far ends.
  std::int32_t finish(wire::ObjectId stream, std::vector<wire::EventId> waits = {}) {
    const wire::EventId done = client->events().acquire();
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

}  // namespace fairgv::integration::cuda_worker
