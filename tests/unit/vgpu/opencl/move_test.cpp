// A session that moves to another worker computes as if it had stayed.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "runtime/session/move/image.hpp"
#include "tests/unit/vgpu/opencl/moving_fixture.hpp"

namespace fairgv::vgpu {
namespace {

constexpr std::size_t kCount = 4096;

std::vector<float> numbers() {
  std::vector<float> values(kCount);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

TEST(OpenClDriver, ADeviceInAnothersPlaceIsKnownAsTheOneThatItWas) {
  auto driver = std::move(opencl::Driver::open()).value();
  const opencl::Device before = driver.devices()[0];
  EXPECT_EQ(driver.place_of(before.platform), before.platform);
  opencl::Device other = before;
  other.platform = before.platform + 1;
  other.id = reinterpret_cast<cl_device_id>(&other);
  driver.replace(0, other);
  const opencl::Device& now = driver.devices()[0];
  EXPECT_EQ(now.id, other.id);
  EXPECT_EQ(now.platform, other.platform);
  EXPECT_EQ(now.known_as, before.id);
  EXPECT_EQ(now.known_on, before.platform);
  EXPECT_EQ(driver.place_of(before.platform), other.platform);
}

TEST_F(MovingSession, KeepsContentsProgramsAndKernels) {
  const ObjectId buffer = make_buffer(numbers());
  const ObjectId kernel = make_kernel("scale");
  scale(queue, kernel, buffer, 2.0F, kCount);
  for (int i = 0; i < 3; ++i) {
    ASSERT_MOVES();
    scale(queue, kernel, buffer, 3.0F, kCount);
  }
  const auto values = read(buffer, kCount);
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(values[i], static_cast<float>(i + 1) * 54.0F);
}

TEST_F(MovingSession, KeepsTheArgumentsOfKernels) {
  const ObjectId buffer = make_buffer(numbers());
  const ObjectId kernel = make_kernel("scale");
  scale(queue, kernel, buffer, 2.0F, kCount);
  ASSERT_MOVES();
  // Without an update: as the last launch had them.
  wire::EnqueueKernel call;
  call.command = on(queue);
  call.kernel = kernel;
  call.dimensions = 1;
  call.global_size.x = kCount;
  client.send(call);
  EXPECT_EQ(read(buffer, kCount)[1], 8.0F);
}

TEST_F(MovingSession, KeepsCommandsThatWaitForTheProgram) {
  const ObjectId buffer = make_buffer(numbers());
  const ObjectId kernel = make_kernel("scale");
  const EventId go = client.events().acquire();
  client.send(wire::CreateUserEvent{go});
  const EventId first = client.events().acquire();
  const EventId waits[] = {go};
  scale(queue, kernel, buffer, 2.0F, kCount, first, waits);
  const EventId second = client.events().acquire();
  scale(queue, kernel, buffer, 5.0F, kCount, second);
  ASSERT_MOVES();
  scale(queue, kernel, buffer, 7.0F, kCount);
  ASSERT_MOVES();
  EXPECT_NE(client.events().status(second), CL_COMPLETE);
  client.send(wire::SetUserEventStatus{go, CL_COMPLETE});
  EXPECT_EQ(end(first), CL_COMPLETE);
  EXPECT_EQ(end(second), CL_COMPLETE);
  EXPECT_EQ(read(buffer, kCount)[0], 70.0F);
  client.release_event(go);
}

TEST_F(MovingSession, KeepsObjectsThatOnlyCommandsUse) {
  const ObjectId source = make_buffer(numbers());
  const ObjectId target = make_buffer(std::vector<float>(kCount, 0.0F));
  const ObjectId kernel = make_kernel("scale");
  const ObjectId side = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const EventId go = client.events().acquire();
  client.send(wire::CreateUserEvent{go});
  const EventId scaled = client.events().acquire();
  const EventId go_list[] = {go};
  scale(side, kernel, source, 4.0F, kCount, scaled, go_list);
  const EventId copied = client.events().acquire();
  const EventId scaled_list[] = {scaled};
  client.send(wire::EnqueueCopyBuffer{on(side, copied, scaled_list), source, target, 0, 0, kCount * 4});
  const EventId marked = client.events().acquire();
  client.send(wire::EnqueueMarker{on(side, marked)});
  for (const ObjectId id : {source, kernel, side}) client.release_object(id);
  client.release_event(scaled);
  // In the places of the released objects.
  const ObjectId other = make_buffer(std::vector<float>(kCount, 9.0F));
  ASSERT_MOVES();
  ASSERT_MOVES();
  client.send(wire::SetUserEventStatus{go, CL_COMPLETE});
  EXPECT_EQ(end(copied), CL_COMPLETE);
  EXPECT_EQ(end(marked), CL_COMPLETE);
  EXPECT_EQ(read(target, kCount)[2], 12.0F);
  EXPECT_EQ(read(other, kCount)[2], 9.0F);
  client.release_event(go);
}

TEST_F(MovingSession, PassesFailuresOnToCommandsThatWait) {
  const ObjectId buffer = make_buffer(numbers());
  const ObjectId kernel = make_kernel("scale");
  const EventId go = client.events().acquire();
  client.send(wire::CreateUserEvent{go});
  const EventId first = client.events().acquire();
  const EventId waits[] = {go};
  scale(queue, kernel, buffer, 2.0F, kCount, first, waits);
  ASSERT_MOVES();
  client.send(wire::SetUserEventStatus{go, -5});
  EXPECT_LT(end(first), 0);
  EXPECT_EQ(read(buffer, kCount)[0], 1.0F);
  client.release_event(go);
}

TEST_F(MovingSession, KeepsCommandBuffers) {
  const ObjectId copy = make_buffer(std::vector<float>(16, 0.0F));
  const ObjectId recorded = record_fill_and_copy(copy, 64);
  if (finalize(recorded) != CL_SUCCESS) GTEST_SKIP() << "the driver has no command buffers";
  ASSERT_MOVES();
  client.send(wire::EnqueueCommandBuffer{on(queue), recorded});
  EXPECT_EQ(read(copy, 16)[15], 2.5F);
}

TEST_F(MovingSession, KeepsErrorsOfObjectsThatCouldNotBeMade) {
  const ObjectId kernel = make_kernel("there_is_none");
  const ObjectId buffer = make_buffer(numbers());
  ASSERT_MOVES();
  const EventId ended = client.events().acquire();
  scale(queue, kernel, buffer, 2.0F, kCount, ended);
  EXPECT_EQ(end(ended), CL_INVALID_KERNEL_NAME);
}

TEST_F(MovingSession, IsWatchedWhereItGoes) {
  const EventId go = client.events().acquire();
  client.send(wire::CreateUserEvent{go});
  const EventId marked = client.events().acquire();
  const EventId waits[] = {go};
  client.send(wire::EnqueueMarker{on(queue, marked, waits)});
  std::atomic<int> heard{1};
  client.set_notice_handler([&heard](const wire::EventReached& notice) { heard.store(notice.status); });
  client.send(wire::WatchEvent{marked, CL_COMPLETE});
  ASSERT_MOVES();
  client.send(wire::SetUserEventStatus{go, CL_COMPLETE});
  EXPECT_EQ(end(marked), CL_COMPLETE);
  while (heard.load() == 1) std::this_thread::yield();
  EXPECT_EQ(heard.load(), CL_COMPLETE);
  client.release_event(go);
}

TEST_F(MovingSession, KeepsContentsOfImages) {
  const ObjectId image = client.new_object();
  wire::CreateImage call;
  call.id = image;
  call.context = context;
  call.flags = CL_MEM_READ_WRITE;
  call.description.type = CL_MEM_OBJECT_IMAGE3D;
  call.description.channel_order = CL_RGBA;
  call.description.channel_type = CL_FLOAT;
  call.description.width = 7;
  call.description.height = 5;
  call.description.depth = 3;
  client.send(call);
  const std::vector<float> pixels = numbers();
  const auto range = client.allocate(7 * 5 * 3 * 16).value();
  std::memcpy(client.bytes(range), pixels.data(), range.bytes);
  client.send(wire::EnqueueWriteImage{on(queue), image, {0, 0, 0}, {7, 5, 3}, 0, 0, range});
  EXPECT_EQ(finish(queue), CL_COMPLETE);
  ASSERT_MOVES();
  ASSERT_MOVES();
  std::memset(client.bytes(range), 0, range.bytes);
  const EventId read = client.events().acquire();
  client.send(wire::EnqueueReadImage{on(queue, read), image, {0, 0, 0}, {7, 5, 3}, 0, 0, range});
  EXPECT_EQ(end(read), CL_COMPLETE);
  EXPECT_EQ(std::memcmp(client.bytes(range), pixels.data(), range.bytes), 0);
}

TEST_F(MovingSession, GoesOnWhereItWasIfItCannotGoOnThere) {
  const ObjectId buffer = make_buffer(numbers());
  const ObjectId kernel = make_kernel("scale");
  scale(queue, kernel, buffer, 2.0F, kCount);
  {
    const auto from = leave_worker();
    ASSERT_TRUE(from) << from.error().message;
    leaves.back()->go_on();
  }
  scale(queue, kernel, buffer, 2.0F, kCount);
  EXPECT_EQ(read(buffer, kCount)[0], 4.0F);
}

/// The image's bytes, as they were or damaged.
UniqueFd file_with(const std::vector<std::byte>& bytes) {
  UniqueFd file(::memfd_create("image", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return file;
}

TEST_F(MovingSession, KnowsHowLongItsCommandsTake) {
  slice_ns = 6'000'000;  // as if others waited: what is unknown is measured
  const ObjectId buffer = make_buffer(numbers());
  const ObjectId kernel = make_kernel("scale");
  for (int i = 0; i < 8; ++i) {
    const EventId scaled = client.events().acquire();
    scale(queue, kernel, buffer, 1.0F, kCount, scaled);
    ASSERT_EQ(end(scaled), CL_COMPLETE);
  }
  auto from = leave_worker();
  ASSERT_TRUE(from) << from.error().message;
  std::vector<session::ImageHistory> told;
  auto image = session::ImageReader::open(from->file, from->order.bytes);
  ASSERT_TRUE(image);
  for (;;) {
    const auto item = image->next();
    ASSERT_TRUE(item) << item.error().message;
    if (item->kind == session::ItemKind::end) break;
    if (item->kind != session::ItemKind::history) continue;
    told.push_back(session::item_as<session::ImageHistory>(item->bytes, "no history").value());
  }
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const auto& each) { return each.samples > 0; }));
  Successor next(segment, turns, settings());
  (void)next.channel.daemon.send(to_text(session::GoOn{}));
  const auto made = take_over(std::move(from).value(), next.channel.worker, segment, session::Api::opencl,
                              next.executor, next.backend, nullptr);
  ASSERT_TRUE(made) << made.error().message;
  const auto helm = next.executor.helm().try_take();
  const auto standing = next.executor.at(*helm).standing();
  for (const session::ImageHistory& each : told) {
    const auto& known = standing.histories.at(each.device);
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.kind == each.commands; });
    ASSERT_NE(found, known.end());
    EXPECT_EQ(static_cast<std::uint64_t>(found->time.count()), each.time_ns);
    EXPECT_EQ(found->samples, each.samples);
  }
  // A session that has moved to another device has them as a guess.
  for (const auto& known : standing.histories) EXPECT_GE(known.size(), told.size());
  leaves.back()->go_on();
  EXPECT_TRUE(client.call(wire::Ping{}));
}

