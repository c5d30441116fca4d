// The messages between tools and the daemon: requests, outcomes and reports.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/socket.hpp"
#include "runtime/control/answers.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::control {
namespace {

using Command = ControlRequest::Command;

const session::TenantWish kWholeWish{
    .weight = 4,
    .min = sched::Reservation{std::chrono::milliseconds(5), std::chrono::milliseconds(40)},
    .max = sched::Share{500'000},
    .service = session::ServiceWish{sched::ServiceClass::latency, std::chrono::milliseconds(3)}};

TEST(ControlProtocol, RequestsArriveAsTheyWereSent) {
  const auto set = parse_control_request(to_text(ControlRequest{Command::set, "bob", {.weight = 4}}));
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->command, Command::set);
  EXPECT_EQ(set->tenant, "bob");
  EXPECT_EQ(set->wish.weight, 4u);
  ControlRequest all{Command::set, "bob", kWholeWish};
  all.memory = MemorySize{};
  const auto parts = parse_control_request(to_text(all));
  ASSERT_TRUE(parts) << parts.error().message;
  EXPECT_EQ(parts->wish, kWholeWish);
  EXPECT_TRUE(parts->memory);
  EXPECT_EQ(parse_control_request(to_text(ControlRequest{Command::stop, ""}))->command, Command::stop);
  EXPECT_EQ(parse_control_request(to_text(ControlRequest{}))->command, Command::ps);
  ControlRequest policy;
  policy.command = Command::set_policy;
  policy.policy = "fifo";
  EXPECT_EQ(parse_control_request(to_text(policy))->policy, "fifo");
  EXPECT_EQ(parse_control_request(to_text(policy))->device, std::nullopt);
  policy.device = 3;
  EXPECT_EQ(parse_control_request(to_text(policy))->device, 3u);
}

TEST(ControlProtocol, TheTenantsInFrontArriveAsTheyWereSent) {
  ControlRequest request;
  request.command = Command::focus;
  for (const std::vector<std::string>& names : {std::vector<std::string>{}, {"a", "b@lab"}}) {
    request.front = names;
    const auto read = parse_control_request(to_text(request));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->command, Command::focus);
    EXPECT_EQ(read->front, names);
  }
  for (const char* text : {R"({"command":"focus"})", R"({"command":"focus","tenants":["a b"]})",
                           R"({"command":"focus","tenants":[3]})", R"({"command":"focus","tenants":"a"})"}) {
    EXPECT_FALSE(parse_control_request(text)) << text;
  }
  const auto answer = parse_front_answer(to_text(FrontAnswer{{"a"}, {"b is not yours"}}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->front, std::vector<std::string>{"a"});
  EXPECT_EQ(answer->refused, std::vector<std::string>{"b is not yours"});
  EXPECT_EQ(parse_front_answer(failure_text("no policy")).error().message, "no policy");
}

TEST(ControlProtocol, RequestsThatMoveSessionsArriveAsTheyWereSent) {
  ControlRequest request;
  for (const auto command : {Command::drain, Command::undrain}) {
    request.command = command;
    request.device = 3;
    const auto drain = parse_control_request(to_text(request));
    ASSERT_TRUE(drain) << drain.error().message;
    EXPECT_EQ(drain->command, command);
    EXPECT_EQ(drain->device, 3u);
  }
  request = {};
  request.command = Command::migrate;
  request.session = 7;
  EXPECT_FALSE(parse_control_request(to_text(request))->force);
  request.force = true;
  EXPECT_TRUE(parse_control_request(to_text(request))->force);
  request.command = Command::park;
  EXPECT_FALSE(parse_control_request(to_text(request))->to_file);
  request.to_file = request.wake = true;
  const auto park = parse_control_request(to_text(request));
  ASSERT_TRUE(park) << park.error().message;
  EXPECT_TRUE(park->to_file && park->wake);
  request.facts.emplace().holdings = {1, 2};
  for (const auto command :
       {Command::checkpoint, Command::checkpoint_copied, Command::restore, Command::restore_filled}) {
    request.command = command;
    const auto asked = parse_control_request(to_text(request));
    ASSERT_TRUE(asked) << asked.error().message;
    EXPECT_EQ(asked->command, command);
    EXPECT_EQ(asked->session, 7u);
    EXPECT_EQ(asked->facts.has_value(), command == Command::restore);
  }
  for (const char* text : {R"({"command":"drain"})", R"({"command":"drain","device":64})",
                           R"({"command":"restore","session":7})", R"({"command":"checkpoint"})",
                           R"({"command":"restore","session":7,"facts":{}})",
                           R"({"command":"restore","session":7,"facts":{"place":[1]}})",
                           R"({"command":"park","session":7,"wake":1})"})
    EXPECT_FALSE(parse_control_request(text)) << text;
}

TEST(ControlProtocol, RequestsForASessionOrATenantArriveAsTheyWereSent) {
  for (const auto command : {Command::kill, Command::pause, Command::resume}) {
    ControlRequest request;
    request.command = command;
    request.session = 7;
    const auto session = parse_control_request(to_text(request));
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(session->command, command);
    EXPECT_EQ(session->session, 7u);
    request.session.reset();
    request.tenant = "7";
    const auto tenant = parse_control_request(to_text(request));
    ASSERT_TRUE(tenant) << tenant.error().message;
    EXPECT_EQ(tenant->command, command);
    EXPECT_EQ(tenant->tenant, "7");
    EXPECT_FALSE(tenant->session);
  }
  for (const char* text : {R"({"command":"kill"})", R"({"command":"pause","session":1,"tenant":"a"})",
                           R"({"command":"resume","tenant":""})", R"({"command":"kill","session":"1"})",
                           R"({"command":"kill","session":-1})", R"({"command":"pause","tenant":"a b"})"}) {
    EXPECT_FALSE(parse_control_request(text)) << text;
  }
}

TEST(ControlProtocol, BadRequestsAreRefused) {
  for (const char* text :
       {"", "{}", R"({"command":"format"})", R"({"command":"set"})",
        R"({"command":"set","tenant":"a b","weight":1})", R"({"command":"set","tenant":"a","weight":0})",
        R"({"command":"set","tenant":"a","weight":"abc"})", R"({"command":"policy"})",
        R"({"command":"set","tenant":"a","weight":1,"min":"half"})",
        R"({"command":"set","tenant":"a","max":"0%"})", R"({"command":"whoami","service":"best"})",
        R"({"command":"policy","policy":"fair","device":-1})", R"({"command":"whoami","tenant":"a b"})"}) {
    EXPECT_FALSE(parse_control_request(text)) << text;
  }
}

TEST(ControlProtocol, PausesArriveInAReport) {
  Report report;
  report.tenants.resize(2);
  report.tenants[0].tenant = "a";
  report.tenants[0].paused = Pause{1000, false};
  report.tenants[1].tenant = "b";
  report.tenants[1].sessions.resize(1);
  report.tenants[1].sessions[0].paused = Pause{0, true};
  const auto read = parse_report(to_text(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tenants[0].paused, (Pause{1000, false}));
  EXPECT_EQ(read->tenants[1].paused, std::nullopt);
  EXPECT_EQ(read->tenants[1].sessions[0].paused, (Pause{0, true}));
}

TEST(ControlProtocol, TheResultOfAReloadArrivesAsItWasSent) {
  const auto report = parse_reload_report(to_text(ReloadReport{"/f", {"a", "b"}, {"c"}, {"d"}, {"e"}}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->file, "/f");
  EXPECT_EQ(report->at_once, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(report->new_programs, std::vector<std::string>{"c"});
  EXPECT_EQ(report->restart, std::vector<std::string>{"d"});
  EXPECT_EQ(report->warnings, std::vector<std::string>{"e"});
  const auto refused = parse_reload_report(refusal_text({"f:1:1: x", "f:2:1: y\x1b"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the configuration stays as it was\nf:1:1: x\nf:2:1: y?");
  EXPECT_EQ(parse_reload_report(failure_text("no")).error().message, "no");
}

TEST(ControlProtocol, AnAnswerToWhoamiArrivesAsItWasSent) {
  WhoAmI who;
  who.uid = 1000;
  who.user = "alice";
  who.groups = {1000, 44};
  who.cgroup = "/x";
  who.container = "podman:1";
  who.rule = "[[match]] 1";
  who.tenant = "a";
  who.class_name = "gold";
  who.weight = 3;
  who.min = "20%";
  who.max = "50%";
  who.service = "latency:5ms";
  who.memory_limits = {7};
  who.devices = "best";
  who.device_choice = {"device 1 now, 50.0% of it to be expected"};
  who.administrator = true;
  const auto read = parse_whoami(to_text(who));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(read.value()), to_text(who));
  EXPECT_EQ(read->service, "latency:5ms");
  EXPECT_FALSE(read->refusal);
  auto older = nlohmann::json::parse(to_text(who));
  ASSERT_EQ(older.erase("min") + older.erase("max") + older.erase("service"), 3u);
  EXPECT_EQ(parse_whoami(older.dump())->min, "");
  EXPECT_EQ(parse_config_answer(config_text("[device]\n")).value(), "[device]\n");
  ControlRequest request;
  request.command = Command::whoami;
  request.tenant = "a";
  request.wish = kWholeWish;
  EXPECT_EQ(parse_control_request(to_text(request))->tenant, "a");
  EXPECT_EQ(parse_control_request(to_text(request))->wish, kWholeWish);
  for (const auto command : {Command::reload, Command::config}) {
    request.command = command;
    EXPECT_EQ(parse_control_request(to_text(request))->command, command);
  }
}

Report full_report(std::size_t tenants) {
  Report report;
  report.daemon = {42, "0.1.0", "/run/fairgv/fairgvd.sock", 1.5, 6.0};
  report.daemon.promised_share = 0.25;
  report.daemon.promise_limit_share = 0.9;
  report.devices = {{0, "PoCL", "cpu", "tenant0"}, {1, "PoCL", "other", std::nullopt}};
  for (std::size_t i = 0; i < tenants; ++i) {
    Report::Tenant tenant;
    tenant.tenant = "tenant" + std::to_string(i);
    tenant.weight = 2;
    tenant.uid = 1'000;
    tenant.sessions = {{static_cast<std::uint32_t>(i + 1), 100, "prog", 101, "busy"}};
    tenant.sessions[0].long_commands = {{0, "reduce", "it uses pipes", 3, 4'210'000'000, 5'000'000'000}};
    tenant.sessions[0].uid = 1'001;
    tenant.sessions[0].age_s = 2.5;
    tenant.sessions[0].device_time_ns = {7, UINT64_MAX};
    tenant.sessions[0].memory_used = {8, 9};
    tenant.sessions[0].compiles = true;
    tenant.sessions[0].waits_for = "asked back";
    tenant.sessions[0].devices = {1};
    tenant.sessions[0].passed_over = {"device 0: memory: 1 GiB of 2 GiB left"};
    tenant.device_time_ns = {UINT64_MAX, 0};
    tenant.share = {0.25, 0};
    tenant.ideal_share = 0.5;
    tenant.commands = 9;
    Report::Use use;
    use.entitled_ns = 3;
    use.entitled_share = 0.75;
    use.wait_p99_ns = 17'000;
    use.queue = 2;
    use.bytes = UINT64_MAX;
    use.memory_byte_s = 1.5;
    use.units = 12;
    use.holding = {0.5, 0.25, 0.75, 30, 24.5, 6};
    tenant.use = {use, {}};
    tenant.sessions_started = 4;
    tenant.faults = {1, 2, 3};
    tenant.min = "20%";
    tenant.max = "50%";
    tenant.service = "latency:5ms";
    tenant.min_share = 0.2;
    tenant.max_share = 0.5;
    tenant.timegraph = Report::TimeGraphTask{"HT", "AE", "10ms/40ms", "*", false, true, true};
    report.tenants.push_back(tenant);
  }
  report.devices[0].oversold = {0.2, 0.625, 1.5, 2, true, 3, 4, false};
  report.kills = {{7, "tenant0", 1'000, 4711, "prog", "its worker\nwas killed", 3.5}};
  return report;
}

TEST(ControlProtocol, AReportArrivesAsItWasSent) {
  const auto read = parse_report(to_text(full_report(2)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->daemon.pid, 42);
  EXPECT_EQ(read->daemon.slice_ms, 6.0);
  ASSERT_EQ(read->devices.size(), 2u);
  EXPECT_EQ(read->devices[0].holder, "tenant0");
  EXPECT_FALSE(read->devices[1].holder);
  ASSERT_EQ(read->tenants.size(), 2u);
  const Report::Tenant& tenant = read->tenants[1];
  EXPECT_EQ(tenant.tenant, "tenant1");
  EXPECT_EQ(tenant.device_time_ns, (std::vector<std::uint64_t>{UINT64_MAX, 0}));
  EXPECT_EQ(tenant.share, (std::vector<double>{0.25, 0}));
  ASSERT_EQ(tenant.sessions.size(), 1u);
  EXPECT_EQ(tenant.sessions[0].state, "busy");
  ASSERT_EQ(tenant.use.size(), 2u);
  EXPECT_EQ(tenant.use[0].entitled_ns, 3u);
  EXPECT_EQ(tenant.use[0].wait_p99_ns, 17'000u);
  EXPECT_EQ(tenant.use[0].queue, 2u);
  EXPECT_EQ(tenant.use[0].bytes, UINT64_MAX);
  EXPECT_EQ(tenant.use[0].memory_byte_s, 1.5);
  EXPECT_EQ(tenant.use[0].units, 12u);
  ASSERT_TRUE(tenant.use[0].holding);
  EXPECT_EQ(tenant.use[0].holding->cap, 0.25);
  EXPECT_EQ(tenant.use[0].holding->level, 24.5);
  EXPECT_EQ(tenant.use[0].holding->broken_seconds, 6u);
  EXPECT_FALSE(tenant.use[1].holding);
  ASSERT_TRUE(read->devices[0].oversold);
  EXPECT_EQ(read->devices[0].oversold->overbooking, 1.5);
  EXPECT_EQ(read->devices[0].oversold->overloaded, 2u);
  EXPECT_TRUE(read->devices[0].oversold->warning);
  EXPECT_EQ(read->devices[0].oversold->changes, 4u);
  EXPECT_FALSE(read->devices[1].oversold);
  EXPECT_EQ(tenant.sessions_started, 4u);
  EXPECT_EQ(tenant.faults.violations, 3u);
  EXPECT_EQ(tenant.min + " " + tenant.max + " " + tenant.service, "20% 50% latency:5ms");
  EXPECT_EQ(tenant.min_share, 0.2);
  EXPECT_EQ(tenant.max_share, 0.5);
  ASSERT_TRUE(tenant.timegraph);
  EXPECT_EQ(tenant.timegraph->scheduling, "HT");
  EXPECT_EQ(tenant.timegraph->enforcement, "AE");
  EXPECT_EQ(tenant.timegraph->reserve, "10ms/40ms");
  EXPECT_EQ(tenant.timegraph->priority, "*");
  EXPECT_FALSE(tenant.timegraph->shared);
  EXPECT_TRUE(tenant.timegraph->refused);
  EXPECT_TRUE(tenant.timegraph->foreground);
  EXPECT_EQ(read->daemon.promised_share, 0.25);
  EXPECT_EQ(read->daemon.promise_limit_share, 0.9);
  EXPECT_EQ(tenant.sessions[0].uid, 1'001u);
  EXPECT_EQ(tenant.sessions[0].age_s, 2.5);
  EXPECT_EQ(tenant.sessions[0].device_time_ns, (std::vector<std::uint64_t>{7, UINT64_MAX}));
  EXPECT_EQ(tenant.sessions[0].memory_used, (std::vector<std::uint64_t>{8, 9}));
  EXPECT_TRUE(tenant.sessions[0].compiles);
  EXPECT_EQ(tenant.sessions[0].waits_for, "asked back");
  EXPECT_EQ(tenant.sessions[0].devices, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(tenant.sessions[0].passed_over, full_report(2).tenants[1].sessions[0].passed_over);
  EXPECT_EQ(tenant.due(0), 0.75);
  EXPECT_EQ(tenant.due(1), 0.5) << "nothing is said of it";
  ASSERT_EQ(read->kills.size(), 1u);
  EXPECT_EQ(read->kills[0].tenant, "tenant0");
  EXPECT_EQ(read->kills[0].pid, 4711);
  EXPECT_EQ(read->kills[0].reason, "its worker?was killed") << "one line for a terminal";
  EXPECT_EQ(read->kills[0].ago_s, 3.5);
  EXPECT_EQ(tenant.sessions[0].long_commands, full_report(2).tenants[1].sessions[0].long_commands);
}

TEST(ControlProtocol, AnOlderDaemonsReportWithoutTheNewerFieldsIsRead) {
  auto json = nlohmann::json::parse(to_text(full_report(1)));
  auto& session = json["tenants"][0]["sessions"][0];
  ASSERT_EQ(session.erase("long_commands") + session.erase("interactive"), 2u);
  ASSERT_EQ(session.erase("uid") + session.erase("age_s") + json.erase("kills"), 3u);
  ASSERT_EQ(session.erase("compiles") + session.erase("waits_for"), 2u);
  ASSERT_EQ(session.erase("devices") + session.erase("passed_over"), 2u);
  ASSERT_EQ(json["tenants"][0].erase("use") + json["tenants"][0].erase("min_share"), 2u);
  ASSERT_EQ(json["daemon"].erase("promise_limit_share"), 1u);
  const auto without_promises = parse_report(json.dump());
  ASSERT_TRUE(without_promises) << without_promises.error().message;
  EXPECT_EQ(without_promises->tenants[0].min, "");
  EXPECT_EQ(without_promises->tenants[0].max_share, 1.0);
  EXPECT_EQ(without_promises->daemon.promise_limit_share, 0.0);
  ASSERT_EQ(json["daemon"].erase("restarts"), 1u);
  const auto read = parse_report(json.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->tenants[0].sessions[0].long_commands.empty());
  EXPECT_FALSE(read->tenants[0].sessions[0].uid);
  EXPECT_FALSE(read->tenants[0].sessions[0].compiles);
  EXPECT_EQ(read->tenants[0].sessions[0].waits_for, "");
  EXPECT_TRUE(read->kills.empty());
}

TEST(ControlProtocol, TheReportHasTheFieldsThatScriptsReadByName) {
  const auto json = nlohmann::json::parse(to_text(full_report(1)));
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["daemon"]["pid"], 42);
  EXPECT_EQ(json["tenants"][0]["sessions"][0]["worker_pid"], 101);
  const auto& command = json["tenants"][0]["sessions"][0]["long_commands"][0];
  EXPECT_EQ(command["device"], 0);
  EXPECT_EQ(command["name"], "reduce");
  EXPECT_EQ(command["reason"], "it uses pipes");
  EXPECT_EQ(command["count"], 3);
  EXPECT_EQ(command["longest_ns"], 4'210'000'000);
  EXPECT_EQ(command["total_ns"], 5'000'000'000);
  EXPECT_EQ(json["devices"][1]["holder"], nullptr);
}

TEST(ControlProtocol, AnswersOfAnyLengthArriveWhole) {
  auto pair = Socket::pair();
  ASSERT_TRUE(pair);
  for (const std::size_t tenants : {1UL, 600UL}) {
    const std::string sent = to_text(full_report(tenants));
    ASSERT_EQ(sent.size() > kMaxPacket, tenants > 1);
    ASSERT_TRUE(send_answer(pair->first, sent));
    const auto received = receive_answer(pair->second);
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(received.value() == sent) << tenants;
  }
}

TEST(ControlProtocol, AFailureCarriesItsReason) {
  EXPECT_TRUE(parse_outcome(success_text()));
  EXPECT_TRUE(warnings_of(success_text()).empty());
  const std::vector<std::string> warnings{"the first", "the second"};
  EXPECT_TRUE(parse_outcome(success_text(warnings)));
  EXPECT_EQ(warnings_of(success_text(warnings)), warnings);
  EXPECT_TRUE(warnings_of("nonsense").empty());
  const auto outcome = parse_outcome(failure_text("there is no tenant 'x'"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "there is no tenant 'x'");
  EXPECT_FALSE(parse_outcome("{\"ok\":3}"));
}

}  // namespace
}  // namespace fairgv::control
