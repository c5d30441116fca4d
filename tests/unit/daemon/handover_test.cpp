// The state that one daemon leaves to the next, as text.
#include "runtime/daemon/handover/handover.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

/// The state of a tenant's promises, of every kind.
sched::TenantBudget budget() {
  return {.ahead = 4ms,
          .guaranteed_until = sched::Time(11s),
          .last_second = {{sched::Time(9s), sched::Time(9s + 3ms), 2ms}},
          .paced_until = sched::Time(10s),
          .reserve = sched::ReserveState{-1ms, sched::Time(12s)}};
}

Handover example() {
  return {.listener = 7,
          .listener_is_borrowed = true,
          .lock = 8,
          .last_session = 41,
          .devices = {{"Portable", "cpu \"0\"", 2, 1'000}, {"Other", "gpu", 4, 0, "pci 0000:01:00.0"}},
          .hardware = {0, 0},
          .tenants = {{"alice",
                       1000,
                       {.weight = 3, .min = sched::Reservation{5ms, 50ms}, .max = sched::Share{400'000}},
                       {},
                       {{1'500ms, 20ms, {1, 2, 3, 4, 5, 6, 7, 8}, {}, budget()}, {}},
                       {},
                       {},
                       {4, 3, 2, 1},
                       {77s, 0s},
                       {{1.5, 9}},
                       {{.device_ns = 12, .memory_byte_s = 0.5}}},
                      {"bob",
                       1001,
                       {},
                       {.weight = 9, .service = session::ServiceWish{sched::ServiceClass::latency, 5ms}},
                       {},
                       MemorySize{0, 30},
                       MemorySize{4096},
                       {},
                       {},
                       {},
                       {},
                       "gold",
                       true,
                       true,
                       control::Pause{0, true},
                       Probation(3, Probation::Time(3s)),
                       {{0, {600'000}, {250'000}}, {2, {1}, {0}}}}},
          .sessions = {{.id = 40,
                        .tenant = "bob",
                        .peer = {123, 1001, 100},
                        .program = "matrixMul",
                        .features = 3,
                        .slicing = "random:7",
                        .long_commands = {{0, "reduce", "it uses pipes", 3, 5, 9}},
                        .devices = {1, 0},
                        .worker = {456, false, 16, "/sys/fs/cgroup/fairgv-1-40"},
                        .client = 10,
                        .channel = 11,
                        .ledger = 15,
                        .knock = 12,
                        .turns = 13,
                        .segment = 14,
                        .messages = 17,
                        .books = {.used_ns = {17, 0},
                                  .work = {{.commands = 5, .bytes = 6, .units = 7}, {}},
                                  .turns = {{},
                                            TurnBooks{sched::Time(5s), sched::Time(6s), 3ms, 2ms, true,
                                                      sched::Time(7s)}}},
                        .memory = {~std::uint64_t{0}, 5},
                        .paused = control::Pause{1001, false},
                        .held_back_until = std::chrono::steady_clock::time_point(9s),
                        .started = std::chrono::steady_clock::time_point(8s)}},
          .kills = {{SessionId{39}, "alice", 1000, 777, "endless", "held a device", Kill::Time(7s)}}};
}

TEST(Handover, ADirectProgramIsHandedOverByItsDescriptor) {
  Handover handover = example();
  handover.sessions[0].worker = {.pid = 456, .sweeps = false, .program = 19};
  const auto read = parse_handover(to_text(handover));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->sessions[0].worker.program, 19);
  EXPECT_EQ(read->sessions[0].worker.pid, 456);
  EXPECT_EQ(parse_handover(to_text(example()))->sessions[0].worker.program, -1);
}

TEST(Handover, IsReadAsItWasWritten) {
  const std::string text = to_text(example());
  const auto read = parse_handover(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(read.value()), text);
  EXPECT_EQ(read->tenants[0].asked.weight, 3u);
  EXPECT_EQ(read->tenants[0].set.weight, std::nullopt);
  EXPECT_EQ(read->tenants[0].books[0].device_time, 1'500ms);
  EXPECT_EQ(read->tenants[0].books[0].outside, 20ms);
  EXPECT_EQ(read->devices[1].id, "pci 0000:01:00.0");
  EXPECT_EQ(read->hardware, (Hardware{0, 0}));
  EXPECT_EQ(read->sessions[0].devices, (std::vector<std::uint32_t>{1, 0}));
  ASSERT_EQ(read->sessions[0].books.turns.size(), 2u);
  EXPECT_FALSE(read->sessions[0].books.turns[0]);
  EXPECT_EQ(read->sessions[0].books.turns[1]->contested, sched::Time(6s));
  EXPECT_EQ(read->sessions[0].books.turns[1]->charged, 3ms);
  EXPECT_TRUE(read->sessions[0].books.turns[1]->interrupted);
  EXPECT_EQ(read->sessions[0].books.turns[1]->stopped, sched::Time(7s));
  EXPECT_EQ(read->tenants[0].books[0].ended.by_events_ns, 6u);
  EXPECT_EQ(read->tenants[0].books[0].ended.bytes, 8u);
  EXPECT_EQ(read->tenants[0].counts.violations, 1u);
  EXPECT_EQ(read->tenants[0].entitled, example().tenants[0].entitled);
  EXPECT_EQ(read->tenants[0].memory.at(0).byte_seconds, 1.5);
  EXPECT_EQ(read->tenants[0].memory.at(0).refusals, 9u);
  EXPECT_EQ(read->tenants[0].sampled, example().tenants[0].sampled);
  EXPECT_EQ(read->sessions[0].books.work.at(0).bytes, 6u);
  EXPECT_EQ(read->tenants[0].asked, example().tenants[0].asked);
  EXPECT_EQ(read->tenants[0].books[0].budget, budget());
  EXPECT_EQ(read->tenants[1].set, example().tenants[1].set);
  EXPECT_EQ(read->tenants[1].holdings, example().tenants[1].holdings);
  EXPECT_EQ(read->sessions[0].peer.uid, 1001u);
  EXPECT_EQ(read->sessions[0].worker.pid, 456);
  EXPECT_FALSE(read->sessions[0].worker.sweeps);
  EXPECT_EQ(read->sessions[0].worker.group, 16);
  EXPECT_EQ(read->sessions[0].worker.group_path, "/sys/fs/cgroup/fairgv-1-40");
  EXPECT_EQ(read->sessions[0].messages, 17);
  EXPECT_EQ(read->sessions[0].long_commands[0].reason, "it uses pipes");
  EXPECT_EQ(read->sessions[0].books.used_ns, (std::vector<std::uint64_t>{17, 0}));
  EXPECT_EQ(read->sessions[0].memory, (std::vector<std::uint64_t>{~std::uint64_t{0}, 5}));
  EXPECT_EQ(read->devices[0].memory, 1'000u);
  EXPECT_EQ(read->tenants[1].asked_memory, (MemorySize{0, 30}));
  EXPECT_EQ(read->tenants[1].set_memory, MemorySize{4096});
  EXPECT_EQ(read->tenants[1].class_name, "gold");
  EXPECT_TRUE(read->tenants[1].assigned);
  EXPECT_FALSE(read->tenants[0].assigned);
  EXPECT_TRUE(read->tenants[1].in_background && !read->tenants[0].in_background);
  EXPECT_EQ(read->tenants[0].paused, std::nullopt);
  EXPECT_EQ(read->tenants[1].paused, (control::Pause{0, true}));
  EXPECT_EQ(read->sessions[0].paused, (control::Pause{1001, false}));
  EXPECT_EQ(read->sessions[0].held_back_until, std::chrono::steady_clock::time_point(9s));
  EXPECT_EQ(read->sessions[0].started, std::chrono::steady_clock::time_point(8s));
  EXPECT_EQ(read->tenants[1].probation.strikes(Probation::Time(4s)), 3u);
  EXPECT_EQ(read->tenants[0].probation.strikes(Probation::Time(4s)), 0u);
  ASSERT_EQ(read->kills.size(), 1u);
  EXPECT_EQ(read->kills[0].reason, "held a device");
  EXPECT_EQ(read->kills[0].at, Kill::Time(7s));
}

TEST(Handover, OfADaemonThatKeptItsKillsToItselfHasNone) {
  auto object = nlohmann::json::parse(to_text(example()));
  ASSERT_EQ(object.erase("kills"), 1u);
  EXPECT_TRUE(parse_handover(object.dump())->kills.empty());
}

TEST(Handover, OfADaemonThatKnewNoViewsHasAllDevicesInTheirOrder) {
  auto object = nlohmann::json::parse(to_text(example()));
  for (const char* key : {"devices", "turns_in_progress"}) object["sessions"][0].erase(key);
  const auto read = parse_handover(object.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->sessions[0].devices, (std::vector<std::uint32_t>{0, 1}));
}

TEST(Handover, OfADaemonThatKnewNoSharedHardwareHasEachDeviceOnItsOwn) {
  auto object = nlohmann::json::parse(to_text(example()));
  for (auto& device : object["devices"]) device.erase("same_as");
  EXPECT_EQ(parse_handover(object.dump())->hardware, (Hardware{0, 1}));
  for (const int nonsense : {2, -1}) {
    object["devices"][1]["same_as"] = nonsense;
    EXPECT_FALSE(parse_handover(object.dump()));
  }
}

TEST(Handover, OfADaemonThatRelayedNoDriversWordsAClientExpectsNone) {
  Handover handover = example();
  handover.sessions[0].features = session::kFeatures;
  auto object = nlohmann::json::parse(to_text(handover));
  EXPECT_EQ(parse_handover(object.dump())->sessions[0].features, session::kFeatures);
  object["sessions"][0].erase("driver_messages");
  EXPECT_EQ(parse_handover(object.dump())->sessions[0].features,
            session::kFeatures - session::kDriverMessages);
}

TEST(Handover, OfADaemonThatServedOpenClOnlyNamesNoApi) {
  Handover handover = example();
  handover.sessions[0].api = session::Api::cuda;
  auto object = nlohmann::json::parse(to_text(handover));
  EXPECT_EQ(parse_handover(object.dump())->sessions[0].api, session::Api::cuda);
  object["sessions"][0].erase("api");
  EXPECT_EQ(parse_handover(object.dump())->sessions[0].api, session::Api::opencl);
}

TEST(Handover, OfADeviceTurnOrApiThatThereIsNotIsRefused) {
  for (const char* const broken :
       {R"({"api": "vulkan"})", R"({"devices": [0, 0]})", R"({"devices": [2]})",
        R"({"turns_in_progress": [{"device": 2, "granted": 1, "charged": 1, "before": 1}]})",
        R"({"turns_in_progress": [{"device": 0}]})"}) {
    auto object = nlohmann::json::parse(to_text(example()));
    object["sessions"][0].update(nlohmann::json::parse(broken));
    EXPECT_FALSE(parse_handover(object.dump())) << broken;
  }
}

TEST(Handover, OfAnotherVersionOrBrokenIsRefusedInOneLine) {
  std::string text = to_text(example());
  for (const std::string& broken :
       {std::string(), std::string("{}"), text.substr(0, text.size() / 2),
        std::string(text).replace(text.find("\"handover\":1"), 12, "\"handover\":2"),
        std::string(text).replace(text.find("\"knock\":12"), 10, "\"knock\":-1")}) {
    const auto read = parse_handover(broken);
    ASSERT_FALSE(read) << broken;
    EXPECT_FALSE(read.error().message.empty());
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
}

TEST(Handover, GoesThroughAMemoryFileThatSurvivesExec) {
  auto file = store(example());
  ASSERT_TRUE(file);
  EXPECT_EQ(::fcntl(file->get(), F_GETFD), 0);
  const auto read = take(std::move(file).value());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(read.value()), to_text(example()));
}

TEST(Handover, KeepsEveryDescriptorOverExecOrNone) {
  std::vector<UniqueFd> files;
  const auto file = [&] { return files.emplace_back(::eventfd(0, EFD_CLOEXEC)).get(); };
  Handover handover = example();
  handover.listener = file();
  handover.lock = file();
  HandedSession& session = handover.sessions[0];
  for (int* const each : {&session.client, &session.channel, &session.ledger, &session.knock, &session.turns,
                          &session.segment, &session.messages, &session.worker.group})
    *each = file();
  ASSERT_TRUE(keep_over_exec(handover, true));
  for (const auto& each : files) EXPECT_EQ(::fcntl(each.get(), F_GETFD), 0);
  ASSERT_TRUE(keep_over_exec(handover, false));
  for (const auto& each : files) EXPECT_EQ(::fcntl(each.get(), F_GETFD), FD_CLOEXEC);
  files.pop_back();
  EXPECT_FALSE(keep_over_exec(handover, true));
}

TEST(Handover, WaitsAreHandedOver) {
  Handover handover = example();
  WaitHistogram& waits = handover.tenants[0].books[0].waits;
  for (const std::chrono::nanoseconds wait : {3ns, 5'000ns, 20'000'000ns}) waits.add(wait);
  const auto read = parse_handover(to_text(handover));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tenants[0].books[0].waits.filled(), waits.filled());
  EXPECT_EQ(read->tenants[0].books[0].waits.sum(), waits.sum());
}

TEST(Handover, OfAnOlderDaemonLacksWhatThatDidNotCount) {
  auto json = nlohmann::json::parse(to_text(example()));
  json.erase("restarts");
  auto& tenant = json["tenants"][0];
  for (const char* const key : {"counts", "entitled", "memory"}) tenant.erase(key);
  for (const char* const key : {"waited", "wait_buckets", "wait_counts", "slices", "bytes"}) {
    tenant["books"][0].erase(key);
  }
  json["sessions"][0].erase("work");
  const auto read = parse_handover(json.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tenants[0].books[0].ended.by_events_ns, 6u);
  EXPECT_EQ(read->tenants[0].books[0].ended.bytes, 0u);
  EXPECT_EQ(read->tenants[0].entitled, std::vector<std::chrono::nanoseconds>());
}

}  // namespace
}  // namespace fairgv::daemon