/// Whoever has written an image may be hostile: it is refused, or made again as far as its calls go.
TEST_F(MovingSession, OfADamagedImageIsRefusedOrMadeAgain) {
  const ObjectId buffer = make_buffer(numbers());
  const ObjectId kernel = make_kernel("scale");
  const EventId go = client.events().acquire();
  client.send(wire::CreateUserEvent{go});
  const EventId scaled = client.events().acquire();
  const EventId waits[] = {go};
  scale(queue, kernel, buffer, 2.0F, kCount, scaled, waits);
  scale(queue, kernel, buffer, 3.0F, kCount);
  client.release_object(kernel);
  EXPECT_TRUE(client.call(wire::Ping{}));  // all calls before it have been read
  const auto from = leave_worker();
  ASSERT_TRUE(from) << from.error().message;
  std::vector<std::byte> image(from->order.bytes);
  ASSERT_EQ(::pread(from->file.get(), image.data(), image.size(), 0), static_cast<ssize_t>(image.size()));
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto try_image = [&](const std::vector<std::byte>& bytes) {
    Successor next(segment, turns, settings());
    (void)next.channel.daemon.send(to_text(session::GoOn{}));
    TakeOver damaged{{false, bytes.size(), {}, {}}, file_with(bytes)};
    return take_over(std::move(damaged), next.channel.worker, segment, session::Api::opencl, next.executor,
                     next.backend, nullptr);
  };
  const auto whole = try_image(image);
  EXPECT_TRUE(whole) << whole.error().message;
  for (int i = 0; i < 60; ++i) {
    std::vector<std::byte> damaged = image;
    if (random() % 4 == 0) damaged.resize(random() % damaged.size());
    for (auto flips = random() % 4; flips > 0 && !damaged.empty(); --flips) {
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    }
    const auto made = try_image(damaged);
    EXPECT_TRUE(made || !made.error().message.empty());
  }
  leaves.back()->go_on();
  EXPECT_TRUE(client.call(wire::Ping{}));
}

}  // namespace
}  // namespace fairgv::vgpu
