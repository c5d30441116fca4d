// A session of which copies are made while it runs computes as if it had not been copied, and as if it had
// stayed.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "runtime/vgpu/opencl/move/contents_reads.hpp"
#include "tests/unit/vgpu/opencl/moving_fixture.hpp"

namespace fairgv::vgpu {
namespace {

constexpr std::size_t kFloats = 4096;

struct SessionCopiedAhead : MovingSession {
  static std::vector<float> ones() { return std::vector<float>(kFloats, 1.0F); }
};

TEST_F(SessionCopiedAhead, HasContentsThatWereWrittenAfterTheCopy) {
  const ObjectId before = make_buffer(ones());
  const ObjectId after = make_buffer(ones());
  const ObjectId kernel = make_kernel("scale");
  scale(queue, kernel, before, 2.0F, kFloats);
  EXPECT_EQ(read(before, kFloats)[0], 2.0F);
  ASSERT_MOVES([&] {
    EXPECT_EQ(left, 0U);
    scale(queue, kernel, after, 3.0F, kFloats);
    EXPECT_EQ(read(after, kFloats)[0], 3.0F);
  });
  EXPECT_EQ(read(before, kFloats)[1], 2.0F);
  EXPECT_EQ(read(after, kFloats)[1], 3.0F);
  scale(queue, kernel, after, 5.0F, kFloats);
  EXPECT_EQ(read(after, kFloats)[2], 15.0F);
}

TEST_F(SessionCopiedAhead, IsCopiedAgainAndAgain) {
  const ObjectId buffer = make_buffer(ones());
  const ObjectId kernel = make_kernel("scale");
  const auto act = [&] { scale(queue, kernel, buffer, 2.0F, kFloats); };
  for (int i = 0; i < 3; ++i) ASSERT_MOVES(act, act, act);
  EXPECT_EQ(read(buffer, kFloats)[7], 512.0F);
}

TEST_F(SessionCopiedAhead, CopiesOnlyWhatWasWrittenSince) {
  const ObjectId still = make_buffer(ones());
  const ObjectId written = make_buffer(ones());
  const ObjectId kernel = make_kernel("scale");
  begin_leave();
  const auto first = copy_ahead();
  ASSERT_TRUE(first) << first.error().message;
  scale(queue, kernel, written, 2.0F, kFloats);
  EXPECT_EQ(read(still, kFloats)[0], 1.0F);
  const auto second = copy_ahead();
  ASSERT_TRUE(second) << second.error().message;
  const auto last = end_leave();
  ASSERT_TRUE(last) << last.error().message;
  constexpr std::uint64_t kBytes = kFloats * sizeof(float);
  EXPECT_GE(first->order.bytes, 2 * kBytes);
  EXPECT_GE(second->order.bytes, kBytes);
  EXPECT_LT(second->order.bytes, 2 * kBytes);
  EXPECT_LT(last->order.bytes, kBytes);
  leaves.back()->go_on();
  EXPECT_EQ(read(written, kFloats)[0], 2.0F);
}

TEST_F(SessionCopiedAhead, HasObjectsThatCameAndWentBetweenCopies) {
  const ObjectId kernel = make_kernel("scale");
  const ObjectId short_lived = make_buffer(ones());
  ObjectId second{}, third{};
  const auto first_act = [&] {
    client.release_object(short_lived);
    second = make_buffer(ones());  // maybe in its place
    scale(queue, kernel, second, 2.0F, kFloats);
  };
  const auto second_act = [&] {
    third = make_buffer(ones());
    scale(queue, kernel, third, 3.0F, kFloats);
  };
  ASSERT_MOVES(first_act, second_act);
  EXPECT_EQ(read(second, kFloats)[0], 2.0F);
  EXPECT_EQ(read(third, kFloats)[0], 3.0F);
  ASSERT_MOVES([&] { scale(queue, kernel, third, 2.0F, kFloats); });
  EXPECT_EQ(read(third, kFloats)[0], 6.0F);
}

TEST_F(SessionCopiedAhead, HasCommandsThatWaitWhileItIsCopied) {
  const ObjectId buffer = make_buffer(ones());
  const ObjectId kernel = make_kernel("scale");
  const EventId go = client.events().acquire();
  client.send(wire::CreateUserEvent{go});
  const EventId scaled = client.events().acquire();
  const EventId waits[] = {go};
  scale(queue, kernel, buffer, 2.0F, kFloats, scaled, waits);
  client.release_object(kernel);
  const ObjectId other = make_kernel("scale");  // maybe in its place
  ASSERT_MOVES([&] { scale(queue, other, buffer, 3.0F, kFloats); }, [] {});
  client.send(wire::SetUserEventStatus{go, CL_COMPLETE});
  EXPECT_EQ(end(scaled), CL_COMPLETE);
  EXPECT_EQ(read(buffer, kFloats)[0], 6.0F);
  client.release_event(go);
}

TEST_F(SessionCopiedAhead, GoesOnWhereItWasIfTheMoveIsGivenUp) {
  const ObjectId buffer = make_buffer(ones());
  const ObjectId kernel = make_kernel("scale");
  begin_leave();
  ASSERT_TRUE(copy_ahead());
  scale(queue, kernel, buffer, 2.0F, kFloats);
  leaves.back()->go_on();
  EXPECT_EQ(read(buffer, kFloats)[0], 2.0F);
  // The next move knows nothing of that copy.
  ASSERT_MOVES([&] { scale(queue, kernel, buffer, 2.0F, kFloats); });
  EXPECT_EQ(read(buffer, kFloats)[0], 4.0F);
}

TEST_F(SessionCopiedAhead, HasAllThatACopyToldWhichNeverArrived) {
  const ObjectId kernel = make_kernel("scale");
  const ObjectId written = make_buffer(ones());
  for (const Latest latest : {Latest::is_told, Latest::is_not_told}) {
    const ObjectId gone = make_buffer(ones());
    ObjectId made{};
    const auto act = [&] {
      scale(queue, kernel, written, 2.0F, kFloats);
      made = make_buffer(ones());
      client.release_object(gone);
      EXPECT_EQ(read(made, kFloats)[0], 1.0F);
    };
    const auto moved = move({act, [] {}}, latest);
    ASSERT_TRUE(moved) << moved.error().message;
    EXPECT_EQ(read(written, kFloats)[0], latest == Latest::is_told ? 2.0F : 4.0F);
    EXPECT_EQ(read(made, kFloats)[1], 1.0F);
    // The places of all that is gone are free.
    for (int i = 0; i < 8; ++i) EXPECT_EQ(read(make_buffer(ones()), kFloats)[2], 1.0F);
  }
}

TEST_F(SessionCopiedAhead, HasNothingOfItsOnlyCopyIfThatNeverArrived) {
  const ObjectId buffer = make_buffer(ones());
  scale(queue, make_kernel("scale"), buffer, 2.0F, kFloats);
  for (const Latest latest : {Latest::is_told, Latest::is_not_told}) {
    const auto moved = move({[] {}}, latest);
    ASSERT_TRUE(moved) << moved.error().message;
    EXPECT_EQ(read(buffer, kFloats)[0], 2.0F);
  }
}

TEST_F(SessionCopiedAhead, DoesNotMoveIfItWasToldOfCopiesThatWereNeverMade) {
  const ObjectId buffer = make_buffer(ones());
  begin_leave();
  ASSERT_TRUE(copy_ahead());
  arrived = copies + 1;
  const auto last = end_leave();
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().message, "the daemon counts other copies than were made");
  leaves.back()->go_on();
  EXPECT_EQ(read(buffer, kFloats)[0], 1.0F);
  ASSERT_MOVES([] {});
}

TEST(ReadsTogether, TakeATenthOfTheWaitForTheProgramsCommands) {
  using opencl::reads_together;
  using std::chrono::milliseconds;
  EXPECT_EQ(reads_together(milliseconds(1'000), 1, {}), 1U) << "nothing is known of them";
  EXPECT_EQ(reads_together(milliseconds(4), 1, milliseconds(4)), 1U) << "they waited for nothing";
  EXPECT_EQ(reads_together(milliseconds(100), 25, milliseconds(4)), 1U) << "the reads themselves are slow";
  EXPECT_EQ(reads_together(milliseconds(1'004), 1, milliseconds(4)), 25U);
  EXPECT_EQ(reads_together(milliseconds(1'100), 25, milliseconds(4)), 25U) << "as long as that lasts";
  EXPECT_EQ(reads_together(milliseconds(50'000), 1, milliseconds(1)), 64U);
  EXPECT_EQ(reads_together(milliseconds(3), 1, milliseconds(4)), 1U) << "they were faster than expected";
  EXPECT_EQ(reads_together(milliseconds(100), 1, milliseconds(0)), 1U);
}

/// Whole contexts that come and go, with a queue, a kernel and buffers each, while the session is copied.
struct ContextsThatComeAndGo : SessionCopiedAhead {
  struct World {
    ObjectId context, queue, program, kernel;
    std::vector<std::pair<ObjectId, float>> buffers{};  // and what is in them
  };

  std::uint32_t pick(std::size_t count) { return static_cast<std::uint32_t>(random() % count); }
  void enter(const World& world) {
    context = world.context;
    queue = world.queue;
    program = world.program;
  }
  void make_world() {
    World world;
    const wire::DeviceIndex devices[] = {0};
    context = client.new_object();
    client.send(wire::CreateContext{context, devices});
    queue = make_queue(0);
    program.reset();
    world.kernel = make_kernel("scale");
    world.context = context;
    world.queue = queue;
    world.program = *program;
    worlds.push_back(world);
  }
  void end_world(std::size_t which) {
    World& world = worlds[which];
    std::vector<ObjectId> objects{world.context, world.queue, world.program, world.kernel};
    for (const auto& [buffer, value] : world.buffers) objects.push_back(buffer);
    std::shuffle(objects.begin(), objects.end(), random);
    for (const ObjectId object : objects) client.release_object(object);
    worlds.erase(worlds.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void act() {
    if (worlds.size() < 2 || (worlds.size() < 6 && pick(8) == 0)) return make_world();
    if (pick(8) == 0) return end_world(pick(worlds.size()));
    World& world = worlds[pick(worlds.size())];
    enter(world);
    if (world.buffers.empty() || pick(4) == 0) {
      world.buffers.emplace_back(make_buffer(ones()), 1.0F);
      return;
    }
    const auto which = pick(world.buffers.size());
    if (pick(4) == 0) {
      client.release_object(world.buffers[which].first);
      world.buffers.erase(world.buffers.begin() + which);
      return;
    }
    EventId waits[1];
    if (pick(4) == 0) {
      unset.push_back(client.events().acquire());
      client.send(wire::CreateUserEvent{unset.back()});
      waits[0] = unset.back();
    }
    const float factor = pick(2) == 0 ? 2.0F : 0.5F;
    world.buffers[which].second *= factor;
    scale(queue, world.kernel, world.buffers[which].first, factor, kFloats, {},
          std::span(waits).first(waits[0] ? 1 : 0));
  }
  void expect_right() {
    for (const EventId event : std::exchange(unset, {})) {
      client.send(wire::SetUserEventStatus{event, CL_COMPLETE});
      client.release_event(event);
    }
    for (const World& world : worlds) {
      enter(world);
      for (const auto& [buffer, value] : world.buffers)
        ASSERT_EQ(read(buffer, kFloats), std::vector<float>(kFloats, value));
    }
  }

  const std::uint32_t seed = std::random_device{}();
  std::mt19937 random{seed};
  std::vector<World> worlds;
  std::vector<EventId> unset;
};

TEST_F(ContextsThatComeAndGo, AreTheSameWhicheverCopiesArrive) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int round = 0; round < 6; ++round) {
    const auto some = [this] {
      for (auto acts = pick(8); acts > 0; --acts) act();
    };
    some();
    const auto latest = std::array{Latest::arrives, Latest::is_told, Latest::is_not_told}.at(pick(3));
    const auto moved = move(std::vector<std::function<void()>>(pick(4), some), latest);
    ASSERT_TRUE(moved) << moved.error().message << " in round " << round;
    if (pick(2) == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_right());
    }
  }
  expect_right();
}

TEST_F(SessionCopiedAhead, IsRefusedWithWrongCopies) {
  make_buffer(ones());
  make_kernel("scale");
  begin_leave();
  std::vector<std::vector<std::byte>> images;
  const auto keep = [&](Result<TakeOver> from) {
    ASSERT_TRUE(from) << from.error().message;
    std::vector<std::byte> image(from->order.bytes);
    ASSERT_EQ(::pread(from->file.get(), image.data(), image.size(), 0), static_cast<ssize_t>(image.size()));
    images.push_back(std::move(image));
  };
  EXPECT_TRUE(client.call(wire::Ping{}));  // all calls before it have been read
  keep(copy_ahead());
  make_buffer(ones());
  EXPECT_TRUE(client.call(wire::Ping{}));
  keep(copy_ahead());
  keep(end_leave());
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto file_of = [](const std::vector<std::byte>& bytes) {
    UniqueFd file(::memfd_create("image", MFD_CLOEXEC));
    EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return file;
  };
  /// The images in this order; all but the last as if they were copied ahead.
  const auto try_images = [&](const std::vector<std::vector<std::byte>>& tried) {
    const auto made = make_successor();
    Successor& next = *made;
    for (std::size_t i = 1; i < tried.size(); ++i) {
      const session::MakeAgain order{i + 1 < tried.size(), tried[i].size(), {}, {}};
      const UniqueFd file = file_of(tried[i]);
      (void)next.channel.daemon.send(to_text(order), {file.get()});
    }
    (void)next.channel.daemon.send(to_text(session::GoOn{}));
    TakeOver first{{tried.size() > 1, tried[0].size(), {}, {}}, file_of(tried[0])};
    return take_over(std::move(first), next.channel.worker, segment, session::Api::opencl, next.executor,
                     next.backend, nullptr);
  };
  const auto whole = try_images(images);
  EXPECT_TRUE(whole) << whole.error().message;
  EXPECT_FALSE(try_images({images[0]}));                        // there is no last one
  EXPECT_FALSE(try_images({images[2]}));                        // those before it are missing
  EXPECT_FALSE(try_images({images[0], images[2]}));             // one is
  EXPECT_FALSE(try_images({images[1], images[0], images[2]}));  // in the wrong order
  EXPECT_FALSE(try_images({images[0], images[0], images[1], images[2]}));
  for (int i = 0; i < 40; ++i) {
    auto damaged = images;
    for (auto flips = 1 + random() % 4; flips > 0; --flips) {
      auto& image = damaged[random() % damaged.size()];
      image[random() % image.size()] = static_cast<std::byte>(random());
    }
    const auto made = try_images(damaged);
    EXPECT_TRUE(made || !made.error().message.empty());
  }
  leaves.back()->go_on();
  EXPECT_TRUE(client.call(wire::Ping{}));
}

}  // namespace
}  // namespace fairgv::vgpu
