// `fairgv session show`: the calls that have made a running program's objects.
#include <algorithm>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct SessionShow : System {
  std::string session_of(const std::string& name) {
    return std::to_string(tenant(name)["sessions"][0]["session"].get<int>());
  }
  nlohmann::json calls_of(const std::string& session) {
    const auto shown = fairgv({"session", "show", session, "--json"});
    EXPECT_EQ(shown.status, 0) << joined(shown);
    std::string text;
    for (const std::string& line : shown.lines) text += line;
    return nlohmann::json::parse(text)["calls"];
  }
};

TEST_F(SessionShow, ListsTheCallsThatAProgramsObjectsNeed) {
  auto child = start_long_program("alice");
  ASSERT_TRUE(progresses(child));
  const auto calls = calls_of(session_of("alice"));
  std::map<std::string, nlohmann::json> by_name;
  for (const auto& call : calls) by_name[call["call"]] = call;
  for (const char* name : {"CreateContext", "CreateQueue", "CreateBuffer", "CreateProgramWithSource",
                           "BuildProgram", "CreateKernel"})
    EXPECT_TRUE(by_name.contains(name)) << name << " in " << calls;
  const auto needs = [&](const char* name, const char* needed) {
    const auto all = by_name[name]["needs"].get<std::vector<std::uint64_t>>();
    return std::count(all.begin(), all.end(), by_name[needed]["number"].get<std::uint64_t>()) != 0;
  };
  EXPECT_TRUE(needs("CreateQueue", "CreateContext"));
  EXPECT_TRUE(needs("CreateKernel", "BuildProgram"));
  EXPECT_FALSE(needs("CreateQueue", "CreateKernel"));
  // The program launches all the while, and nothing is added.
  ASSERT_TRUE(progresses(child));
  EXPECT_EQ(calls_of(session_of("alice")), calls);
  const auto table = fairgv({"session", "show", session_of("alice")});
  EXPECT_EQ(table.status, 0);
  EXPECT_NE(joined(table).find("CreateKernel"), std::string::npos) << joined(table);
}

TEST_F(SessionShow, IsAnsweredWhileTheSessionIsPaused) {
  auto child = start_long_program("alice");
  ASSERT_TRUE(progresses(child));
  EXPECT_EQ(fairgv({"pause", "alice"}).status, 0);
  EXPECT_FALSE(calls_of(session_of("alice")).empty());
  EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
  EXPECT_TRUE(progresses(child));
}

TEST_F(SessionShow, OfNoSuchSessionSaysSo) {
  auto child = start_long_program("alice");
  ASSERT_TRUE(progresses(child));
  EXPECT_EQ(fairgv({"session", "show", "1000"}).status, 1);
}

}  // namespace
}  // namespace fairgv::integration
