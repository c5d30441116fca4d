// The messages on the sockets: what one side writes the other reads, and nonsense is refused with a reason.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "runtime/control/answers.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/session/protocol.hpp"
#include "tests/harness/sanitized.hpp"

namespace fairgv::session {
namespace {

TEST(Protocol, AHelloArrivesAsItWasSent) {
  Hello hello;
  hello.tenant = "alice";
  hello.weight = 7;
  hello.program = "clinfo";
  hello.slicing = {SlicingWish::Kind::random, UINT64_MAX};
  const auto read = parse_hello(to_text(hello));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->role, Hello::Role::tenant);
  EXPECT_EQ(read->tenant, "alice");
  EXPECT_EQ(read->weight, 7u);
  EXPECT_EQ(read->program, "clinfo");
  EXPECT_EQ(read->slicing, hello.slicing);

  Hello nameless;
  const auto plain = parse_hello(to_text(nameless));
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tenant);
  EXPECT_FALSE(plain->weight);
  EXPECT_EQ(plain->slicing, SlicingWish{});
}

TEST(Protocol, AWishForSlicingIsSaidOnlyWhereThereIsOne) {
  Hello hello;
  EXPECT_EQ(nlohmann::json::parse(to_text(hello)).count("slice"), 0U);
  hello.slicing = {SlicingWish::Kind::off};
  EXPECT_EQ(nlohmann::json::parse(to_text(hello))["slice"], "off");
}

TEST(Protocol, FieldsOfANewerFrontEndAreNotMinded) {
  const auto hello = parse_hello(
      R"({"fairgv":"hello","protocol":1,"role":"tenant","tenant":"alice","wish":"of the future","slice":null})");
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_EQ(hello->tenant, "alice");
}

