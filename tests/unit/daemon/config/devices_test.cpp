// Which devices a tenant's programs may use, and how fast devices are: the options, and their texts.
#include <gtest/gtest.h>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/promise_sums.hpp"

namespace fairgv::daemon {
namespace {

DevicesWanted wanted_in(const std::string& text) {
  const auto wanted = parse_devices_wanted(text);
  EXPECT_TRUE(wanted) << text;
  return wanted ? wanted.value() : DevicesWanted{};
}

TEST(DevicesWanted, AreReadAndWrittenInTheSameTexts) {
  EXPECT_TRUE(wanted_in("all").all());
  EXPECT_EQ(wanted_in("best"), (DevicesWanted{.best = true}));
  EXPECT_EQ(wanted_in("0,2-3"), (DevicesWanted{false, 0b1101}));
  EXPECT_EQ(wanted_in("best:1-2"), (DevicesWanted{true, 0b0110}));
  for (const char* const text : {"all", "best", "0", "0,2-4", "best:1,2", "62"})
    EXPECT_EQ(to_text(wanted_in(text)), text);
}

TEST(DevicesWanted, AnythingElseIsRefusedWithWhatMayBeSaid) {
  for (const char* const text : {"", "none", "best:", "1-", "3-1", "63", "0,64", "-1", "best of 0"}) {
    const auto wanted = parse_devices_wanted(text);
    ASSERT_FALSE(wanted) << text;
    EXPECT_EQ(wanted.error().message, "it is '" + std::string(text) +
                                          "': say all, best, numbers of devices from 0 to 62 as 0,2-3, or "
                                          "best:0,2-3");
  }
}

TEST(DevicesWanted, AreATenantsOwnOrItsClassesOrThoseOfAllTenants) {
  const auto config = parse_config(R"([tenants]
devices = "best"
[class.gold]
devices = "0"
expected_memory = "2GiB"
[tenant.alice]
class = "gold"
[tenant.bob]
devices = "all"
class = "gold"
[device.1]
speed = 5000
bandwidth = "12GiB"
)",
                                   "c.toml");
  ASSERT_TRUE(config) << config.error().message;
  const TenantRules& rules = config->tenants;
  EXPECT_EQ(to_text(rules.devices_of("alice")), "0");
  EXPECT_EQ(to_text(rules.devices_of("bob")), "all");
  EXPECT_EQ(to_text(rules.devices_of("carol")), "best");
  EXPECT_EQ(to_text(rules.devices_of("carol", "gold")), "0");
  EXPECT_EQ(rules.of("bob").expected_memory, std::uint64_t{2} << 30);
  EXPECT_TRUE(rules.choose_devices());
  EXPECT_EQ(config->devices.of(1).speed, 5'000u);
  EXPECT_EQ(config->devices.of(1).bandwidth, std::uint64_t{12} << 30);
  EXPECT_FALSE(config->devices.of(0).speed);
}

TEST(DevicesWanted, NothingIsChosenUnlessTheConfigurationSaysSo) {
  const auto choose = [](const std::string& text) {
    const auto config = parse_config(text, "c.toml");
    EXPECT_TRUE(config) << config.error().message;
    return config && config->tenants.choose_devices();
  };
  EXPECT_FALSE(choose(""));
  EXPECT_FALSE(choose("[tenants]\ndevices = \"all\"\n[tenant.a]\ndevices = \"all\"\n"));
  EXPECT_TRUE(choose("[tenant.a]\ndevices = \"1\"\n"));
  EXPECT_TRUE(choose("[class.a]\ndevices = \"best\"\n"));
}

TEST(DevicesWanted, GuaranteesOfTheConfigurationAddUpOnTheDevicesWhereTheyAre) {
  const std::string on_two = "[tenant.a]\nmin = \"60%\"\ndevices = \"0\"\n[tenant.b]\nmin = \"60%\"\n";
  EXPECT_TRUE(parse_config(on_two + "devices = \"1\"\n", "c.toml"));
  EXPECT_TRUE(parse_config(on_two + "devices = \"best\"\n", "c.toml")) << "given when its program comes";
  const auto refused = parse_config(on_two + "devices = \"0-1\"\n", "c.toml");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the guarantees add up to 125%"), std::string::npos)
      << refused.error().message;
  EXPECT_FALSE(parse_config(on_two, "c.toml")) << "b's is on every device";
}

TEST(PromiseSums, AreOfTheDevicesThatTheyWereAddedTo) {
  PromiseSums sums(sched::Share{50'000});
  sums.add({100'000}, kEveryDevice);
  sums.add({200'000}, 0b101);
  sums.add({400'000}, 0);
  sums.add({0}, 0b010);
  EXPECT_EQ(sums.on(0).ppm, 350'000u);
  EXPECT_EQ(sums.on(1).ppm, 150'000u);
  EXPECT_EQ(sums.on(2).ppm, 350'000u);
  EXPECT_EQ(sums.most().ppm, 350'000u);
  EXPECT_EQ(sums.most(0b010).ppm, 150'000u);
}

}  // namespace
}  // namespace fairgv::daemon
