// A session on the machine's real driver that moves from worker to worker within this process: each has a
// driver, an executor and a thread of its own, and all share the session's memory.
#pragma once

#include <sys/mman.h>

#include <memory>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/socket.hpp"
#include "runtime/session/move/orders.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/leave.hpp"
#include "runtime/vgpu/move/take_over.hpp"
#include "tests/unit/vgpu/opencl/fixture.hpp"

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
          backend(driver, segment, executor),
          worker(segment, executor, backend, Processors::our_cpus) {}

    opencl::Driver driver = std::move(opencl::Driver::open()).value();
    Executor executor;
    opencl::Handlers backend;
    Worker worker;
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

  std::variant<session::ImageWritten, session::CannotMove> answer_of(const Socket& daemon) {
    auto packet = daemon.receive();
    EXPECT_TRUE(packet);
    auto message = session::parse_worker_message(packet->text);
    EXPECT_TRUE(message) << packet->text;
    if (!message || std::holds_alternative<session::WorkerFailed>(message.value()))
      return session::CannotMove{packet->text};
    if (auto* const written = std::get_if<session::ImageWritten>(&message.value())) return *written;
    return std::get<session::CannotMove>(message.value());
  }

  /// The worker that serves now comes to rest. Its image, or why it cannot move.
  Result<TakeOver> leave_worker() {
    Worker& leaving = successors.empty() ? worker : successors.back()->worker;
    opencl::Handlers& calls = successors.empty() ? backend : successors.back()->backend;
    Channel& channel = successors.empty() ? first_channel : successors.back()->channel;
    UniqueFd file(::memfd_create("image", MFD_CLOEXEC));
    leaves.push_back(std::make_unique<Leave>(channel.worker, leaving, calls, session::Api::opencl));
    leaves.back()->write_image(UniqueFd(::dup(file.get())));
    const auto answer = answer_of(channel.daemon);
    if (const auto* const refusal = std::get_if<session::CannotMove>(&answer)) return Error{refusal->reason};
    return TakeOver{{std::get<session::ImageWritten>(answer).bytes, {}, {}}, std::move(file)};
  }

  /// Another worker serves from now on. An Error, and the one before it serves, if that is impossible.
  Result<void> move() {
    FAIRGV_TRY(from, leave_worker());
    auto made = std::make_unique<Successor>(segment, turns, settings());
    Successor& next = *made;
    // The daemon's orders come when this side has heard of the end.
    (void)next.channel.daemon.send(to_text(session::GoOn{}));
    const auto number = take_over(from.value(), next.channel.worker, segment, session::Api::opencl,
                                  next.executor, next.backend);
    EXPECT_TRUE(!number || next.channel.daemon.receive());  // it is made again
    if (!number) {
      leaves.back()->go_on();
      return number.error();
    }
    next.worker.continue_from(number.value());
    next.thread = std::thread([this, &next] {
      if (auto served = next.worker.run(); !served) broken = served.error();
    });
    ring::ring(segment.header().worker_bell);
    successors.push_back(std::move(made));
    return {};
  }

  Channel first_channel;
  std::vector<std::unique_ptr<Leave>> leaves;
  std::vector<std::unique_ptr<Successor>> successors;
};

}  // namespace fairgv::vgpu