TEST(Protocol, AnAnswerArrivesAsItWasSent) {
  Welcome welcome;
  welcome.session = 12;
  welcome.tenant = "alice";
  welcome.weight = 3;
  const auto read = parse_hello_answer(to_text(welcome));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<Welcome>(read.value()).session, 12u);
  EXPECT_EQ(std::get<Welcome>(read.value()).weight, 3u);
  EXPECT_EQ(std::get<Welcome>(read.value()).names, Names::fairgv);
  welcome.names = Names::driver;
  EXPECT_EQ(std::get<Welcome>(parse_hello_answer(to_text(welcome)).value()).names, Names::driver);
  const auto refused = parse_hello_answer(to_text(Refused{"no"}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(std::get<Refused>(refused.value()).reason, "no");
  EXPECT_TRUE(parse_hello_answer(to_text(Welcome{})));  // to a control connection
}

TEST(Protocol, AWorkersMessageArrivesAsItWasSent) {
  const WorkerReady ready{{{"Portable Computing Language", "cpu", 2}, {"Other", "gpu", 4}}};
  const auto read = parse_worker_message(to_text(ready));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<WorkerReady>(read.value()).devices, ready.devices);
  const auto failed = parse_worker_message(to_text(WorkerFailed{"no driver"}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(std::get<WorkerFailed>(failed.value()).reason, "no driver");
  const LongCommand command{3, "reduce", "it uses pipes", 2, 4'210'000'000, INT64_MAX};
  const auto told = parse_worker_message(to_text(command));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(std::get<LongCommand>(told.value()), command);
}

TEST(Protocol, WhatADriverSaysIsReadAndMadePrintable) {
  const auto told = parse_driver_says(to_text(DriverSays{{"a warning", "\x1b[2J"}, 7}));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->lines, (std::vector<std::string>{"a warning", "?[2J"}));
  EXPECT_EQ(told->answers, 7u);
  EXPECT_EQ(parse_driver_says(to_text(DriverSays{{"x"}}))->answers, 0u);
  EXPECT_FALSE(parse_driver_says(to_text(DriverSays{std::vector<std::string>(kMostDriverLines + 1)})));
  EXPECT_FALSE(parse_driver_says(R"({"fairgv":"driver","lines":[3]})"));
  EXPECT_FALSE(parse_driver_says(to_text(Hear{1})));
  EXPECT_EQ(parse_hear(to_text(Hear{9}))->number, 9u);
  EXPECT_FALSE(parse_hear(to_text(Hear{0})));
  EXPECT_FALSE(parse_hear("{}"));
}

TEST(Protocol, AWorkerMayTellWhichDriversCannotBeOpened) {
  const auto told = parse_worker_message(to_text(WorkerReady{{}, {"a.icd: liba.so: gone", "b\n"}}));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(std::get<WorkerReady>(told.value()).unusable,
            (std::vector<std::string>{"a.icd: liba.so: gone", "b?"}));
  const std::vector<std::string> many(kMostUnusableDrivers + 5, "x");
  EXPECT_EQ(
      std::get<WorkerReady>(parse_worker_message(to_text(WorkerReady{{}, many})).value()).unusable.size(),
      kMostUnusableDrivers);
  EXPECT_FALSE(parse_worker_message(R"({"worker":"ready","devices":[],"unusable":[3]})"));
}

TEST(Protocol, ALongCommandIsMadePrintableAndCut) {
  LongCommand command{0, std::string(128, '\xff'), "a\x1b[2J\nb", 1, 1, 1};
  auto read = parse_worker_message(to_text(command));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<LongCommand>(read.value()).name.size(), 126u);  // 42 whole characters of three bytes
  EXPECT_EQ(std::get<LongCommand>(read.value()).reason, "a?[2J?b");
}

TEST(Protocol, ALongCommandThatCannotBeTrueIsRefused) {
  const auto original = nlohmann::json::parse(to_text(LongCommand{0, "reduce", "it uses pipes", 1, 5, 5}));
  ASSERT_TRUE(parse_worker_message(original.dump()));
  const std::pair<const char*, nlohmann::json> lies[] = {{"device", -1},
                                                         {"device", std::uint64_t{1} << 32},
                                                         {"device", "0"},
                                                         {"name", 7},
                                                         {"name", nullptr},
                                                         {"name", std::string(60'000, 'x')},
                                                         {"reason", nullptr},
                                                         {"reason", std::string(60'000, 'x')},
                                                         {"count", 0},
                                                         {"count", -1},
                                                         {"count", 1.5},
                                                         {"longest_ns", 6},
                                                         {"longest_ns", -1},
                                                         {"total_ns", std::uint64_t{1} << 63},
                                                         {"total_ns", "forever"},
                                                         {"total_ns", nullptr}};
  for (const auto& [field, lie] : lies) {
    auto message = original;
    message[field] = lie;
    EXPECT_FALSE(parse_worker_message(message.dump())) << field << " " << lie.dump().substr(0, 50);
  }
}

TEST(Protocol, AnotherProtocolIsRefusedNamingBoth) {
  for (const char* text : {R"({"fairgv":"hello","protocol":99,"words":"of the future"})",
                           R"({"fairgv":"hello","protocol":0,"role":"tenant"})"}) {
    const auto hello = parse_hello(text);
    ASSERT_FALSE(hello) << text;
    EXPECT_NE(hello.error().message.find("the daemon speaks 1"), std::string::npos) << hello.error().message;
  }
  EXPECT_NE(parse_hello(R"({"fairgv":"hello","protocol":99})").error().message.find("protocol 99"),
            std::string::npos);
}

TEST(Protocol, TenantNamesAreOneTo64OfTheAllowedCharacters) {
  EXPECT_TRUE(is_tenant_name("a"));
  EXPECT_TRUE(is_tenant_name("Alice_2.lab@example-org"));
  EXPECT_TRUE(is_tenant_name(std::string(64, 'x')));
  for (const std::string& bad : {std::string(), std::string(65, 'x'), std::string("a b"), std::string("a/b"),
                                 std::string("\xc3\xa4"), std::string("a\0b", 3), std::string("a\n")}) {
    EXPECT_FALSE(is_tenant_name(bad)) << bad;
  }
}

TEST(Protocol, HostileHellosAreRefusedInOneLine) {
  const std::string deep(60'000, '[');
  const std::string deep_objects = [] {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += R"({"a":)";
    return text;
  }();
  for (const std::string& text :
       {std::string(),
        std::string("{"),
        std::string("[]"),
        std::string("null"),
        std::string("\xff\xfe"),
        deep,
        deep_objects,
        R"({"fairgv":"hello","protocol":1,"role":"tenant","extra":)" + std::string(30'000, '[') +
            std::string(30'000, ']') + "}",
        std::string(R"({"fairgv":"welcome","protocol":1})"),
        std::string(R"({"fairgv":"hello"})"),
        std::string(R"({"fairgv":"hello","protocol":"1"})"),
        std::string(R"({"fairgv":"hello","protocol":1e400})"),
        std::string(R"({"fairgv":"hello","protocol":1})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"root"})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":["tenant"]})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","tenant":"a b"})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","tenant":""})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","tenant":{}})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","weight":0})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","weight":-1})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","weight":10001})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","weight":1.5})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","weight":"2"})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","weight":18446744073709551617})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","program":7})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","slice":7})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","slice":"thin"})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","slice":"blocks:0"})"),
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","slice":"a\nb"})"),
        R"({"fairgv":"hello","protocol":1,"role":"tenant","slice":")" + std::string(60'000, 'x') + "\"}",
        R"({"fairgv":"hello","protocol":1,"role":"tenant","program":")" + std::string(60'000, 'x') + "\"}"}) {
    const auto hello = parse_hello(text);
    ASSERT_FALSE(hello) << text.substr(0, 100);
    EXPECT_FALSE(hello.error().message.empty());
    EXPECT_EQ(hello.error().message.find('\n'), std::string::npos);
  }
}

