// A launch that runs in parts stops between two of them when its session moves, and goes on behind them.
#include <unistd.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "runtime/session/move/image.hpp"
#include "tests/unit/vgpu/opencl/moving_fixture.hpp"

namespace fairgv::vgpu {
namespace {

constexpr std::uint64_t kGroupItems = 64;
constexpr std::uint64_t kGrindGroups = 600;
constexpr std::uint64_t kItems = kGroupItems * kGrindGroups;
constexpr std::uint32_t kRounds = 20'000;

constexpr const char* kGrindSource = R"(
  // In place: a work-group that runs twice leaves something else.
  __kernel void grind(__global uint* values, uint rounds) {
    uint value = values[get_global_id(0)];
    for (uint i = 0; i < rounds; ++i) value = value * 1664525u + 1013904223u;
    values[get_global_id(0)] = value;
  })";

struct BegunLaunch : MovingSession {
  static void SetUpTestSuite() {
    cut_as.mode = SlicingSettings::Mode::blocks;
    cut_as.planner.floor = cut_as.number = 10;
  }
  static void TearDownTestSuite() { cut_as = {}; }

  static std::uint32_t ground(std::uint32_t value) {
    for (std::uint32_t i = 0; i < kRounds; ++i) value = value * 1'664'525U + 1'013'904'223U;
    return value;
  }

  void SetUp() override {
    MovingSession::SetUp();
    program = client.new_object();
    ASSERT_EQ(build(*program, kGrindSource), CL_SUCCESS);
    kernel = make_kernel("grind");
    std::vector<float> bits(kItems);
    for (std::uint32_t i = 0; i < kItems; ++i) std::memcpy(&bits[i], &i, sizeof(i));
    buffer = make_buffer(bits);
    launch_one();
    // Its code and that of its parts is made now.
    ASSERT_EQ(end(done), CL_COMPLETE);
  }

  /// All of it takes a part of a second.
  void launch_one() {
    done = client.events().acquire();
    const wire::ArgumentUpdate updates[] = {{0, wire::ArgumentKind::memory, 0, buffer.raw},
                                            {1, wire::ArgumentKind::value, sizeof(kRounds), 0}};
    wire::EnqueueKernel call;
    call.command = on(queue, done);
    call.kernel = kernel;
    call.dimensions = 1;
    call.global_size.x = kItems;
    call.local_size.x = kGroupItems;
    call.updates = updates;
    call.values = std::as_bytes(std::span(&kRounds, 1));
    client.send(call);
  }
  /// Waits until it has run some parts.
  void see_it_begin() {
    const std::uint64_t before = turns.devices[0].slices.load();
    while (turns.devices[0].slices.load() < before + 3) std::this_thread::yield();
  }
  void expect_ground_twice() {
    EXPECT_EQ(end(done), CL_COMPLETE);
    const auto bits = read(buffer, kItems);
    for (std::uint32_t i = 0; i < kItems; i += 61) {
      std::uint32_t value = 0;
      std::memcpy(&value, &bits[i], sizeof(value));
      ASSERT_EQ(value, ground(ground(i))) << "work-group " << i / kGroupItems;
    }
  }
  /// The work-groups that the image has as run.
  static std::uint64_t begun_in(const TakeOver& from) {
    auto image = session::ImageReader::open(from.file, from.order.bytes);
    EXPECT_TRUE(image);
    for (std::uint64_t begun = 0;;) {
      const auto item = image->next();
      EXPECT_TRUE(item);
      if (!item || item->kind == session::ItemKind::end) return begun;
      session::ImageCommand command;
      if (item->kind == session::ItemKind::command && wire::decode(item->bytes, command))
        begun = command.begun;
    }
  }

  ObjectId kernel{}, buffer{};
  EventId done{};
};

TEST_F(BegunLaunch, GoesOnBehindItsPartsInAnotherWorker) {
  launch_one();
  see_it_begin();
  for (int i = 0; i < 2; ++i) {
    const auto moved = move();
    ASSERT_TRUE(moved) << moved.error().message;
    if (i == 0) see_it_begin();
  }
  expect_ground_twice();
}

TEST_F(BegunLaunch, IsWrittenDownBetweenTwoParts) {
  launch_one();
  see_it_begin();
  const auto from = leave_worker();
  ASSERT_TRUE(from) << from.error().message;
  const std::uint64_t begun = begun_in(from.value());
  EXPECT_GE(begun, 30U);
  EXPECT_LT(begun, kGrindGroups);
  EXPECT_EQ(client.events().status(done), CL_SUBMITTED);
  leaves.back()->go_on();
  expect_ground_twice();
}

TEST_F(BegunLaunch, IsNotRunAnewByAWorkerThatCannotCutIt) {
  launch_one();
  see_it_begin();
  TakeOver from = leave_worker().value();
  opencl::Driver other = std::move(opencl::Driver::open()).value();
  Executor next(segment, std::span(turns.devices, other.root_devices().size()), settings());
  opencl::Handlers handlers(other, segment, next, {.never_slice = {"grind"}});
  Channel channel;
  (void)channel.daemon.send(to_text(session::GoOn{}));
  const auto made =
      take_over(std::move(from), channel.worker, segment, session::Api::opencl, next, handlers, nullptr);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("has begun in parts"), std::string::npos) << made.error().message;
  leaves.back()->go_on();
  expect_ground_twice();
}

}  // namespace
}  // namespace fairgv::vgpu
