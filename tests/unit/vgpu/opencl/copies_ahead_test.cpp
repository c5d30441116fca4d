// A session of which copies are made while it runs computes as if it had not been copied, and as if it had
// stayed.
#include <sys/mman.h>
#include <unistd.h>

#include <numeric>
#include <random>

#include "tests/unit/vgpu/opencl/moving_fixture.hpp"

namespace fairgv::vgpu {
namespace {

constexpr std::size_t kFloats = 4096;

struct SessionCopiedAhead : MovingSession {
  static std::vector<float> ones() { return std::vector<float>(kFloats, 1.0F); }
};

#define ASSERT_MOVES_AFTER(...)                  \
  do {                                           \
    const auto moved = move({__VA_ARGS__});      \
    ASSERT_TRUE(moved) << moved.error().message; \
  } while (false)

TEST_F(SessionCopiedAhead, HasContentsThatWereWrittenAfterTheCopy) {
  const ObjectId before = make_buffer(ones());
  const ObjectId after = make_buffer(ones());
  const ObjectId kernel = make_kernel("scale");
  scale(queue, kernel, before, 2.0F, kFloats);
  EXPECT_EQ(read(before, kFloats)[0], 2.0F);
  ASSERT_MOVES_AFTER([&] {
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
  for (int i = 0; i < 3; ++i) ASSERT_MOVES_AFTER(act, act, act);
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
  ASSERT_MOVES_AFTER(first_act, second_act);
  EXPECT_EQ(read(second, kFloats)[0], 2.0F);
  EXPECT_EQ(read(third, kFloats)[0], 3.0F);
  ASSERT_MOVES_AFTER([&] { scale(queue, kernel, third, 2.0F, kFloats); });
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
  ASSERT_MOVES_AFTER([&] { scale(queue, other, buffer, 3.0F, kFloats); }, [] {});
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
  ASSERT_MOVES_AFTER([&] { scale(queue, kernel, buffer, 2.0F, kFloats); });
  EXPECT_EQ(read(buffer, kFloats)[0], 4.0F);
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
