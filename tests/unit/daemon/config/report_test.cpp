// The configuration written as text reads as the same configuration, and the differences of two are found.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/daemon/config/report.hpp"

namespace fairgv::daemon {
namespace {

using Texts = std::vector<std::string>;

Config parsed(const std::string& text) {
  auto config = parse_config(text, "c.toml");
  EXPECT_TRUE(config) << config.error().message << "\n" << text;
  return config ? std::move(config).value() : Config();
}

Texts all(const ConfigChanges& changes) {
  Texts list = changes.at_once;
  list.insert(list.end(), changes.new_programs.begin(), changes.new_programs.end());
  list.insert(list.end(), changes.restart.begin(), changes.restart.end());
  return list;
}

constexpr const char* kMuch = R"([daemon]
socket = "/run/\"x\"\t/s"
exit_idle_s = 30.5
group = "root"
[device]
slice_ms = 2.5
memory = "15GiB"
cores = "0"
slicing_floor = 3000
never_slice = ["reduce", "_scan2"]
[device.1]
policy = "fifo"
[session]
shared_memory = "2GiB"
[worker]
mount_view = "shared"
readable = ["/data"]
[tenants]
default_memory = "25%"
names = "own"
[class.gold]
weight = 8
[tenant."alice@lab"]
class = "gold"
memory_reserve = 1048576
user = "root"
[[match]]
tenant = "%c"
class = "gold"
group = "root"
container = "podman:*"
[[match]]
tenant = "rest-%u"
names = "free"
)";

TEST(ConfigReport, AConfigurationThatWasPrintedReadsAsTheSame) {
  std::string text = kMuch;
  // Not every machine has a second core.
  if (!parse_config(text, "c.toml")) text.erase(text.find("cores = \"0\"\n"), 12);
  const Config config = parsed(text);
  const std::string printed = to_toml(config);
  EXPECT_EQ(all(changes_between(config, parsed(printed))), Texts()) << printed;
  EXPECT_NE(printed.find("slice_ms = 2.5  # c.toml:6\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("samples = 5  # default\n"), std::string::npos) << printed;
  EXPECT_EQ(all(changes_between(Config(), parsed(to_toml(Config())))), Texts());
}

TEST(ConfigReport, ConstantSlicesArePrintedAsSuchAndOthersByTheirDiscipline) {
  const Config config =
      parsed("[device]\ndiscipline = \"preemptive\"\n[device.1]\ndiscipline = \"adaptive\"\n");
  const std::string printed = to_toml(config);
  EXPECT_NE(printed.find("slice_ms = 30"), std::string::npos) << printed;
  EXPECT_NE(printed.find("discipline = \"adaptive\""), std::string::npos) << printed;
  EXPECT_EQ(all(changes_between(config, parsed(printed))), Texts()) << printed;
}

TEST(ConfigReport, ThePrintedDefaultsAreTheDefaults) {
  EXPECT_EQ(all(changes_between(Config(), parsed(default_toml()))), Texts());
}

TEST(ConfigReport, TheCommentedDefaultsAreOptionsToo) {
  // Each line "#key = value" can be used as it stands.
  std::string text = default_toml();
  for (const char* key : {"discipline = \"adaptive\"", "policy = \"fair\"", "hold_limit_s = 10"}) {
    EXPECT_NE(text.find(std::string("\n#") + key), std::string::npos) << key;
  }
}

TEST(ConfigReport, FindsWhatDiffersAndWhenItHolds) {
  const Config before = parsed("[device]\nslice_ms = 6\n[tenant.a]\nweight = 1\n[tenant.b]\nweight = 2\n");
  const Config after = parsed(
      "[daemon]\nsocket = \"/s\"\n[device]\nslice_ms = 5\nsamples = 3\nslicing_floor = 7\n[device.2]\n"
      "slice_ms = 4\n[tenant.a]\nweight = 1\n[[match]]\ntenant = \"m\"\nuid = 0\n");
  const ConfigChanges changes = changes_between(before, after);
  EXPECT_EQ(changes.at_once, (Texts{"[device] slice_ms", "[device] slicing_floor", "[device.2] slice_ms",
                                    "[tenant.\"b\"] weight"}));
  EXPECT_EQ(changes.new_programs, (Texts{"[device] samples", "[[match]] 1 tenant", "[[match]] 1 uid"}));
  EXPECT_EQ(changes.restart, Texts{"[daemon] socket"});
  EXPECT_EQ(all(changes_between(after, after)), Texts());
}

}  // namespace
}  // namespace fairgv::daemon
