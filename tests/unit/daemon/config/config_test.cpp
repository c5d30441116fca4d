// The configuration file: what it means, and that every mistake is told with its place.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

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
  EXPECT_EQ(config->samples, 5u);
  EXPECT_EQ(config->slicing.mode, "time");
  EXPECT_EQ(config->slicing.floor, 1'500u);
  EXPECT_TRUE(config->slicing.never.empty());
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
memory = "15GiB"
never_slice = ["reduce", "_scan2"]
[session]
objects = 1000
commands = 2000
shared_memory = "2GiB"
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
  EXPECT_EQ(config->devices.common.policy, "round-robin");
  EXPECT_EQ(config->samples, 3u);
  EXPECT_EQ(config->slicing.mode, "static");
  EXPECT_EQ(config->slicing.floor, 3'000u);
  EXPECT_EQ(config->slicing.never, (std::vector<std::string>{"reduce", "_scan2"}));
  EXPECT_EQ(config->session.objects, 1'000u);
  EXPECT_EQ(config->session.commands, 2'000u);
  EXPECT_EQ(config->session.shared_memory, std::uint64_t{2} << 30);
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

TEST(Config, ADeviceOfItsOwnDiffersOnlyWhereItSaysSo) {
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

TEST(Config, OfKernelsThatAreNeverCutOnlySoManyAreTaken) {
  const auto with = [](std::size_t count, std::size_t length) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += '"' + std::string(length, 'k') + "\", ";
    return parse_config("[device]\nnever_slice = [" + list + "]\n", "c.toml");
  };
  ASSERT_TRUE(with(1'000, 256));
  EXPECT_EQ(with(1'000, 256)->slicing.never.size(), 1'000u);
  EXPECT_TRUE(with(0, 0));
  EXPECT_FALSE(with(1'001, 1));
  EXPECT_FALSE(with(1, 257));
}

struct Mistake {
  const char* name;
  const char* text;
  const char* begins;  // of the error
  const char* mentions;
};

const Mistake kMistakes[] = {
    {"BrokenSyntax", "[device]\nslice_ms = = 6\n", "c.toml:2:", "value"},
    {"UnclosedTable", "[device\n", "c.toml:1:", ""},
    {"UnknownTable", "\n[devices]\n",
     "c.toml:2:", "unknown key 'devices' in the file: did you mean 'device'? known are daemon, device"},
    {"MetricsToTheWorld", "[metrics]\nlisten = \"0.0.0.0:9477\"\n", "c.toml:2:", "loopback only"},
    {"MetricsNowhere", "[metrics]\nlisten = \"here\"\n", "c.toml:2:", "'here' is no place for metrics"},
    {"StoreWithoutAPath", "[usage]\nstore = \"usage.db\"\n", "c.toml:2:", "absolute path"},
    {"FlushTooOften", "[usage]\nflush_s = 0.01\n",
     "c.toml:2:", "flush_s in [usage] must be a number from 0.1"},
    {"NoRetention", "[usage]\nretention_days = 0\n", "c.toml:2:", "from 1 to 36500"},
    {"UnknownUsageKey", "[usage]\nflush = 3\n", "c.toml:2:1:", "unknown key 'flush' in [usage]"},
    {"CudaLibraryWithoutAPath", "[cuda]\nlibrary = \"libcuda.so.1\"\n", "c.toml:2:", "absolute path"},
    {"UnknownKey", "[device]\n\nslice = 6\n", "c.toml:3:1:", "unknown key 'slice' in [device]"},
    {"WrongType", "[device]\nslice_ms = \"six\"\n", "c.toml:2:", "slice_ms in [device] must be a number"},
    {"NotATable", "device = 3\n", "c.toml:1:", "device in the file must be a table: [device]"},
    {"SliceOfZero", "[device]\nslice_ms = 0\n", "c.toml:2:", "from 0.1 to 1000"},
    {"HoldLimitBelowZero", "[device]\nhold_limit_s = -1\n", "c.toml:2:", "from 0 to 1000000"},
    {"SliceNotANumber", "[device]\nslice_ms = nan\n", "c.toml:2:", "from 0.1 to 1000"},
    {"NegativeSamples", "[device]\nsamples = -1\n", "c.toml:2:", "from 1 to 1000"},
    {"FractionalSamples", "[device]\nsamples = 1.5\n", "c.toml:2:", "an integer"},
    {"UnknownPolicy", "[device]\npolicy = \"lottery\"\n",
     "c.toml:2:", "policy in [device] must be one of fair, fifo, round-robin"},
    {"UnknownDiscipline", "[device]\ndiscipline = \"gentle\"\n",
     "c.toml:2:", "one of adaptive, non-preemptive, preemptive"},
    {"NoListOfCores", "[device]\ncores = \"one\"\n",
     "c.toml:2:", "cores in [device]: 'one' is no list of cores"},
    {"CoresThatAreNotThere", "[device]\ncores = \"1023\"\n", "c.toml:2:", "may not use all of '1023'"},
    {"CoschedulingNoTruth", "[device]\ncoscheduling = 1\n",
     "c.toml:2:", "coscheduling in [device] must be true or false"},
    {"UnknownSlicing", "[device]\nslicing = \"thin\"\n",
     "c.toml:2:", "slicing in [device] must be one of time, static, off"},
    {"SlicingNoText", "[device]\nslicing = false\n", "c.toml:2:", "slicing in [device] must be text"},
    {"SlicingFloorOfZero", "[device]\nslicing_floor = 0\n", "c.toml:2:", "an integer from 1 to 1000000000"},
    {"SlicingFloorTooHigh", "[device]\nslicing_floor = 1000000001\n", "c.toml:2:", "from 1 to 1000000000"},
    {"SlicingOfOneDevice", "[device.1]\nslicing = \"off\"\n",
     "c.toml:2:1:", "unknown key 'slicing' in [device.1]"},
    {"NeverSliceNoList", "[device]\nnever_slice = \"reduce\"\n",
     "c.toml:2:15:", "never_slice in [device] must be a list of at most 1000 names of kernels"},
    {"NeverSliceNoTexts", "[device]\nnever_slice = [\n  \"reduce\",\n  3,\n]\n",
     "c.toml:4:3:", "names of kernels"},
    {"NeverSliceNoIdentifier", "[device]\nnever_slice = [\"a b\"]\n", "c.toml:2:16:", "names of kernels"},
    {"NeverSliceDigitFirst", "[device]\nnever_slice = [\"2d\"]\n", "c.toml:2:16:", "names of kernels"},
    {"NeverSliceNothing", "[device]\nnever_slice = [\"\"]\n", "c.toml:2:16:", "names of kernels"},
    {"NoObjects", "[session]\nobjects = 0\n", "c.toml:2:", "objects in [session] must be an integer from 1"},
    {"ArenaTooLarge", "[session]\nshared_memory = \"65GiB\"\n", "c.toml:2:", "to \"64GiB\""},
    {"UnknownGroup", "[daemon]\ngroup = \"no such group\"\n",
     "c.toml:2:", "there is no group 'no such group' on this system"},
    {"UnknownNames", "[tenants]\nnames = \"any\"\n",
     "c.toml:2:", "names in [tenants] must be one of free, own"},
    {"UnknownView", "[worker]\nmount_view = \"none\"\n",
     "c.toml:2:", "mount_view in [worker] must be one of private, shared"},
    {"FilterNoTruth", "[worker]\nsyscall_filter = \"on\"\n",
     "c.toml:2:", "syscall_filter in [worker] must be true or false"},
    {"MemoryWithoutUnit", "[worker]\nmemory = \"8\"\n",
     "c.toml:2:", "memory in [worker] must be an amount of memory in quotes, from \"64MiB\" to \"1024TiB\""},
    {"MemoryInPerCent", "[worker]\nmemory = \"50%\"\n", "c.toml:2:", "an amount of memory"},
    {"ReadableFromHere", "[worker]\nreadable = [\"include\"]\n",
     "c.toml:2:13:", "readable in [worker] must be a list of at most 64 absolute paths"},
    {"ReadableEverything", "[worker]\nreadable = [\"/\"]\n", "c.toml:2:13:", "absolute paths"},
    {"CacheFromHere", "[worker]\ncache = \"cache\"\n",
     "c.toml:2:", "cache in [worker] must be an absolute path"},
    {"CoresOfOneDevice", "[device.1]\ncores = \"0\"\n", "c.toml:2:1:", "unknown key 'cores' in [device.1]"},
    {"PolicyOfOneDevice", "[device.1]\npolicy = 3\n", "c.toml:2:", "policy in [device.1] must be text"},
    {"SamplesOfOneDevice", "[device.1]\nsamples = 3\n", "c.toml:2:1:", "unknown key 'samples' in [device.1]"},
    {"DeviceNotATable", "[device]\n1 = 3\n", "c.toml:2:", "1 in [device] must be a table"},
    {"SameAsOfAllDevices", "[device]\nsame_as = 0\n", "c.toml:2:1:", "unknown key 'same_as' in [device]"},
    {"SameAsALaterDevice", "[device.0]\nsame_as = 1\n",
     "c.toml:2:", "must name an earlier device: say same_as = 0 in [device.1] instead"},
    {"NoSuchDeviceNumber", "[device.64]\npolicy = \"fair\"\n", "c.toml:1:", "unknown key '64' in [device]"},
    {"WeightZero", "[tenants]\ndefault_weight = 0\n", "c.toml:2:", "from 1 to 10000"},
    {"DefaultAboveMaximum", "[tenants]\nmax_weight = 2\ndefault_weight = 3\n",
     "c.toml:3:", "default_weight in [tenants] is 3, larger than max_weight, 2: lower"},
    {"TenantName", "[tenant.\"a b\"]\nweight = 1\n", "c.toml:1:", "'a b'"},
    {"TenantNotATable", "[tenant]\nalice = 3\n", "c.toml:2:", "[tenant.\"alice\"]"},
    {"TenantKey", "[tenant.alice]\nwieght = 3\n", "c.toml:2:1:", "wieght"},
    {"NoSuchUser", "[tenant.alice]\nuser = \"no-such-user\"\n", "c.toml:2:", "no-such-user"},
    {"UidAndUser", "[tenant.alice]\nuid = 1\nuser = \"root\"\n",
     "c.toml:3:", "there is a uid, too: keep one"},
    {"UidAndUserOfARule", "[[match]]\ntenant = \"a\"\nuid = 1\nuser = \"root\"\n", "c.toml:4:", "keep one"},
    {"GidAndGroupOfARule", "[[match]]\ntenant = \"a\"\ngid = 1\ngroup = \"root\"\n", "c.toml:4:", "keep one"},
    {"RuleWithoutTenant", "\n[[match]]\nuid = 1\n", "c.toml:2:", "tenant in [[match]] 1 must be there"},
    {"RuleWithABadTenant", "[[match]]\ntenant = \"%u x\"\n", "c.toml:2:10:", "%u may stand for"},
    {"RuleOfARelativeGroup", "[[match]]\ntenant = \"a\"\ncgroup = \"x\"\n", "c.toml:3:", "begins with /"},
    {"RuleIsNoList", "[match]\ntenant = \"a\"\n", "c.toml:1:", "[[match]]"},
    {"RuleIsNoTable", "match = [3]\n", "c.toml:1:10:", "[[match]]"},
    {"NoSuchClass", "[tenant.a]\nclass = \"gold\"\n", "c.toml:2:", "there is no [class.\"gold\"]"},
    {"NoSuchClassOfARule", "[[match]]\ntenant = \"a\"\nclass = \"gold\"\n", "c.toml:3:", "[class.\"gold\"]"},
    {"ClassWithAUser", "[class.gold]\nuser = \"root\"\n",
     "c.toml:2:1:", "unknown key 'user' in [class.\"gold\"]"},
    {"AWordThatIsNear", "[device]\nslice = 6\n", "c.toml:2:1:", "did you mean 'slice_ms'? known are"},
    {"AWordThatIsMistyped", "[tenant.a]\nwieght = 6\n", "c.toml:2:1:", "did you mean 'weight'? known are"},
    {"AValueThatIsMistyped", "[device]\npolicy = \"fiar\"\n",
     "c.toml:2:10:", "strict-cosched: did you mean 'fair'?"},
    {"AWordThatIsNotNear", "[device]\nspeed = 6\n",
     "c.toml:2:1:", "unknown key 'speed' in [device]: known are"},
    {"MemoryNoSize", "[device]\nmemory = \"lots\"\n", "c.toml:2:", "memory in [device] is 'lots'"},
    {"MemoryOfATruth", "[tenants]\ndefault_memory = true\n",
     "c.toml:2:", "default_memory in [tenants] must be"},
    {"NegativeMemory", "[tenant.a]\nmemory = -1\n", "c.toml:2:", "memory in [tenant.\"a\"] must be"},
    {"ReserveAboveLimit", "[tenant.a]\nmemory = \"1GiB\"\nmemory_reserve = \"2GiB\"\n",
     "c.toml:3:", "memory_reserve in [tenant.\"a\"] is more than its memory, 1GiB"},
    {"ReserveAboveDefault", "[tenants]\ndefault_memory = \"10%\"\n[tenant.a]\nmemory_reserve = \"11%\"\n",
     "c.toml:", "is more than its memory, 10%"},
    {"ReservesAboveAllPerCent",
     "[tenant.a]\nmemory_reserve = \"60%\"\n[tenant.b]\nmemory_reserve = \"41%\"\n",
     "c.toml:4:", "is 101%: a device has 100%: lower some of them"},
    {"ReservesAboveTheDevice",
     "[device]\nmemory = \"1GiB\"\n[tenant.a]\nmemory_reserve = \"1GiB\"\n[tenant.b]\nmemory_reserve = 1\n",
     "c.toml:6:", "and [device] has 1GiB to share out"},
    {"LogLevel", "[daemon]\nlog_level = \"loud\"\n", "c.toml:2:", "one of trace, debug, info"},
    {"EmptyText", "[daemon]\nsocket = \"\"\n", "c.toml:2:", "text in quotes"},
    {"VendorsFromHere", "[opencl]\nvendors = \"drivers\"\n",
     "c.toml:2:", "vendors in [opencl] must be an absolute path"},
    {"MaximumOfATenantAboveAll", "[tenants]\nmax_weight = 5\n[tenant.a]\nmax_weight = 6\n",
     "c.toml:4:", "max_weight in [tenant.\"a\"] is 6, larger than 5"},
    {"MaximumOfAClassAboveAll", "[tenants]\nmax_weight = 5\n[class.a]\nmax_weight = 6\n",
     "c.toml:4:", "max_weight in [class.\"a\"] is 6, larger than 5"},
    {"MorePlacesKeptThanThereAre", "[daemon]\nkept_sessions = 9\nsession_limit = 8\n",
     "c.toml:2:", "kept_sessions in [daemon] is 9, larger than session_limit, 8"},
    {"ReservesAboveOneDevice", "[device.1]\nmemory = \"1GiB\"\n[tenant.a]\nmemory_reserve = \"2GiB\"\n",
     "c.toml:4:", "and [device.1] has 1GiB to share out"},
    {"MistypedClass", "[class.gold]\nweight = 2\n[tenant.a]\nclass = \"glod\"\n",
     "c.toml:4:", "did you mean 'gold'?"},
};

struct ConfigMistake : ::testing::TestWithParam<Mistake> {};

TEST_P(ConfigMistake, IsToldInOneLineWithItsPlace) {
  const auto config = parse_config(GetParam().text, "c.toml");
  ASSERT_FALSE(config);
  const std::string& message = config.error().message;
  EXPECT_EQ(message.rfind(GetParam().begins, 0), 0u) << message;
  EXPECT_NE(message.find(GetParam().mentions), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Each, ConfigMistake, ::testing::ValuesIn(kMistakes),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Config, AllMistakesOfAFileAreTold) {
  const auto config = parse_config(R"([daemon]
sockte = "/s"
log_level = "loud"
group = "no such group"
[device]
slice_ms = 0
[tenant."a b"]
weight = 1
)",
                                   "c.toml");
  ASSERT_FALSE(config);
  const auto lines = lines_of(config.error());
  ASSERT_EQ(lines.size(), 5u) << config.error().message;
  for (const char* begins :
       {"c.toml:2:1: ", "c.toml:3:13: ", "c.toml:4:9: ", "c.toml:6:12: ", "c.toml:7:9: "}) {
    EXPECT_EQ(
        std::count_if(lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(begins); }),
        1)
        << begins << " in " << config.error().message;
  }
}

TEST(Config, ContradictionsAreToldBesideOtherMistakesInOneRun) {
  const harness::TemporaryFolder folder;
  const std::string path = folder / "c.toml";
  folder.write("c.toml", R"([daemon]
log_level = "loud"
[worker]
readable = ["/nonexistent/data"]
[opencl]
vendors = "/nonexistent/vendors"
[usage]
store = "/nonexistent/usage.db"
[tenants]
max_weight = 2
default_weight = 3
[tenant.a]
memory_reserve = "60%"
class = "gold"
[tenant.b]
memory_reserve = "41%"
)");
  const auto config = read_config(path);
  ASSERT_FALSE(config);
  const auto lines = lines_of(config.error());
  const std::pair<const char*, const char*> expected[] = {
      {":2:", "log_level"},
      {":4:", "readable in [worker]: there is no /nonexistent/data: "},
      {":6:", "vendors in [opencl]: there is no folder /nonexistent/vendors: make it"},
      {":8:", "store in [usage]: there is no folder /nonexistent: make it"},
      {":11:", "default_weight in [tenants] is 3, larger than max_weight, 2"},
      {":14:", "there is no [class.\"gold\"]: add it"},
      {":16:", "together is 101%"}};
  ASSERT_EQ(lines.size(), std::size(expected)) << config.error().message;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_TRUE(lines[i].starts_with(path + expected[i].first)) << lines[i];
    EXPECT_NE(lines[i].find(expected[i].second), std::string::npos) << lines[i];
  }
}

TEST(Config, WhatIsWrongByItselfIsNotAlsoAContradiction) {
  const auto one_line = [](const std::string& text) {
    const auto config = parse_config(text, "c.toml");
    return !config && lines_of(config.error()).size() == 1;
  };
  EXPECT_TRUE(one_line("[tenants]\nmax_weight = 2\ndefault_weight = \"3\"\n[tenant.a]\nmax_weight = 2\n"));
  EXPECT_TRUE(
      one_line("[tenants]\ndefault_memory = \"1GiB\"\n[tenant.a]\nmemory = \"lots\"\n"
               "memory_reserve = \"2GiB\"\n"))
      << "its memory is not known";
  const auto texts =
      parse_config({{"a.toml", "[tenant.a]\nclass = \"gold\"\n"}, {"b.toml", "[class.gold\n"}});
  ASSERT_FALSE(texts);
  EXPECT_EQ(lines_of(texts.error()).size(), 1u) << texts.error().message;
}

TEST(Config, FoldersThatAreThereAreNoMistake) {
  const harness::TemporaryFolder folder;
  const std::string path = folder / "c.toml", there = folder.path();
  folder.write("c.toml", "[worker]\nreadable = [\"" + there + "\"]\n[opencl]\nvendors = \"" + there +
                             "\"\n[usage]\nstore = \"" + there +
                             "/usage.db\"\n[metrics]\nlisten = \"unix:" + there + "/metrics.sock\"\n");
  const auto config = read_config(path);
  EXPECT_TRUE(config) << config.error().message;
  folder.write("c.toml", "[opencl]\nvendors = \"" + path + "\"\n");
  const auto file = read_config(path);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find(path + " is no folder"), std::string::npos) << file.error().message;
}

TEST(Config, LaterFilesGoBeforeEarlierOnesKeyByKey) {
  const auto config = parse_config({{"c.toml",
                                     "[device]\nslice_ms = 3\nsamples = 9\n[device.1]\npolicy = \"fifo\"\n"
                                     "[tenant.a]\nweight = 2\nmax_weight = 3\n[[match]]\ntenant = \"one\"\n"},
                                    {"d.toml", "[device]\nslice_ms = 4\n[tenant.a]\nweight = 5\n"},
                                    {"e.toml", "[tenant.a]\nweight = 6\n[[match]]\ntenant = \"two\"\n"}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->devices.common.slices, sched::SliceRule::constant(4ms));
  EXPECT_EQ(config->samples, 9u);
  EXPECT_EQ(config->devices.of(1).slices, sched::SliceRule::constant(4ms))
      << "what [device.1] leaves out is as in [device] at the end";
  EXPECT_EQ(config->devices.of(1).policy, "fifo");
  EXPECT_EQ(config->tenants.of("a").weight, 6u);
  EXPECT_EQ(config->tenants.of("a").max_weight, 3u);
  ASSERT_EQ(config->tenants.matches.size(), 2u);
  EXPECT_EQ(config->tenants.matches[0].tenant, "one");
  EXPECT_EQ(config->tenants.matches[1].place, "e.toml:3");
  EXPECT_EQ(config->origins.at("[device] slice_ms"), "d.toml:2");
}

TEST(Config, AMistakeNamesItsFile) {
  const auto config = parse_config({{"c.toml", "[device]\nslice = 3\n"}, {"d.toml", "[device\n"}});
  ASSERT_FALSE(config);
  const auto lines = lines_of(config.error());
  ASSERT_EQ(lines.size(), 2u) << config.error().message;
  EXPECT_TRUE(lines[0].starts_with("c.toml:2:1:")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("d.toml:1:")) << lines[1];
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
  EXPECT_EQ(config->samples, 2u);

  folder.write("c.toml.d/30-wrong.toml", "\n[device]\nslice_ms = \"long\"\n");
  const auto wrong = read_config(folder / "c.toml");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.rfind((folder / "c.toml.d/30-wrong.toml:3:").string(), 0), 0u)
      << wrong.error().message;
}

TEST(Config, ClassesFillUpWhatATenantLeavesOut) {
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
  EXPECT_FALSE(config->tenants.of("bob", "gold").weight) << "what bob may ask for is his own table's";
  EXPECT_FALSE(config->tenants.of("carol").weight);
}

TEST(Config, AFileThatCannotBeReadIsNamed) {
  const harness::TemporaryFolder folder;
  for (const auto& path : {folder / "none.toml", folder.path()}) {
    const auto config = read_config(path);
    ASSERT_FALSE(config);
    EXPECT_NE(config.error().message.find(path), std::string::npos) << config.error().message;
  }
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
