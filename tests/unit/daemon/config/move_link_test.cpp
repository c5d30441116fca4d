// The text of a link that is simulated between workers.
#include "runtime/daemon/config/values/move_link.hpp"

#include <gtest/gtest.h>

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

TEST(LinkOfMoves, TakesItsBandwidthAndItsLatency) {
  const auto link = parse_move_link("100MB/s 1ms");
  ASSERT_TRUE(link);
  EXPECT_EQ(link.value(), (MoveLink{100'000'000, 1ms}));
  EXPECT_EQ(link->time_for(0), 1ms);
  EXPECT_EQ(link->time_for(50'000'000), 501ms);
}

TEST(LinkOfMoves, IsReadAsItIsWritten) {
  for (const char* const text : {"1MB/s 0ms", "100MB/s 1ms", "2GB/s 20ms", "1000GB/s 10000ms"}) {
    const auto link = parse_move_link(text);
    ASSERT_TRUE(link) << text;
    EXPECT_EQ(parse_move_link(to_text(link.value())).value(), link.value()) << to_text(link.value());
  }
}

TEST(LinkOfMoves, IsRefusedOutOfRangeOrInOtherWords) {
  for (const char* const text :
       {"", "100MB/s", "100 MB/s 1ms", "0MB/s 1ms", "1001GB/s 1ms", "100kB/s 1ms", "100MB/s 1",
        "100MB/s 1ms ", "100MB/s 10001ms", "100MB/s -1ms", "99999999999999999999MB/s 1ms"}) {
    const auto link = parse_move_link(text);
    EXPECT_FALSE(link) << text;
  }
}

}  // namespace
}  // namespace fairgv::daemon
