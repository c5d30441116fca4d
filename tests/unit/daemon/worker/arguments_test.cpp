// What a worker is told by its command line.
#include "runtime/daemon/worker/arguments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace fairgv::daemon {
namespace {

using Texts = std::vector<std::string>;

Session session_over(ring::Segment segment) {
  auto header = std::move(ring::HeaderView::attach(segment.fd())).value();
  return {.id = SessionId{7},
          .tenant = {},
          .tenant_name = "alice",
          .peer = {},
          .program = "clinfo",
          .slicing = {},
          .long_commands = {},
          .give_up = {},
          .client = {},
          .channel = {},
          .ledger = {},
          .knock = {},
          .turns = std::move(session::TurnMemory::create()).value(),
          .segment = std::move(segment),
          .segment_fd = {},
          .output = {},
          .header = std::move(header),
          .worker = {},
          .client_watch = {},
          .channel_watch = {},
          .ledger_watch = {},
          .worker_watch = {}};
}

struct WorkerArguments : ::testing::Test {
  /// The values behind an option, in order.
  Texts values(const std::string& option) const {
    const Texts arguments = worker_arguments(session, {50, 51}, config);
    Texts found;
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
      if (arguments[i] == option) found.push_back(arguments[i + 1]);
    }
    return found;
  }

  Session session = session_over(std::move(ring::Segment::create()).value());
  Config config;
};

TEST_F(WorkerArguments, NameTheSessionAndItsDescriptors) {
  EXPECT_EQ(values("--session"), Texts{"7"});
  EXPECT_EQ(values("--segment-fd"), Texts{std::to_string(session.segment->fd())});
  EXPECT_EQ(values("--turn-fd"), Texts{std::to_string(session.turns.fd())});
  EXPECT_EQ(values("--daemon-fd"), Texts{"50"});
  EXPECT_EQ(values("--ledger-fd"), Texts{"51"});
}

TEST_F(WorkerArguments, SayWhatASessionMayHave) {
  config.session.objects = 70;
  config.session.commands = 80;
  EXPECT_EQ(values("--object-limit"), Texts{"70"});
  EXPECT_EQ(values("--command-limit"), Texts{"80"});
}

TEST_F(WorkerArguments, SayHowMuchALoneTenantKeepsInFlight) {
  EXPECT_EQ(values("--slice-ms"), Texts{"6.000000"}) << "whatever the bounds of adaptive slices";
  config.devices.common.slices = sched::SliceRule::constant(std::chrono::milliseconds(2));
  EXPECT_EQ(values("--slice-ms"), Texts{"2.000000"});
  config.devices.common.slices = sched::kPreemptiveSlice;
  EXPECT_EQ(values("--slice-ms"), Texts{"30.000000"});
}

TEST_F(WorkerArguments, SayNothingOfSlicingThatTheConfigurationDoesNotSay) {
  for (const char* option : {"--slicing", "--slicing-floor", "--never-slice"}) {
    EXPECT_EQ(values(option), Texts{}) << option;
  }
}

TEST_F(WorkerArguments, CarryHowTheConfigurationWantsLaunchesCut) {
  config.slicing = {"static", 3000, {"reduce", "scan"}};
  EXPECT_EQ(values("--slicing"), Texts{"static"});
  EXPECT_EQ(values("--slicing-floor"), Texts{"3000"});
  EXPECT_EQ(values("--never-slice"), (Texts{"reduce", "scan"}));
}

TEST_F(WorkerArguments, CarryTheProgramsWishForSlicingIfThereIsOne) {
  EXPECT_EQ(values("--slice"), Texts{});
  session.slicing = {session::SlicingWish::Kind::blocks, 1500};
  EXPECT_EQ(values("--slice"), Texts{"blocks:1500"});
}

TEST_F(WorkerArguments, SayWhereADevicesThreadsMayRunOnlyIfAnywhere) {
  const auto said = [&] {
    const Texts arguments = worker_arguments(session, {50, 51}, config);
    return std::count(arguments.begin(), arguments.end(), "--threads-anywhere");
  };
  EXPECT_EQ(said(), 0);
  config.core_per_thread = false;
  EXPECT_EQ(said(), 1);
}

}  // namespace
}  // namespace fairgv::daemon
