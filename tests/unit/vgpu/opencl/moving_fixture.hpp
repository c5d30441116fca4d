// A session on the machine's real driver that moves from worker to worker within this process: each has a
// driver, an executor and a thread of its own, and all share the session's memory.
#pragma once

#include <sys/mman.h>

#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/socket.hpp"
#include "runtime/session/move/orders.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/leave.hpp"
#include "runtime/vgpu/move/take_over.hpp"
#include "tests/unit/vgpu/opencl/fixture.hpp"

/// The session is moved. One of the functions is called after each copy that is made ahead.
#define ASSERT_MOVES(...)                        \
  do {                                           \
    const auto moved = move({__VA_ARGS__});      \
    ASSERT_TRUE(moved) << moved.error().message; \
  } while (false)

namespace fairgv::vgpu {

class MovingSession : public OpenClTest {
 protected:
  struct Channel {
    Channel() {
      auto ends = std::move(Socket::pair()).value();
      daemon = std::move(ends.first);
      worker = std::move(ends.second);
    }
    Socket daemon, worker;
  };

  /// One of the workers after the first, which is the fixture's.
  struct Successor {
    Successor(ring::Segment& segment, session::TurnPage& turns, IssueSettings settings)
        : executor(segment, std::span(turns.devices, driver.root_devices().size()), std::move(settings)),
          backend(driver, segment, executor) {}

    opencl::Driver driver = std::move(opencl::Driver::open()).value();
    Executor executor;
    opencl::Handlers backend;
    std::unique_ptr<Worker> worker;  // once it has taken over: it begins where the rings stand
    std::thread thread;
    Channel channel;
  };

  ~MovingSession() override {
    segment.close();
    for (auto& successor : successors) {
      if (successor->thread.joinable() && successor == successors.back()) successor->thread.join();
    }
    for (auto& leave : leaves) leave->go_on();
    loop.join();  // it is in one of them
    loop = std::thread([] {});
    for (auto& successor : successors) {
      if (successor->thread.joinable()) successor->thread.join();
    }
  }

  /// The next message, or why the session cannot move.
  template <class Message>
  Result<Message> hear(const Socket& daemon) {
    auto packet = daemon.receive();
    EXPECT_TRUE(packet);
    auto message = session::parse_worker_message(packet->text);
    EXPECT_TRUE(message) << packet->text;
    if (!message) return message.error();
    // It has crossed the order to write.
    if (!std::is_same_v<Message, session::CopiedAhead> &&
        std::holds_alternative<session::CopiedAhead>(message.value()))
      return hear<Message>(daemon);
    if (auto* const heard = std::get_if<Message>(&message.value())) return *heard;
    const auto* const refusal = std::get_if<session::CannotMove>(&message.value());
    return Error{refusal != nullptr ? refusal->reason : packet->text};
  }

  Worker& leaving() { return successors.empty() ? worker : *successors.back()->worker; }
  Channel& leaving_channel() { return successors.empty() ? first_channel : successors.back()->channel; }

  /// The worker that serves now is about to leave.
  Leave& begin_leave() {
    opencl::Handlers& calls = successors.empty() ? backend : successors.back()->backend;
    leaves.push_back(
        std::make_unique<Leave>(leaving_channel().worker, leaving(), calls, session::Api::opencl));
    arrived = 0;
    return *leaves.back();
  }

  /// It comes to rest. Its image, or why it cannot move.
  Result<TakeOver> end_leave() {
    UniqueFd file(::memfd_create("image", MFD_CLOEXEC));
    leaves.back()->write_image(arrived, UniqueFd(::dup(file.get())));
    FAIRGV_TRY(written, hear<session::ImageWritten>(leaving_channel().daemon));
    return TakeOver{{false, written->bytes, {}, {}}, std::move(file)};
  }

  Result<TakeOver> leave_worker() {
    begin_leave();
    return end_leave();
  }

  /// It serves on, and what it has now is copied. Contents that are left are counted.
  Result<TakeOver> copy_ahead() {
    UniqueFd file(::memfd_create("copy", MFD_CLOEXEC));
    leaves.back()->copy_ahead(++copies, UniqueFd(::dup(file.get())));
    FAIRGV_TRY(copied, hear<session::CopiedAhead>(leaving_channel().daemon));
    EXPECT_EQ(copied->number, copies);
    left = copied->left;
    arrived = copies;
    return TakeOver{{true, copied->bytes, {}, {}}, std::move(file)};
  }

  /// The fate of the latest copy ahead: it arrives, or never does, though the worker has told it, or
  /// because it is still at it when the last image is ordered.
  enum class Latest { arrives, is_told, is_not_told };

  Result<void> lose_copy(Latest latest) {
    UniqueFd file(::memfd_create("copy", MFD_CLOEXEC));
    leaves.back()->copy_ahead(++copies, std::move(file));
    if (latest == Latest::is_told) FAIRGV_CHECK(hear<session::CopiedAhead>(leaving_channel().daemon));
    return {};
  }

  std::unique_ptr<Successor> make_successor() {
    return std::make_unique<Successor>(segment, turns, settings());
  }

  /// Another worker serves from now on. An Error, and the one before it serves, if that is impossible.
  /// One of `meanwhile` is called after each copy that is made ahead.
  Result<void> move(const std::vector<std::function<void()>>& meanwhile = {},
                    Latest latest = Latest::arrives) {
    begin_leave();
    auto made = make_successor();
    Successor& next = *made;
    std::vector<TakeOver> images;
    for (const auto& act : meanwhile) {
      if (&act == &meanwhile.back() && latest != Latest::arrives) {
        FAIRGV_CHECK(lose_copy(latest));
      } else {
        FAIRGV_TRY(copy, copy_ahead());
        images.push_back(std::move(copy).value());
      }
      act();
    }
    FAIRGV_TRY(last, end_leave());
    images.push_back(std::move(last).value());
    // The daemon's orders come when this side has heard of the end.
    for (std::size_t i = 1; i < images.size(); ++i)
      (void)next.channel.daemon.send(to_text(images[i].order), {images[i].file.get()});
    (void)next.channel.daemon.send(to_text(session::GoOn{}));
    const auto number = take_over(std::move(images.front()), next.channel.worker, segment,
                                  session::Api::opencl, next.executor, next.backend, nullptr);
    for (std::size_t i = 1; number && i < images.size(); ++i)
      EXPECT_TRUE(hear<session::MadeAhead>(next.channel.daemon));
    EXPECT_TRUE(!number || hear<session::MadeAgain>(next.channel.daemon));
    if (!number) {
      leaves.back()->go_on();
      return number.error();
    }
    next.worker = std::make_unique<Worker>(segment, next.executor, next.backend, Processors::our_cpus);
    next.worker->continue_from(number.value());
    next.thread = std::thread([this, &next] {
      if (auto served = next.worker->run(); !served) broken = served.error();
    });
    ring::ring(segment.header().worker_bell);
    successors.push_back(std::move(made));
    return {};
  }

  Channel first_channel;
  std::vector<std::unique_ptr<Leave>> leaves;
  std::vector<std::unique_ptr<Successor>> successors;
  std::uint64_t copies = 0;   // ahead
  std::uint64_t arrived = 0;  // the latest that the other worker has
  std::uint64_t left = 0;     // after the latest
};

}  // namespace fairgv::vgpu
