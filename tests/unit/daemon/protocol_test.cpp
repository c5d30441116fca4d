// The messages of programs and workers: each side reads the messages that the other writes, and nonsense is
// refused with a reason.
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/control/answers.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/session/protocol.hpp"
#include "tests/harness/sanitized.hpp"

namespace fairgv::session {
namespace {

TEST(Protocol, AHelloArrivesAsItWasSent) {
  Hello hello;
  hello.tenant = "alice";
  hello.wish.weight = 7;
  hello.program = "clinfo";
  hello.slicing = {SlicingWish::Kind::random, UINT64_MAX};
  const auto read = parse_hello(to_text(hello));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->role, Hello::Role::tenant);
  EXPECT_EQ(read->tenant, "alice");
  EXPECT_EQ(read->wish.weight, 7u);
  EXPECT_EQ(read->program, "clinfo");
  EXPECT_EQ(read->slicing, hello.slicing);

  Hello nameless;
  const auto plain = parse_hello(to_text(nameless));
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tenant);
  EXPECT_FALSE(plain->wish.weight);
  EXPECT_EQ(plain->slicing, SlicingWish{});
}

TEST(Protocol, AHelloMentionsSlicingOnlyIfTheProgramHasAWish) {
  Hello hello;
  EXPECT_EQ(nlohmann::json::parse(to_text(hello)).count("slice"), 0U);
  hello.slicing = {SlicingWish::Kind::off};
  EXPECT_EQ(nlohmann::json::parse(to_text(hello))["slice"], "off");
}

TEST(Protocol, UnknownFieldsOfAHelloAreIgnored) {
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
  EXPECT_EQ(std::get<Welcome>(read.value()).hidden_devices, 0u);
  welcome.names = Names::driver;
  welcome.hidden_devices = std::uint64_t{1} << 62 | 1;
  const auto again = parse_hello_answer(to_text(welcome));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(std::get<Welcome>(again.value()).names, Names::driver);
  EXPECT_EQ(std::get<Welcome>(again.value()).hidden_devices, welcome.hidden_devices);
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
  EXPECT_EQ(std::get<WorkerReady>(read.value()).nameable, ~std::uint64_t{0});
  const WorkerReady knows_more{.devices = {{"Other", "gpu", 4, 1, "pci 1", 261'000}}, .nameable = 1};
  const auto more = parse_worker_message(to_text(knows_more));
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(std::get<WorkerReady>(more.value()).devices.at(0).speed, 261'000u);
  EXPECT_EQ(std::get<WorkerReady>(more.value()).nameable, 1u);
  const auto failed = parse_worker_message(to_text(WorkerFailed{"no driver"}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(std::get<WorkerFailed>(failed.value()).reason, "no driver");
  const LongCommand command{3, "reduce", "it uses pipes", 2, 4'210'000'000, INT64_MAX};
  const auto told = parse_worker_message(to_text(command));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(std::get<LongCommand>(told.value()), command);
}

TEST(Protocol, MessagesAboutAFailingDeviceArriveAsTheyWereSent) {
  const auto said = parse_worker_message(to_text(DeviceFailed{2, "CL_DEVICE_NOT_AVAILABLE"}));
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(std::get<DeviceFailed>(said.value()).device, 2U);
  EXPECT_EQ(std::get<DeviceFailed>(said.value()).reason, "CL_DEVICE_NOT_AVAILABLE");
  for (const auto verdict :
       {TrialEnded::Verdict::works, TrialEnded::Verdict::failed, TrialEnded::Verdict::unknown}) {
    const auto ended = parse_worker_message(to_text(TrialEnded{verdict, "a\nreason"}));
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(std::get<TrialEnded>(ended.value()).verdict, verdict);
    EXPECT_EQ(std::get<TrialEnded>(ended.value()).reason, "a?reason");
  }
  EXPECT_FALSE(parse_worker_message(R"({"worker":"trial","verdict":"perhaps","reason":""})"));
  EXPECT_FALSE(parse_worker_message(R"({"worker":"device failed","device":-1,"reason":""})"));
  const auto order = parse_worker_order(to_text(UseDevice{3}));
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(std::get<UseDevice>(order.value()).device, 3U);
}

TEST(Protocol, ADirectProgramHearsOfItsEnds) {
  Hello hello;
  EXPECT_EQ(nlohmann::json::parse(to_text(hello)).count("direct"), 0U);
  hello.direct = true;
  EXPECT_TRUE(parse_hello(to_text(hello))->direct);
  const auto read = parse_direct_answer(to_text(DirectEnds{7, "/lib/libcuda.so.1", 2.5, 3}));
  ASSERT_TRUE(read) << read.error().message;
  const auto& ends = std::get<DirectEnds>(read.value());
  EXPECT_EQ(ends.session, 7U);
  EXPECT_EQ(ends.library, "/lib/libcuda.so.1");
  EXPECT_EQ(ends.slice_ms, 2.5);
  EXPECT_EQ(ends.samples, 3U);
  // An older daemon welcomes it, and has started a worker.
  const auto older = parse_direct_answer(to_text(Welcome{}));
  ASSERT_TRUE(older);
  EXPECT_TRUE(std::holds_alternative<Welcome>(older.value()));
  const auto refused = parse_direct_answer(to_text(Refused{"no"}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(std::get<Refused>(refused.value()).reason, "no");
}

TEST(Protocol, ADriversMessagesArriveAndAreMadePrintable) {
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

TEST(Protocol, AWorkerMayReportDriversThatCannotBeOpened) {
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

TEST(Protocol, ALongCommandWithImpossibleFieldsIsRefused) {
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

TEST(Protocol, AnotherVersionOfTheProtocolIsRefusedWithBothVersions) {
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

TEST(Protocol, MutilatedMessagesNeverCrashAParser) {
  std::mt19937 random(1);
  const std::string originals[] = {
      to_text(Hello{}),
      to_text(Welcome{}),
      to_text(DirectEnds{1, "/l", 6, 5}),
      to_text(WorkerReady{{{"p", "n", 1}}}),
      to_text(LongCommand{0, "n", "r", 1, 1, 1}),
      to_text(control::ControlRequest{control::ControlRequest::Command::set, "a", {.weight = 1}}),
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
    (void)parse_direct_answer(text);
    (void)control::parse_reload_report(text);
    (void)control::parse_whoami(text);
    (void)control::parse_config_answer(text);
  }
  EXPECT_GT(refused, 4 * kRounds);  // each text is meant for one parser of five
}

}  // namespace
}  // namespace fairgv::session
