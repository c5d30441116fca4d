// Answers that wait until the trace is over.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "tools/fairgv/trace/trace_spool.hpp"

namespace fairgv::tools {
namespace {

std::vector<std::string> all_of(TraceSpool& spool) {
  std::vector<std::string> answers;
  const auto read = spool.read([&](const std::string& answer) -> Result<void> {
    answers.push_back(answer);
    return {};
  });
  EXPECT_TRUE(read) << read.error().message;
  return answers;
}

TEST(TraceSpool, GivesBackWhatWasPutInInItsOrder) {
  auto spool = TraceSpool::create();
  ASSERT_TRUE(spool) << spool.error().message;
  const std::vector<std::string> answers{"first", "", std::string("with\0null", 9),
                                         std::string(300'000, 'x')};
  for (const std::string& answer : answers) ASSERT_TRUE(spool->put(answer));
  EXPECT_EQ(all_of(spool.value()), answers);
  EXPECT_EQ(all_of(spool.value()), answers);
}

TEST(TraceSpool, StopsWhereAnAnswerCannotBeUsed) {
  auto spool = TraceSpool::create();
  ASSERT_TRUE(spool);
  for (const char* answer : {"good", "bad", "never seen"}) ASSERT_TRUE(spool->put(answer));
  std::string seen;
  const auto read = spool->read([&](const std::string& answer) -> Result<void> {
    seen += answer + ' ';
    if (answer == "bad") return Error{"is bad"};
    return {};
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "is bad");
  EXPECT_EQ(seen, "good bad ");
}

TEST(TraceSpool, KeepsWhatItHasWhenThereIsNoRoomForMore) {
  auto spool = TraceSpool::create();
  ASSERT_TRUE(spool);
  ASSERT_TRUE(spool->put("kept"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  const auto signal = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto put = spool->put(std::string(100'000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, signal);
  ASSERT_FALSE(put);
  EXPECT_NE(put.error().message.find("temporary file"), std::string::npos) << put.error().message;
  EXPECT_EQ(all_of(spool.value()), std::vector<std::string>{"kept"});
}

}  // namespace
}  // namespace fairgv::tools
