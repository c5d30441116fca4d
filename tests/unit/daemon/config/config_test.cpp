// The configuration file: the meaning of its keys, and the combination of files, classes and devices.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

TEST(Config, AnEmptyFileMeansTheDefaults) {
  const auto config = parse_config("", "c.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->devices.common.slices, sched::kAdaptiveSlice);
  EXPECT_EQ(config->devices.common.policy, "fair");
  EXPECT_EQ(config->tuning.samples, 5u);
  EXPECT_EQ(config->tuning.slicing, "time");
  EXPECT_EQ(config->tuning.slicing_floor, 1'500u);
  EXPECT_TRUE(config->tuning.never_slice.empty());
  EXPECT_EQ(config->log_level, "info");
  EXPECT_EQ(config->exit_idle.count(), 0.0);
  EXPECT_FALSE(config->socket);
  EXPECT_TRUE(config->worker.private_view);
  EXPECT_TRUE(config->worker.syscall_filter);
  EXPECT_FALSE(config->worker.core_dumps);
  EXPECT_FALSE(config->worker.memory);
  EXPECT_EQ(config->vendors, "/etc/OpenCL/vendors");
  EXPECT_FALSE(config->driver_names);
  EXPECT_EQ(config->tenants.default_weight, 1u);
  EXPECT_EQ(config->tenants.max_weight, 10'000u);
  EXPECT_EQ(config->tenants.default_memory, kWholeDevice);
  EXPECT_FALSE(config->devices.common.memory);
}

TEST(Config, EveryKeyIsRead) {
  const auto config = parse_config(R"(
[daemon]
socket = "/run/x/s"
log_level = "debug"
exit_idle_s = 30
session_limit = 12
user_session_limit = 8
user_connection_limit = 9
group = "root"
admin_group = "root"
[device]
slice_ms = 2.5
samples = 3
policy = "round-robin"
discipline = "preemptive"
hold_limit_s = 2.5
slicing = "static"
slicing_floor = 3000
sampling = "per-turn"
memory = "15GiB"
never_slice = ["reduce", "_scan2"]
[session]
objects = 1000
commands = 2000
shared_memory = "2GiB"
move_link = "100MB/s 1ms"
[worker]
mount_view = "shared"
syscall_filter = false
core_dumps = true
memory = "8GiB"
readable = ["/data", "/srv/include"]
cache = "/scratch/caches"
[opencl]
vendors = "/opt/vendors"
names = "driver"
[tenants]
default_weight = 2
default_memory = "25%"
max_weight = 100
names = "own"
session_limit = 5
[tenant."alice@lab"]
weight = 7
session_limit = 6
uid = 1234
[tenant.bob]
max_weight = 4
user = "root"
memory = "2GiB"
memory_reserve = 1048576
[device.1]
memory = "90%"
)",
                                   "c.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->socket, "/run/x/s");
  EXPECT_EQ(config->log_level, "debug");
  EXPECT_EQ(config->exit_idle.count(), 30.0);
  EXPECT_EQ(config->session_limit, 12u);
  EXPECT_EQ(config->user_session_limit, 8u);
  EXPECT_EQ(config->user_connection_limit, 9u);
  EXPECT_EQ(config->group, 0u);
  EXPECT_EQ(config->admin_group, 0u);
  EXPECT_EQ(config->devices.common.slices, sched::SliceRule::constant(2'500us));
  EXPECT_EQ(config->devices.common.hold_limit, 2'500ms);
  EXPECT_EQ(config->devices.common.sampling, sched::Sampling::per_turn);
  EXPECT_EQ(config->devices.common.policy, "round-robin");
  EXPECT_EQ(config->tuning.samples, 3u);
  EXPECT_EQ(config->tuning.slicing, "static");
  EXPECT_EQ(config->tuning.slicing_floor, 3'000u);
  EXPECT_EQ(config->tuning.never_slice, (std::vector<std::string>{"reduce", "_scan2"}));
  EXPECT_EQ(config->tuning.objects, 1'000u);
  EXPECT_EQ(config->tuning.commands, 2'000u);
  EXPECT_EQ(config->session.shared_memory, std::uint64_t{2} << 30);
  ASSERT_TRUE(config->session.move_link);
  EXPECT_EQ(*config->session.move_link, (MoveLink{100'000'000, 1ms}));
  EXPECT_FALSE(config->worker.private_view);
  EXPECT_FALSE(config->worker.syscall_filter);
  EXPECT_TRUE(config->worker.core_dumps);
  EXPECT_EQ(config->worker.memory, std::uint64_t{8} << 30);
  EXPECT_EQ(config->worker.readable, (std::vector<std::string>{"/data", "/srv/include"}));
  EXPECT_EQ(config->worker.cache, "/scratch/caches");
  EXPECT_EQ(config->vendors, "/opt/vendors");
  EXPECT_TRUE(config->driver_names);
  EXPECT_EQ(config->tenants.default_weight, 2u);
  EXPECT_EQ(config->tenants.max_weight, 100u);
  EXPECT_FALSE(config->tenants.free_names);
  EXPECT_EQ(config->tenants.session_limit, 5u);
  EXPECT_EQ(config->tenants.of("alice@lab").weight, 7u);
  EXPECT_EQ(config->tenants.of("alice@lab").session_limit, 6u);
  EXPECT_EQ(config->tenants.of("alice@lab").uid, 1234u);
  EXPECT_EQ(config->tenants.of("bob").max_weight, 4u);
  EXPECT_EQ(config->tenants.of("bob").uid, 0u);
  EXPECT_FALSE(config->tenants.of("carol").weight);
  EXPECT_EQ(config->devices.of(0).memory, (MemorySize{std::uint64_t{15} << 30}));
  EXPECT_EQ(config->devices.of(1).memory, (MemorySize{0, 90}));
  EXPECT_EQ(config->tenants.default_memory, (MemorySize{0, 25}));
  EXPECT_EQ(config->tenants.of("bob").memory, (MemorySize{std::uint64_t{2} << 30}));
  EXPECT_EQ(config->tenants.of("bob").memory_reserve, (MemorySize{1 << 20}));
  EXPECT_FALSE(config->tenants.of("carol").memory_reserve);
}

TEST(Config, TheDisciplineChoosesTheSlice) {
  const auto slices = [](const std::string& lines) {
    return parse_config("[device]\n" + lines, "c")->devices.common.slices;
  };
  EXPECT_EQ(slices("discipline = \"adaptive\"\n"), sched::kAdaptiveSlice);
  EXPECT_EQ(slices("discipline = \"preemptive\"\n"), sched::SliceRule::constant(30ms));
  EXPECT_EQ(slices("discipline = \"non-preemptive\"\n"), sched::SliceRule::constant(6ms));
  EXPECT_EQ(slices("slice_ms = 2\ndiscipline = \"adaptive\"\n"), sched::SliceRule::constant(2ms))
      << "slice_ms goes before, wherever it stands";
}

TEST(Config, ADevicesOwnTableOverridesOnlyTheKeysThatItSets) {
  const auto config = parse_config(R"(
[device]
policy = "credit-hs"
slice_ms = 3
[device.1]
policy = "fifo"
[device.2]
discipline = "preemptive"
)",
                                   "c.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->devices.of(0).policy, "credit-hs");
  EXPECT_EQ(config->devices.of(1).policy, "fifo");
  EXPECT_EQ(config->devices.of(1).slices, sched::SliceRule::constant(3ms));
  EXPECT_EQ(config->devices.of(2).policy, "credit-hs");
  EXPECT_EQ(config->devices.of(2).slices, sched::SliceRule::constant(30ms));
}

TEST(Config, TheListOfKernelsThatAreNeverCutIsLimited) {
  const auto with = [](std::size_t count, std::size_t length) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += '"' + std::string(length, 'k') + "\", ";
    return parse_config("[device]\nnever_slice = [" + list + "]\n", "c.toml");
  };
  ASSERT_TRUE(with(1'000, 256));
  EXPECT_EQ(with(1'000, 256)->tuning.never_slice.size(), 1'000u);
  EXPECT_TRUE(with(0, 0));
  EXPECT_FALSE(with(1'001, 1));
  EXPECT_FALSE(with(1, 257));
}

TEST(Config, ALaterFileOverridesEarlierOnesKeyByKey) {
  const auto config = parse_config({{"c.toml",
                                     "[device]\nslice_ms = 3\nsamples = 9\n[device.1]\npolicy = \"fifo\"\n"
                                     "[tenant.a]\nweight = 2\nmax_weight = 3\n[[match]]\ntenant = \"one\"\n"},
                                    {"d.toml", "[device]\nslice_ms = 4\n[tenant.a]\nweight = 5\n"},
                                    {"e.toml", "[tenant.a]\nweight = 6\n[[match]]\ntenant = \"two\"\n"}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->devices.common.slices, sched::SliceRule::constant(4ms));
  EXPECT_EQ(config->tuning.samples, 9u);
  EXPECT_EQ(config->devices.of(1).slices, sched::SliceRule::constant(4ms))
      << "keys that [device.1] leaves out are as in [device] at the end";
  EXPECT_EQ(config->devices.of(1).policy, "fifo");
  EXPECT_EQ(config->tenants.of("a").weight, 6u);
  EXPECT_EQ(config->tenants.of("a").max_weight, 3u);
  ASSERT_EQ(config->tenants.matches.size(), 2u);
  EXPECT_EQ(config->tenants.matches[0].tenant, "one");
  EXPECT_EQ(config->tenants.matches[1].place, "e.toml:3");
  EXPECT_EQ(config->origins.at("[device] slice_ms"), "d.toml:2");
}

TEST(Config, DropInFilesAreReadInTheOrderOfTheirNames) {
  const harness::TemporaryFolder folder;
  folder.write("c.toml", "[device]\nslice_ms = 3\nsamples = 2\n");
  std::filesystem::create_directory(folder / "c.toml.d");
  folder.write("c.toml.d/20-last.toml", "[device]\nslice_ms = 5\n");
  folder.write("c.toml.d/10-first.toml", "[device]\nslice_ms = 4\nhold_limit_s = 7\n");
  folder.write("c.toml.d/README", "[device]\nslice_ms = 6\n");
  folder.write("c.toml.d/.30-hidden.toml", "no TOML");
  const auto config = read_config(folder / "c.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->devices.common.slices, sched::SliceRule::constant(5ms));
  EXPECT_EQ(config->devices.common.hold_limit, 7s);
  EXPECT_EQ(config->tuning.samples, 2u);

  folder.write("c.toml.d/30-wrong.toml", "\n[device]\nslice_ms = \"long\"\n");
  const auto wrong = read_config(folder / "c.toml");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.rfind((folder / "c.toml.d/30-wrong.toml:3:").string(), 0), 0u)
      << wrong.error().message;
}

TEST(Config, AClassGivesTheKeysThatATenantLeavesOut) {
  const auto config = parse_config(R"([class.gold]
weight = 8
memory = "50%"
session_limit = 4
[tenant.alice]
class = "gold"
memory = "1GiB"
[tenant.bob]
max_weight = 3
)",
                                   "c.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tenants.of("alice").weight, 8u);
  EXPECT_EQ(config->tenants.of("alice").memory, (MemorySize{std::uint64_t{1} << 30}));
  EXPECT_EQ(config->tenants.of("alice").session_limit, 4u);
  EXPECT_EQ(config->tenants.of("carol", "gold").weight, 8u) << "by a rule";
  EXPECT_EQ(config->tenants.of("alice", "silver").weight, 8u) << "its own class goes before the rule's";
  EXPECT_FALSE(config->tenants.of("bob", "gold").weight) << "bob's own table sets what he may ask for";
  EXPECT_FALSE(config->tenants.of("carol").weight);
}

TEST(DirectMode, IsATenantsOwnOrItsClassesOrThatOfAllPrograms) {
  const auto config = parse_config(R"([cuda]
direct = "fallback"
[class.gold]
direct = "on"
[tenant.alice]
class = "gold"
[tenant.bob]
direct = "off"
class = "gold"
)",
                                   "c.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->direct, session::DirectMode::fallback);
  EXPECT_EQ(config->tenants.of("alice").direct, session::DirectMode::on);
  EXPECT_EQ(config->tenants.of("bob").direct, session::DirectMode::off);
  EXPECT_EQ(config->tenants.of("carol").direct, std::nullopt);
  EXPECT_EQ(parse_config("", "c.toml")->direct, session::DirectMode::off) << "nobody has it unasked";
  EXPECT_FALSE(parse_config("[cuda]\ndirect = \"maybe\"\n", "c.toml"));
}

TEST(Config, IsReadFromAFile) {
  const harness::TemporaryFolder folder;
  folder.write("c.toml", "[device]\nslice_ms = 3\n");
  const auto config = read_config(folder / "c.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->devices.common.slices, sched::SliceRule::constant(3ms));
}

}  // namespace
}  // namespace fairgv::daemon
