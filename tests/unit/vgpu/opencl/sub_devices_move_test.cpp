// Sub-devices of a session that moves: another worker splits its devices as the first did, under the same
// numbers.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tests/unit/vgpu/opencl/moving_fixture.hpp"

namespace fairgv::vgpu {
namespace {

constexpr std::size_t kValues = 256;

struct SubDevicesMove : MovingSession {
  void SetUp() override {
    MovingSession::SetUp();
    if (split(0).empty()) GTEST_SKIP() << "the driver has no sub-devices";
  }

  std::vector<wire::DeviceIndex> split(wire::DeviceIndex device, cl_uint units = 1) {
    const std::int64_t properties[] = {CL_DEVICE_PARTITION_EQUALLY, static_cast<std::int64_t>(units), 0};
    const auto parts = client.call(wire::CreateSubDevices{device, 0, properties});
    EXPECT_TRUE(parts);
    return parts ? parts->devices : std::vector<wire::DeviceIndex>();
  }
  void let_go(const std::vector<wire::DeviceIndex>& devices) {
    for (const wire::DeviceIndex device : devices) client.send(wire::ReleaseSubDevice{device});
  }

  /// A context on one device, with all that computes there.
  struct Place {
    ObjectId context, queue, buffer, program, kernel;
  };
  Place make_place(wire::DeviceIndex device) {
    Place place{client.new_object(), client.new_object(), client.new_object(), client.new_object(),
                client.new_object()};
    const wire::DeviceIndex devices[] = {device};
    client.send(wire::CreateContext{place.context, devices});
    client.send(wire::CreateQueue{place.queue, place.context, device, 0});
    const std::vector<float> ones(kValues, 1.0F);
    const auto range = client.allocate(kValues * sizeof(float)).value();
    std::memcpy(client.bytes(range), ones.data(), range.bytes);
    client.send(wire::CreateBuffer{place.buffer, place.context, CL_MEM_READ_WRITE, range.bytes, range});
    client.free_when_consumed(range);
    client.send(wire::CreateProgramWithSource{place.program, place.context, kSource});
    const EventId built = client.events().acquire();
    client.send(wire::BuildProgram{place.program, {}, "", "/", built});
    EXPECT_EQ(end(built), CL_SUCCESS);
    client.send(wire::CreateKernel{place.kernel, place.program, "scale"});
    return place;
  }
  void release(const Place& place) {
    for (const ObjectId object : {place.kernel, place.program, place.buffer, place.queue, place.context})
      client.release_object(object);
  }
  void scale_in(const Place& place, float factor, std::span<const EventId> waits = {}) {
    scale(place.queue, place.kernel, place.buffer, factor, kValues, {}, waits);
  }
  float value_in(const Place& place) {
    const auto range = client.allocate(kValues * sizeof(float)).value();
    const EventId event = client.events().acquire();
    client.send(wire::EnqueueReadBuffer{on(place.queue, event), place.buffer, 0, range});
    EXPECT_EQ(end(event), CL_COMPLETE);
    float value = 0;
    std::memcpy(&value, client.bytes(range), sizeof(value));
    client.free(range);
    return value;
  }
  cl_uint units_of(wire::DeviceIndex device) {
    const auto reply = client.call(wire::GetDeviceInfo{device, CL_DEVICE_MAX_COMPUTE_UNITS});
    cl_uint units = 0;
    EXPECT_TRUE(reply && reply->value.size() == sizeof(units));
    if (reply && reply->value.size() == sizeof(units))
      std::memcpy(&units, reply->value.data(), sizeof(units));
    return units;
  }
};

TEST_F(SubDevicesMove, ComputeOnInAnotherWorker) {
  const auto parts = split(0);
  const Place place = make_place(parts.back());
  scale_in(place, 2.0F);
  for (int i = 0; i < 2; ++i) {
    ASSERT_MOVES();
    scale_in(place, 3.0F);
  }
  EXPECT_EQ(value_in(place), 18.0F);
  for (const wire::DeviceIndex part : parts) EXPECT_EQ(units_of(part), 1U);
  EXPECT_NE(units_of(0), 0U);
}

TEST_F(SubDevicesMove, KeepTheirNumbersWhenOthersWereLetGo) {
  const auto first = split(0);
  const auto second = split(0);
  let_go(first);
  const auto third = split(0);
  EXPECT_EQ(third.front(), first.front()) << "its number is used again";
  const Place place = make_place(second.back());
  let_go({third.front()});
  EXPECT_TRUE(client.call(wire::Ping{}));  // all calls before it have been read
  ASSERT_MOVES();
  scale_in(place, 5.0F);
  EXPECT_EQ(value_in(place), 5.0F);
  EXPECT_EQ(split(0).front(), third.front()) << "the free number is the same there";
}

TEST_F(SubDevicesMove, OfSubDevicesThatWereLetGoAreMadeAgain) {
  if (units_of(0) < 2) GTEST_SKIP() << "a sub-device could not be split";
  const auto parts = split(0, units_of(0));
  ASSERT_EQ(parts.size(), 1U);
  const auto parts_of_it = split(parts.front());
  ASSERT_FALSE(parts_of_it.empty());
  const Place place = make_place(parts_of_it.front());
  let_go(parts);
  EXPECT_TRUE(client.call(wire::Ping{}));  // all calls before it have been read
  ASSERT_MOVES();
  ASSERT_MOVES();
  scale_in(place, 2.0F);
  EXPECT_EQ(value_in(place), 2.0F);
}

TEST_F(SubDevicesMove, ComeAndGoBetweenCopies) {
  const auto parts = split(0);
  const Place place = make_place(parts.front());
  std::optional<Place> other;
  std::vector<wire::DeviceIndex> more;
  const auto act = [&] {
    if (other) {
      release(*other);
      let_go(more);
    }
    more = split(0);
    other = make_place(more.back());
    scale_in(*other, 2.0F);
    scale_in(place, 2.0F);
    EXPECT_EQ(value_in(*other), 2.0F);
  };
  ASSERT_MOVES(act, act, act);
  scale_in(*other, 2.0F);
  EXPECT_EQ(value_in(*other), 4.0F);
  EXPECT_EQ(value_in(place), 8.0F);
}

TEST_F(SubDevicesMove, StayWhileACommandWaitsOnOneThatWasLetGo) {
  const auto parts = split(0);
  const Place place = make_place(parts.front());
  const ObjectId kernel = make_kernel("scale");
  const ObjectId buffer = make_buffer(std::vector<float>(kValues, 1.0F));
  const EventId go = client.events().acquire();
  client.send(wire::CreateUserEvent{go});
  const EventId waits[] = {go};
  scale_in(place, 2.0F, waits);
  release(place);
  let_go(parts);
  EXPECT_TRUE(client.call(wire::Ping{}));  // all calls before it have been read
  const auto refused = move();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "something is under way on a sub-device that it has let go of; try again");
  scale(queue, kernel, buffer, 2.0F, kValues);
  EXPECT_EQ(read(buffer, kValues)[0], 2.0F) << "it goes on";
  client.send(wire::SetUserEventStatus{go, CL_COMPLETE});
  client.release_event(go);
  Result<void> moved = Error{"not tried"};
  // The command and its objects end on other threads.
  for (int tries = 0; tries < 1'000 && !moved; ++tries) {
    EXPECT_EQ(finish(queue), CL_COMPLETE);
    moved = move();
  }
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(read(buffer, kValues)[0], 2.0F);
}

TEST(Partitions, ThatAreNoneAreErrorsAndHarmNothing) {
  auto opened = opencl::Driver::open();
  ASSERT_TRUE(opened) << opened.error().message;
  opencl::Driver& driver = opened.value();
  const auto roots = static_cast<wire::DeviceIndex>(driver.devices().size());
  const std::vector<std::int64_t> properties{CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  const auto parts = driver.split(0, properties);
  if (parts.error != CL_SUCCESS) GTEST_SKIP() << "the driver has no sub-devices";
  const std::vector<opencl::Partition> good = driver.partitions();
  ASSERT_EQ(good.size(), 1U);
  const auto refusal = [&](const std::function<void(opencl::Partition&)>& spoil) {
    std::vector<opencl::Partition> all = good;
    opencl::Partition more{2, 0, 0, properties, {}};
    for (std::size_t i = 0; i < parts.indices.size(); ++i)
      more.parts.push_back(parts.indices.back() + 1 + static_cast<wire::DeviceIndex>(i));
    spoil(more);
    all.push_back(more);
    const auto made = driver.make_again(all);
    EXPECT_TRUE(driver.make_again(good)) << "what was made is let go of";
    return made ? std::string("none") : made.error().message;
  };
  EXPECT_EQ(refusal([](opencl::Partition&) {}), "none");
  EXPECT_EQ(refusal([&](auto& more) { more.device = roots; }),
            "an image with a part of a sub-device that is none");
  EXPECT_EQ(refusal([](auto& more) { more.of = 7; }), "an image with a part of a sub-device that is none");
  EXPECT_EQ(refusal([](auto& more) { more.properties.pop_back(); }),
            "an image with a partition that is none");
  EXPECT_EQ(refusal([](auto& more) { more.parts.front() = 0; }),
            "an image with a sub-device in a place for none");
  EXPECT_EQ(refusal([](auto& more) { more.parts.front() = 1U << 30U; }),
            "an image with a sub-device in a place for none");
  EXPECT_EQ(refusal([&](auto& more) { more.parts.front() = parts.indices.front(); }),
            "an image with two sub-devices in one place");
  EXPECT_NE(
      refusal([](auto& more) { more.parts.push_back(more.parts.back() + 1); }).find("would be split into"),
      std::string::npos);
  EXPECT_NE(
      refusal([](auto& more) { more.properties[1] = 1 << 20; }).find("cannot be split there as it was here"),
      std::string::npos);
  EXPECT_EQ(driver.partitions().front().parts, parts.indices);
  for (const wire::DeviceIndex part : parts.indices) EXPECT_TRUE(driver.release_sub_device(part));
  EXPECT_TRUE(driver.partitions().empty());
}

}  // namespace
}  // namespace fairgv::vgpu