TEST(Protocol, AProgramsNameIsMadePrintable) {
  const auto hello =
      parse_hello(R"({"fairgv":"hello","protocol":1,"role":"tenant","program":"a\u001b[2J\nb"})");
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->program, "a?[2J?b");
}

TEST(Protocol, TextThatIsNotUtf8CanBeSent) {
  Hello hello;
  hello.program = "\xff\xfe";
  EXPECT_TRUE(parse_hello(to_text(hello)));
}

TEST(Protocol, NoMutilatedMessageIsFatal) {
  std::mt19937 random(1);
  const std::string originals[] = {to_text(Hello{}),
                                   to_text(Welcome{}),
                                   to_text(WorkerReady{{{"p", "n", 1}}}),
                                   to_text(LongCommand{0, "n", "r", 1, 1, 1}),
                                   to_text(control::ControlRequest{control::ControlRequest::Command::set, "a", 1}),
                                   to_text(control::Report{}),
                                   to_text(control::ReloadReport{"/f", {"a"}, {"b"}, {"c"}, {"d"}}),
                                   control::refusal_text({"f:1:1: a", "f:2:1: b"}),
                                   to_text(control::WhoAmI{})};
  constexpr int kRounds = harness::rounds(4'000);
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string text = originals[random() % std::size(originals)];
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t place = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[place] = static_cast<char>(random());
          break;
        case 1:
          text.erase(place, 1 + random() % 5);
          break;
        default:
          text.insert(place, 1, "{}[],:\"0-e\\"[random() % 11]);
      }
      if (text.empty()) text = "x";
    }
    refused += !parse_hello(text) + !parse_hello_answer(text) + !parse_worker_message(text) +
               !control::parse_control_request(text) + !control::parse_report(text);
    (void)control::parse_reload_report(text);
    (void)control::parse_whoami(text);
    (void)control::parse_config_answer(text);
  }
  EXPECT_GT(refused, 4 * kRounds);  // each text is meant for one parser of five
}

TEST(ControlProtocol, RequestsArriveAsTheyWereSent) {
  const auto set = control::parse_control_request(to_text(control::ControlRequest{control::ControlRequest::Command::set, "bob", 4}));
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->command, control::ControlRequest::Command::set);
  EXPECT_EQ(set->tenant, "bob");
  EXPECT_EQ(set->weight, 4u);
  EXPECT_EQ(control::parse_control_request(to_text(control::ControlRequest{control::ControlRequest::Command::stop, {}, 0}))->command,
            control::ControlRequest::Command::stop);
  EXPECT_EQ(control::parse_control_request(to_text(control::ControlRequest{}))->command, control::ControlRequest::Command::ps);
  control::ControlRequest policy;
  policy.command = control::ControlRequest::Command::set_policy;
  policy.policy = "fifo";
  EXPECT_EQ(control::parse_control_request(to_text(policy))->policy, "fifo");
  EXPECT_EQ(control::parse_control_request(to_text(policy))->device, std::nullopt);
  policy.device = 3;
  EXPECT_EQ(control::parse_control_request(to_text(policy))->device, 3u);
}

