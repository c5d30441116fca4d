// Ids from the wire reach an object only if index, generation and kind fit.
#include <gtest/gtest.h>

#include "runtime/vgpu/backend/object_table.hpp"
#include "runtime/vgpu/opencl/objects.hpp"

namespace fairgv::vgpu::opencl {
namespace {

using Id = wire::ObjectId;

TEST(ObjectTable, FindsWhatWasInserted) {
  ObjectTable<Object> table;
  auto buffer = std::make_shared<Buffer>();
  ASSERT_TRUE(table.insert(Id::make(1000, 7), buffer));
  auto found = table.get<Buffer>(Id::make(1000, 7));
  ASSERT_TRUE(found);
  EXPECT_EQ(found.value(), buffer);
}

TEST(ObjectTable, RefusesUnknownStaleAndForeignIds) {
  ObjectTable<Object> table;
  ASSERT_TRUE(table.insert(Id::make(3, 1), std::make_shared<Buffer>()));
  EXPECT_FALSE(table.get<Buffer>(Id::make(4, 1)));
  EXPECT_FALSE(table.get<Buffer>(Id::make(4'000'000'000U, 1)));
  EXPECT_FALSE(table.get<Buffer>(Id::make(3, 2)));
  EXPECT_FALSE(table.get<Buffer>(Id{}));
  const auto foreign = table.get<Kernel>(Id::make(3, 1));
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().message.find("names no kernel"), std::string::npos);
}

TEST(ObjectTable, RefusesIdsThatAreTakenImpossibleOrBeyondTheLimit) {
  ObjectTable<Object> table(5);
  ASSERT_TRUE(table.insert(Id::make(0, 1), std::make_shared<Buffer>()));
  ASSERT_TRUE(table.insert(Id::make(4, 1), std::make_shared<Buffer>()));
  EXPECT_FALSE(table.insert(Id::make(0, 2), std::make_shared<Buffer>()));
  EXPECT_FALSE(table.insert(Id::make(1, 0), std::make_shared<Buffer>()));
  EXPECT_FALSE(table.insert(Id::make(5, 1), std::make_shared<Buffer>()));
}

TEST(ObjectTable, AnErasedIndexServesTheNextGenerationOnly) {
  ObjectTable<Object> table;
  ASSERT_TRUE(table.insert(Id::make(0, 1), std::make_shared<Buffer>()));
  ASSERT_TRUE(table.take(Id::make(0, 1)));
  EXPECT_FALSE(table.take(Id::make(0, 1)));
  ASSERT_TRUE(table.insert(Id::make(0, 2), std::make_shared<Buffer>()));
  EXPECT_FALSE(table.get<Buffer>(Id::make(0, 1)));
  EXPECT_TRUE(table.get<Buffer>(Id::make(0, 2)));
}

}  // namespace
}  // namespace fairgv::vgpu::opencl
