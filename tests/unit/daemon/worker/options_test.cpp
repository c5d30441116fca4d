// The options that a worker is started with.
#include "runtime/daemon/worker/options.hpp"

#include <gtest/gtest.h>

#include <string>

#include "runtime/base/memory_file.hpp"

namespace fairgv::daemon {
namespace {

using session::WorkerOptions;

TEST(WorkerOptions, CarryWhatTheConfigurationSays) {
  struct Line {
    const char* section;
    const char* line;
    const char* told;  // a part of the worker's options
  };
  const Line lines[] = {
      {"device", "samples = 9", R"("samples":9)"},
      {"device", "core_per_thread = false", R"("core_per_thread":false)"},
      {"device", "coscheduling = false", R"("coscheduling":false)"},
      {"device", "slicing = 'static'", R"("slicing":"static")"},
      {"device", "slicing_floor = 3000", R"("slicing_floor":3000)"},
      {"device", "never_slice = ['reduce', 'scan']", R"("never_slice":["reduce","scan"])"},
      {"session", "objects = 70", R"("objects":70)"},
      {"session", "commands = 80", R"("commands":80)"},
  };
  const std::string defaults = to_text(worker_options(Config{}));
  for (const Line& each : lines) {
    const auto config = parse_config("[" + std::string(each.section) + "]\n" + each.line + "\n", "c.toml");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_NE(to_text(worker_options(config.value())).find(each.told), std::string::npos) << each.line;
    EXPECT_EQ(defaults.find(each.told), std::string::npos) << each.told << " would be told anyway";
  }
}

TEST(WorkerOptions, SayHowMuchALoneTenantKeepsInFlight) {
  Config config;
  EXPECT_EQ(worker_options(config).slice_ms, 6) << "whatever the bounds of adaptive slices";
  config.devices.common.slices = sched::SliceRule::constant(std::chrono::milliseconds(2));
  EXPECT_EQ(worker_options(config).slice_ms, 2);
  config.devices.common.slices = sched::kPreemptiveSlice;
  EXPECT_EQ(worker_options(config).slice_ms, 30);
}

/// Options that differ from the default in every field.
WorkerOptions unlike_the_defaults() {
  WorkerOptions options;
  options.tuning = {7, "0-1", false, false, "off", 1, {"a", "b"}, 2, 3};
  options.session = 4;
  options.descriptors = {10, 11, 12, 13, 14};
  options.slice_ms = 1.5;
  options.slicing_wish = {session::SlicingWish::Kind::blocks, 1500};
  options.api = session::Api::cuda;
  options.cuda_libraries = {"/usr/lib/libcuda.so.1", "/opt/libcuda.so.1"};
  options.examine_drivers = true;
  return options;
}

TEST(WorkerOptions, ArriveAsTheyWereSent) {
  const WorkerOptions sent = unlike_the_defaults();
  auto file = session::write_worker_options(sent);
  ASSERT_TRUE(file);
  const auto read = session::read_worker_options(std::move(file).value());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(read.value()), to_text(sent));
  EXPECT_NE(to_text(WorkerOptions{}), to_text(sent));
  EXPECT_EQ(read->tuning.never_slice, sent.tuning.never_slice);
  EXPECT_EQ(read->descriptors.knock, 14);
  EXPECT_EQ(read->slicing_wish, sent.slicing_wish);
  EXPECT_EQ(read->api, session::Api::cuda);
}

TEST(WorkerOptions, HaveNoLedgerWhereTheDaemonNamesNone) {
  WorkerOptions sent = unlike_the_defaults();
  sent.descriptors.ledger = -1;
  const auto read = session::parse_worker_options(to_text(sent));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->descriptors.ledger, -1);
}

TEST(WorkerOptions, MayBeLongerThanAPacket) {
  WorkerOptions sent;
  for (int i = 0; i < 1000; ++i) sent.tuning.never_slice.push_back(std::string(200, 'k') + std::to_string(i));
  auto file = session::write_worker_options(sent);
  ASSERT_TRUE(file);
  const auto read = session::read_worker_options(std::move(file).value());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tuning.never_slice, sent.tuning.never_slice);
}

TEST(WorkerOptions, AreRefusedWithTheNameOfWhatIsWrong) {
  const std::string good = to_text(unlike_the_defaults());
  for (const std::string field :
       {"samples", "device_cores", "coscheduling", "never_slice", "slice_ms", "api"}) {
    std::string text = good;
    text.replace(text.find('"' + field + '"'), field.size() + 2, "\"another\"");
    const auto read = session::parse_worker_options(text);
    ASSERT_FALSE(read) << field;
    EXPECT_NE(read.error().message.find(field), std::string::npos) << read.error().message;
  }
  EXPECT_FALSE(session::parse_worker_options(""));
  EXPECT_FALSE(session::parse_worker_options("{}"));
}

}  // namespace
}  // namespace fairgv::daemon