TEST(ControlProtocol, WhatIsToHappenToASessionOrATenantArrives) {
  for (const auto command :
       {control::ControlRequest::Command::kill, control::ControlRequest::Command::pause, control::ControlRequest::Command::resume}) {
    control::ControlRequest request;
    request.command = command;
    request.session = 7;
    const auto session = control::parse_control_request(to_text(request));
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(session->command, command);
    EXPECT_EQ(session->session, 7u);
    request.session.reset();
    request.tenant = "7";
    const auto tenant = control::parse_control_request(to_text(request));
    ASSERT_TRUE(tenant) << tenant.error().message;
    EXPECT_EQ(tenant->command, command);
    EXPECT_EQ(tenant->tenant, "7");
    EXPECT_FALSE(tenant->session);
  }
  for (const char* text : {R"({"command":"kill"})", R"({"command":"pause","session":1,"tenant":"a"})",
                           R"({"command":"resume","tenant":""})", R"({"command":"kill","session":"1"})",
                           R"({"command":"kill","session":-1})", R"({"command":"pause","tenant":"a b"})"}) {
    EXPECT_FALSE(control::parse_control_request(text)) << text;
  }
}

TEST(ControlProtocol, WhatIsPausedIsReported) {
  control::Report report;
  report.tenants.resize(2);
  report.tenants[0].tenant = "a";
  report.tenants[0].paused = control::Pause{1000, false};
  report.tenants[1].tenant = "b";
  report.tenants[1].sessions.resize(1);
  report.tenants[1].sessions[0].paused = control::Pause{0, true};
  const auto read = control::parse_report(to_text(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tenants[0].paused, (control::Pause{1000, false}));
  EXPECT_EQ(read->tenants[1].paused, std::nullopt);
  EXPECT_EQ(read->tenants[1].sessions[0].paused, (control::Pause{0, true}));
}

TEST(ControlProtocol, WhatAReloadHasDoneArrives) {
  const auto report = control::parse_reload_report(to_text(control::ReloadReport{"/f", {"a", "b"}, {"c"}, {"d"}, {"e"}}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->file, "/f");
  EXPECT_EQ(report->at_once, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(report->new_programs, std::vector<std::string>{"c"});
  EXPECT_EQ(report->restart, std::vector<std::string>{"d"});
  EXPECT_EQ(report->warnings, std::vector<std::string>{"e"});
  const auto refused = control::parse_reload_report(control::refusal_text({"f:1:1: x", "f:2:1: y\x1b"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the configuration stays as it was\nf:1:1: x\nf:2:1: y?");
  EXPECT_EQ(control::parse_reload_report(control::failure_text("no")).error().message, "no");
}

TEST(ControlProtocol, WhoSomebodyIsArrives) {
  control::WhoAmI who;
  who.uid = 1000;
  who.user = "alice";
  who.groups = {1000, 44};
  who.cgroup = "/x";
  who.container = "podman:1";
  who.rule = "[[match]] 1";
  who.tenant = "a";
  who.class_name = "gold";
  who.weight = 3;
  who.memory_limits = {7};
  who.administrator = true;
  const auto read = control::parse_whoami(to_text(who));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(read.value()), to_text(who));
  EXPECT_FALSE(read->refusal);
  EXPECT_EQ(control::parse_config_answer(control::config_text("[device]\n")).value(), "[device]\n");
  control::ControlRequest request;
  request.command = control::ControlRequest::Command::whoami;
  request.tenant = "a";
  EXPECT_EQ(control::parse_control_request(to_text(request))->tenant, "a");
  for (const auto command : {control::ControlRequest::Command::reload, control::ControlRequest::Command::config}) {
    request.command = command;
    EXPECT_EQ(control::parse_control_request(to_text(request))->command, command);
  }
}

TEST(ControlProtocol, BadRequestsAreRefused) {
  for (const char* text :
       {"", "{}", R"({"command":"format"})", R"({"command":"set"})",
        R"({"command":"set","tenant":"a b","weight":1})", R"({"command":"set","tenant":"a","weight":0})",
        R"({"command":"set","tenant":"a","weight":"abc"})", R"({"command":"policy"})",
        R"({"command":"policy","policy":"fair","device":-1})", R"({"command":"whoami","tenant":"a b"})"}) {
    EXPECT_FALSE(control::parse_control_request(text)) << text;
  }
}

control::Report full_report(std::size_t tenants) {
  control::Report report;
  report.daemon = {42, "0.1.0", "/run/fairgv/fairgvd.sock", 1.5, 6.0};
  report.devices = {{0, "PoCL", "cpu", "tenant0"}, {1, "PoCL", "other", std::nullopt}};
  for (std::size_t i = 0; i < tenants; ++i) {
    control::Report::Tenant tenant;
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
    tenant.device_time_ns = {UINT64_MAX, 0};
    tenant.share = {0.25, 0};
    tenant.ideal_share = 0.5;
    tenant.commands = 9;
    control::Report::Use use;
    use.entitled_ns = 3;
    use.wait_p99_ns = 17'000;
    use.queue = 2;
    use.bytes = UINT64_MAX;
    use.memory_byte_s = 1.5;
    tenant.use = {use, {}};
    tenant.sessions_started = 4;
    tenant.faults = {1, 2, 3};
    report.tenants.push_back(tenant);
  }
  report.kills = {{7, "tenant0", 1'000, 4711, "prog", "its worker\nwas killed", 3.5}};
  return report;
}

TEST(ControlProtocol, AReportArrivesAsItWasSent) {
  const auto read = control::parse_report(to_text(full_report(2)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->daemon.pid, 42);
  EXPECT_EQ(read->daemon.slice_ms, 6.0);
  ASSERT_EQ(read->devices.size(), 2u);
  EXPECT_EQ(read->devices[0].holder, "tenant0");
  EXPECT_FALSE(read->devices[1].holder);
  ASSERT_EQ(read->tenants.size(), 2u);
  const control::Report::Tenant& tenant = read->tenants[1];
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
  EXPECT_EQ(tenant.sessions_started, 4u);
  EXPECT_EQ(tenant.faults.violations, 3u);
  EXPECT_EQ(tenant.sessions[0].uid, 1'001u);
  EXPECT_EQ(tenant.sessions[0].age_s, 2.5);
  EXPECT_EQ(tenant.sessions[0].device_time_ns, (std::vector<std::uint64_t>{7, UINT64_MAX}));
  EXPECT_EQ(tenant.sessions[0].memory_used, (std::vector<std::uint64_t>{8, 9}));
  EXPECT_TRUE(tenant.sessions[0].compiles);
  EXPECT_EQ(tenant.sessions[0].waits_for, "asked back");
  ASSERT_EQ(read->kills.size(), 1u);
  EXPECT_EQ(read->kills[0].tenant, "tenant0");
  EXPECT_EQ(read->kills[0].pid, 4711);
  EXPECT_EQ(read->kills[0].reason, "its worker?was killed") << "one line for a terminal";
  EXPECT_EQ(read->kills[0].ago_s, 3.5);
  EXPECT_EQ(tenant.sessions[0].long_commands, full_report(2).tenants[1].sessions[0].long_commands);
}

TEST(ControlProtocol, AnOlderDaemonsReportLacksWhatItDoesNotKnow) {
  auto json = nlohmann::json::parse(to_text(full_report(1)));
  auto& session = json["tenants"][0]["sessions"][0];
  ASSERT_EQ(session.erase("long_commands") + session.erase("interactive"), 2u);
  ASSERT_EQ(session.erase("uid") + session.erase("age_s") + json.erase("kills"), 3u);
  ASSERT_EQ(session.erase("compiles") + session.erase("waits_for"), 2u);
  ASSERT_EQ(json["tenants"][0].erase("use") + json["daemon"].erase("restarts"), 2u);
  const auto read = control::parse_report(json.dump());
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
    ASSERT_TRUE(control::send_answer(pair->first, sent));
    const auto received = control::receive_answer(pair->second);
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(received.value() == sent) << tenants;
  }
}

TEST(ControlProtocol, AFailureCarriesItsReason) {
  EXPECT_TRUE(control::parse_outcome(control::success_text()));
  const auto outcome = control::parse_outcome(control::failure_text("there is no tenant 'x'"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "there is no tenant 'x'");
  EXPECT_FALSE(control::parse_outcome("{\"ok\":3}"));
}

}  // namespace
}  // namespace fairgv::session
