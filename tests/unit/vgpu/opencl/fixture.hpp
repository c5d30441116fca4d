// The worker on the machine's real OpenCL driver, in a thread of this process, called through the client's
// end of a real session. The test plays the dispatcher: it grants every turn that the worker asks for.
#pragma once

#include <CL/cl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/session/client/client.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"
#include "runtime/vgpu/worker.hpp"

namespace fairgv::vgpu {

using session::TurnState;
using wire::EventId;
using wire::ObjectId;

inline constexpr const char* kSource = R"(
  __kernel void scale(__global float* values, float factor) {
    values[get_global_id(0)] *= factor;
  }
  __attribute__((reqd_work_group_size(4, 1, 1)))
  __kernel void sum(__global const float* a, __global const float* b, __global float* c, __local float* scratch) {
    size_t i = get_global_id(0);
    scratch[get_local_id(0)] = a[i] + b[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    c[i] = scratch[get_local_id(0)];
  }
)";

class OpenClTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const wire::DeviceIndex devices[] = {0};
    client.send(wire::CreateContext{context, devices});
    queue = make_queue(0);
  }

  ~OpenClTest() override {
    segment.close();
    loop.join();
  }

  // ---- the worker's side

  /// How the launches of the tests of a suite are cut: set before each is set up.
  static inline SlicingSettings cut_as{};

  IssueSettings settings() {
    IssueSettings settings;
    settings.slicing = cut_as;
    settings.turn.slice = std::chrono::milliseconds(6);
    settings.knock = [this](wire::DeviceIndex device) {
      if (grants) grant(device);
      return true;
    };
    return settings;
  }
  /// If the worker asks for the device's turn.
  void grant(wire::DeviceIndex device) {
    session::DeviceTurn& turn = turns.devices[device];
    if (turn.state.load() == static_cast<std::uint32_t>(TurnState::wanting))
      turn.slice_ns.store(slice_ns.load());
    auto wanting = static_cast<std::uint32_t>(TurnState::wanting);
    if (turn.state.compare_exchange_strong(wanting, static_cast<std::uint32_t>(TurnState::held)))
      ring::ring(segment.header().worker_bell);
  }

  // ---- the client's side

  ObjectId make_queue(cl_command_queue_properties properties) {
    const ObjectId id = client.new_object();
    client.send(wire::CreateQueue{id, context, 0, properties});
    return id;
  }
  ObjectId make_buffer(std::uint64_t bytes, wire::ArenaRange initial = {}) {
    const ObjectId id = client.new_object();
    client.send(wire::CreateBuffer{id, context, CL_MEM_READ_WRITE, bytes, initial});
    return id;
  }
  ObjectId make_buffer(const std::vector<float>& values) {
    const auto range = client.allocate(values.size() * sizeof(float)).value();
    std::memcpy(client.bytes(range), values.data(), range.bytes);
    const ObjectId id = make_buffer(range.bytes, range);
    client.free_when_consumed(range);
    return id;
  }
  std::int32_t build(ObjectId id, const std::string& source) {
    client.send(wire::CreateProgramWithSource{id, context, source});
    const EventId built = client.events().acquire();
    client.send(wire::BuildProgram{id, {}, "", "/", built});
    return end(built);
  }
  ObjectId make_kernel(const char* name) {
    if (!program) {
      program = client.new_object();
      EXPECT_EQ(build(*program, kSource), CL_SUCCESS);
    }
    const ObjectId id = client.new_object();
    client.send(wire::CreateKernel{id, *program, name});
    return id;
  }
  wire::Command on(ObjectId to, EventId completion = {}, std::span<const EventId> waits = {}) const {
    return {to, completion, waits};
  }
  /// scale(buffer, factor) on `count` values.
  void scale(ObjectId to, ObjectId kernel, ObjectId buffer, float factor, std::uint64_t count,
             EventId completion = {}, std::span<const EventId> waits = {}) {
    const wire::ArgumentUpdate updates[] = {{0, wire::ArgumentKind::memory, 0, buffer.raw},
                                            {1, wire::ArgumentKind::value, sizeof(factor), 0}};
    wire::EnqueueKernel call;
    call.command = on(to, completion, waits);
    call.kernel = kernel;
    call.dimensions = 1;
    call.global_size.x = count;
    call.updates = updates;
    call.values = std::as_bytes(std::span(&factor, 1));
    client.send(call);
  }
  /// A command buffer that fills 64 bytes with 2.5 and copies `bytes` bytes of them, in that order.
  ObjectId record_fill_and_copy(ObjectId copy, std::uint64_t bytes) {
    const ObjectId buffer = make_buffer(std::vector<float>(16, 1.0F));
    const ObjectId id = client.new_object();
    client.send(wire::CreateCommandBuffer{id, queue});
    const float value = 2.5F;
    client.send(wire::RecordFillBuffer{{{id, {}}, {{}, buffer, 0, 64, std::as_bytes(std::span(&value, 1))}}});
    const std::uint32_t filled[] = {1};
    client.send(wire::RecordCopyBuffer{{{id, filled}, {{}, buffer, copy, 0, 0, bytes}}});
    return id;
  }
  std::int32_t finalize(ObjectId command_buffer) {
    const auto reply = client.call(wire::FinalizeCommandBuffer{command_buffer});
    EXPECT_TRUE(reply);
    return reply ? reply->error : CL_OUT_OF_RESOURCES;
  }
  std::int32_t end(EventId event) {
    const std::int32_t status = client.wait(event);
    client.release_event(event);
    return status;
  }
  /// Waits for the worker's end, and returns its reason.
  std::string end_of_session() {
    loop.join();
    loop = std::thread([] {});
    EXPECT_TRUE(broken);
    return broken ? broken->message : "";
  }
  std::int32_t finish(ObjectId of) {
    const EventId event = client.events().acquire();
    client.send(wire::EnqueueMarker{on(of, event)});
    return end(event);
  }
  std::vector<float> read(ObjectId buffer, std::size_t count) {
    const auto range = client.allocate(count * sizeof(float)).value();
    const EventId event = client.events().acquire();
    client.send(wire::EnqueueReadBuffer{on(queue, event), buffer, 0, range});
    EXPECT_EQ(end(event), CL_COMPLETE);
    std::vector<float> values(count);
    std::memcpy(values.data(), client.bytes(range), range.bytes);
    client.free(range);
    return values;
  }

  static ring::Segment make_segment() {
    ring::SegmentSizes sizes;
    sizes.arena_bytes = std::uint64_t{256} << 20;
    return std::move(ring::Segment::create(sizes)).value();
  }

  ring::Segment segment = make_segment();
  session::TurnPage turns;
  std::atomic<std::uint64_t> slice_ns{0};
  std::atomic<bool> grants{true};  // each turn at once; else grant() does
  opencl::Driver driver = std::move(opencl::Driver::open()).value();
  Executor executor{segment, std::span(turns.devices, driver.devices().size()), settings()};
  opencl::Handlers backend{driver, segment, executor};
  Worker worker{segment, executor, backend,
                driver.has_host_device() ? Processors::our_cpus : Processors::the_devices_own};
  const bool stands_in = [this] {
    if (driver.has_host_device()) executor.set_stand_in(&worker);
    return driver.has_host_device();
  }();
  std::optional<Error> broken;  // the worker's last error; read after `loop` has been joined
  std::thread loop{[this] {
    if (auto served = worker.run(); !served) broken = served.error();
  }};

  session::ClientSession client{std::move(ring::Segment::attach(UniqueFd(::dup(segment.fd())))).value(), {}};
  ObjectId context = client.new_object();
  ObjectId queue;
  std::optional<ObjectId> program;
};

}  // namespace fairgv::vgpu
