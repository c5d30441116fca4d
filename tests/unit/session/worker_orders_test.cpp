#include <gtest/gtest.h>

#include <variant>

#include "runtime/session/move/orders.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::session {
namespace {

TEST(WorkerOrders, ArriveAsTheyWereSent) {
  EXPECT_TRUE(std::holds_alternative<ShowJournal>(parse_worker_order(to_text(ShowJournal{})).value()));
  EXPECT_EQ(std::get<WriteImage>(parse_worker_order(to_text(WriteImage{5})).value()).copied, 5U);
  EXPECT_EQ(std::get<WriteImage>(parse_worker_order(R"({"order":"write image"})").value()).copied, 0U)
      << "an earlier daemon's";
  EXPECT_TRUE(std::holds_alternative<GoOn>(parse_worker_order(to_text(GoOn{})).value()));
  EXPECT_EQ(std::get<CopyAhead>(parse_worker_order(to_text(CopyAhead{3})).value()).number, 3U);
  EXPECT_TRUE(std::get<MakeAgain>(parse_worker_order(to_text(MakeAgain{true, 7, {}, {}})).value()).ahead);
  const auto order = parse_worker_order(to_text(MakeAgain{false, 7, {1U << 20, 0}, {{0, 1}, {2, 1}}}));
  ASSERT_TRUE(order) << order.error().message;
  const auto& again = std::get<MakeAgain>(order.value());
  EXPECT_FALSE(again.ahead);
  EXPECT_EQ(again.bytes, 7U);
  EXPECT_EQ(again.granted, (std::vector<std::uint64_t>{1U << 20, 0}));
  EXPECT_EQ(again.moves, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {2, 1}}));
  EXPECT_TRUE(again.forced.empty());
  const auto forced = parse_worker_order(to_text(MakeAgain{false, 7, {}, {{0, 1}, {2, 1}}, {2}}));
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_EQ(std::get<MakeAgain>(forced.value()).forced, std::vector<std::uint32_t>{2});
}

TEST(WorkerOrders, AreNothingElse) {
  for (const char* text : {"", "{}", R"({"order":"dance"})", R"({"order":1})", R"({"order":"make again"})",
                           R"({"order":"copy ahead"})", R"({"order":"make ahead","bytes":1})",
                           R"({"order":"write image","copied":-1})",
                           R"({"order":"make again","bytes":-1,"granted":[],"moves":[]})",
                           R"({"order":"make again","bytes":1,"granted":["x"],"moves":[]})",
                           R"({"order":"make again","bytes":1,"granted":[],"moves":[{"from":1}]})",
                           R"({"order":"make again","bytes":1,"granted":[],"moves":[],"forced":1})"})
    EXPECT_FALSE(parse_worker_order(text)) << text;
}

TEST(WorkerOrders, AreAnswered) {
  const auto image = parse_worker_message(to_text(ImageWritten{9}));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(std::get<ImageWritten>(image.value()).bytes, 9U);
  const auto copied = parse_worker_message(to_text(CopiedAhead{4, 9, 5}));
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(std::get<CopiedAhead>(copied.value()).number, 4U);
  EXPECT_EQ(std::get<CopiedAhead>(copied.value()).bytes, 9U);
  EXPECT_EQ(std::get<CopiedAhead>(copied.value()).left, 5U);
  EXPECT_FALSE(parse_worker_message(R"({"worker":"copied ahead","bytes":1})"));
  EXPECT_TRUE(std::holds_alternative<MadeAhead>(parse_worker_message(to_text(MadeAhead{})).value()));
  const auto refusal = parse_worker_message(to_text(CannotMove{"it has\na pipe"}));
  ASSERT_TRUE(refusal) << refusal.error().message;
  EXPECT_EQ(std::get<CannotMove>(refusal.value()).reason.find('\n'), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<MadeAgain>(parse_worker_message(to_text(MadeAgain{})).value()));
}

}  // namespace
}  // namespace fairgv::session
