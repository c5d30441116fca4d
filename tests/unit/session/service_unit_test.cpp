#include "runtime/session/service_unit.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fairgv::session {
namespace {

using UnitKind = ServiceUnit::Kind;

TEST(ServiceUnit, IsReadAsItIsWritten) {
  for (const char* text : {"kernel:draw", "kernel:image::blur<4>", "calls", "marks", "marks:frame", "none"}) {
    const auto unit = parse_service_unit(text, "units");
    ASSERT_TRUE(unit) << text;
    EXPECT_EQ(to_text(unit.value()), text);
  }
  EXPECT_EQ(parse_service_unit("kernel:draw", "")->name, "draw");
  EXPECT_EQ(parse_service_unit("marks", "")->kind, UnitKind::marks);
}

TEST(ServiceUnit, OfAnythingElseIsRefusedInOneLine) {
  for (const char* text : {"", "kernel", "kernel:", "marks:", "calls:x", "frames", "kernel:two words"}) {
    const auto unit = parse_service_unit(text, "units");
    ASSERT_FALSE(unit) << text;
    EXPECT_EQ(unit.error().message,
              "units is '" + std::string(text) +
                  "': a unit of service is kernel:NAME, calls, marks, marks:LABEL or none");
  }
  EXPECT_FALSE(parse_service_unit("kernel:" + std::string(kLongestUnitName + 1, 'a'), "units"));
}

TEST(ServiceUnit, HasANumberOfItsOwn) {
  std::set<std::uint64_t> numbers{0, number_of({UnitKind::marks}), number_of({UnitKind::calls})};
  for (const char* name : {"draw", "draw2", "ward", "frame", "f"}) {
    for (const UnitKind kind : {UnitKind::kernel, UnitKind::marks}) {
      EXPECT_TRUE(numbers.insert(number_of(kind, name)).second) << name;
      EXPECT_EQ(kind_of(number_of(kind, name)), kind);
    }
  }
  EXPECT_EQ(number_of(ServiceUnit{}), 0u);
}

}  // namespace
}  // namespace fairgv::session
