// The fields for memory in hello, welcome, ready, set and ps, and messages of older programs without them.
#include <gtest/gtest.h>

#include "runtime/control/protocol.hpp"
#include "runtime/session/ledger_protocol.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::session {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(MemoryInHello, IsOptionalAndTravelsAsText) {
  Hello hello;
  EXPECT_FALSE(parse_hello(to_text(hello))->memory);
  hello.memory = MemorySize{2 * kGiB};
  EXPECT_EQ(parse_hello(to_text(hello))->memory, hello.memory);
  hello.memory = MemorySize{0, 30};
  EXPECT_EQ(parse_hello(to_text(hello))->memory, hello.memory);
}

TEST(MemoryInHello, OfAnOldFrontEndIsNone) {
  const auto hello = parse_hello(
      R"({"fairgv":"hello","protocol":1,"features":3,"role":"tenant","tenant":"a","weight":1,"program":"p","pid":1})");
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_FALSE(hello->memory);
  EXPECT_EQ(hello->features & kMemoryQuota, 0);
}

TEST(MemoryInHello, ThatIsNoneIsRefusedInOneLine) {
  for (const char* memory : {R"("a lot")", "17", "true", R"("101%")"}) {
    const auto hello = parse_hello(
        std::string(R"({"fairgv":"hello","protocol":1,"role":"tenant","memory":)") + memory + "}");
    ASSERT_FALSE(hello) << memory;
    EXPECT_NE(hello.error().message.find("memory"), std::string::npos) << hello.error().message;
    EXPECT_EQ(hello.error().message.find('\n'), std::string::npos);
  }
}

TEST(MemoryInWelcome, IsTheTenantsLimitByDevice) {
  Welcome welcome;
  welcome.tenant = "a";
  welcome.weight = 1;
  const auto limits_of = [](const Welcome& sent) {
    return std::get<Welcome>(parse_hello_answer(to_text(sent)).value()).memory_limits;
  };
  EXPECT_EQ(limits_of(welcome), std::vector<std::uint64_t>{});
  welcome.memory_limits = {kGiB, 0, ~std::uint64_t{0}};
  EXPECT_EQ(limits_of(welcome), welcome.memory_limits);
}

TEST(MemoryInReady, IsNotPartOfWhatADeviceIs) {
  const WorkerReady ready{{{"Portable Computing Language", "cpu", 2, 3 * kGiB}}};
  const auto read = parse_worker_message(to_text(ready));
  ASSERT_TRUE(read);
  const DeviceDescription& device = std::get<WorkerReady>(read.value()).devices[0];
  EXPECT_EQ(device.memory, 3 * kGiB);
  EXPECT_EQ(device, (DeviceDescription{"Portable Computing Language", "cpu", 2}));
}

TEST(MemoryInReady, OfAnOldWorkerIsUnknown) {
  const auto read =
      parse_worker_message(R"({"worker":"ready","devices":[{"platform":"p","name":"n","type":2}]})");
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<WorkerReady>(read.value()).devices[0].memory, 0);
}

TEST(MemoryInSet, ReplacesTheWeight) {
  control::ControlRequest request;
  request.command = control::ControlRequest::Command::set;
  request.tenant = "a";
  request.memory = MemorySize{kGiB};
  const auto read = control::parse_control_request(to_text(request));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->memory, request.memory);
  EXPECT_FALSE(control::parse_control_request(R"({"command":"set","tenant":"a","memory":"much"})"));
  EXPECT_FALSE(control::parse_control_request(R"({"command":"set","tenant":"a"})"));
}

TEST(MemoryInReports, IsReadAsItWasWritten) {
  control::Report report;
  report.devices.push_back({0, "p", "d", {}, "fair", 6, 8 * kGiB, 3 * kGiB, kGiB});
  control::Report::Tenant tenant;
  tenant.tenant = "a";
  tenant.memory_used = {1, ~std::uint64_t{0}};
  tenant.memory_limit = {2, 3};
  tenant.memory_reserve = {4, 5};
  report.tenants.push_back(tenant);
  const auto read = control::parse_report(to_text(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->devices[0].memory, 8 * kGiB);
  EXPECT_EQ(read->devices[0].memory_used, 3 * kGiB);
  EXPECT_EQ(read->devices[0].memory_reserved, kGiB);
  EXPECT_EQ(read->tenants[0].memory_used, tenant.memory_used);
  EXPECT_EQ(read->tenants[0].memory_limit, tenant.memory_limit);
  EXPECT_EQ(read->tenants[0].memory_reserve, tenant.memory_reserve);
}

TEST(LedgerPackets, AreReadAsTheyWereWritten) {
  const LedgerRequest request{LedgerRequest::Kind::charge, 0b101, 7, 9};
  const auto read = parse_ledger_request(to_packet(request), 3);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->devices, request.devices);
  EXPECT_EQ(read->bytes, request.bytes);
  EXPECT_EQ(read->more, request.more);
  const auto answer = parse_ledger_answer(to_packet(LedgerAnswer{9, LedgerAnswer::Refusal::limit}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->bytes, 9);
  EXPECT_EQ(answer->refusal, LedgerAnswer::Refusal::limit);
  EXPECT_FALSE(parse_ledger_answer("no"));
}

}  // namespace
}  // namespace fairgv::session
