// The daemon's record of a worker's long commands, bounded however many are reported.
#include "runtime/daemon/books/long_command_book.hpp"

#include <gtest/gtest.h>

namespace fairgv::daemon {
namespace {

session::LongCommand command(const std::string& name, std::uint32_t device = 0, std::uint64_t count = 1) {
  return {device, name, "it uses pipes", count, 8'000'000, 8'000'000 * count};
}

TEST(LongCommandBook, KeepsTheLatestOfEachNameAndDevice) {
  LongCommandBook book;
  EXPECT_TRUE(book.take(command("reduce"), DeviceView::first(2)).value());
  EXPECT_TRUE(book.take(command("scan"), DeviceView::first(2)).value());
  EXPECT_TRUE(book.take(command("reduce", 1), DeviceView::first(2)).value());
  EXPECT_FALSE(book.take(command("reduce", 0, 7), DeviceView::first(2)).value());
  EXPECT_EQ(book.all(), (std::vector{command("reduce", 0, 7), command("scan"), command("reduce", 1)}));
}

TEST(LongCommandBook, KnowsOnlyDevicesThatExist) {
  LongCommandBook book;
  EXPECT_FALSE(book.take(command("reduce", 2), DeviceView::first(2)));
  EXPECT_FALSE(book.take(command("reduce", UINT32_MAX), DeviceView::first(2)));
  EXPECT_TRUE(book.all().empty());
}

TEST(LongCommandBook, HasRoomForEveryNameThatAWorkerMayUseAndForNoOther) {
  LongCommandBook book;
  for (std::size_t i = 0; i < session::kMostLongCommands; ++i) {
    EXPECT_TRUE(book.take(command("kernel" + std::to_string(i)), DeviceView::first(2)));
  }
  EXPECT_TRUE(book.take(command(session::kOtherCommands), DeviceView::first(2)));
  EXPECT_TRUE(book.take(command(session::kOtherCommands, 1), DeviceView::first(2)));
  const auto refused = book.take(command("one more"), DeviceView::first(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "its worker told of more than 17 long commands");
  EXPECT_EQ(book.all().size(), session::kMostLongCommands + 2);
  EXPECT_FALSE(book.take(command("kernel3", 0, 9), DeviceView::first(2)).value())
      << "a known one is counted on";
}

}  // namespace
}  // namespace fairgv::daemon
