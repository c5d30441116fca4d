// Mistakes in the configuration file: each is reported in one line with its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "runtime/daemon/config/config.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

struct Mistake {
  const char* name;
  const char* text;
  const char* begins;  // the begin of the error
  const char* mentions;
};

const Mistake kMistakes[] = {
    {"BrokenSyntax", "[device]\nslice_ms = = 6\n", "c.toml:2:", "value"},
    {"UnclosedTable", "[device\n", "c.toml:1:", ""},
    {"EvacuationToItself", "[device.1]\nevacuate_to = 1\n", "c.toml:2:", "is the device itself"},
    {"OverloadToItself", "[device.1]\noversell_move_to = 1\n", "c.toml:2:", "is the device itself"},
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
    {"OversellingWithoutCaps", "[device]\noversell = true\n",
     "c.toml:2:", "oversell in [device] needs policy = \"cap\", and the policy is \"fair\""},
    {"OversellingWithoutCapsOfOneDevice",
     "[device]\npolicy = \"cap\"\noversell = true\n[device.1]\npolicy = \"fair\"\n",
     "c.toml:5:", "oversell in [device.1] needs policy = \"cap\""},
    {"SoldLessThanOnce", "[device]\noversell_ratio = 0.5\n", "c.toml:2:", "from 1 to 100"},
    {"OversellingUpToAWord", "[device]\noversell_limit = \"all\"\n", "c.toml:2:", "it is 'all'"},
    {"UnknownUnits", "[tenant.a]\nunits = \"frames\"\n",
     "c.toml:2:", "a unit of service is kernel:NAME, calls, marks, marks:LABEL or none"},
    {"TargetWithoutUnits", "[tenant.a]\ntarget = 30\n",
     "c.toml:2:", "target in [tenant.\"a\"] is without units"},
    {"TargetOfNothing", "[tenant.a]\nunits = \"marks\"\ntarget = 0\n", "c.toml:3:", "from 0.01"},
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
    {"LinkWithoutLatency", "[session]\nmove_link = \"100MB/s\"\n", "c.toml:2:", "as '100MB/s 1ms'"},
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
    {"AValueThatIsMistyped", "[device]\npolicy = \"fiar\"\n", "c.toml:2:10:", ": did you mean 'fair'?"},
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

TEST_P(ConfigMistake, IsReportedInOneLineWithItsPlace) {
  const auto config = parse_config(GetParam().text, "c.toml");
  ASSERT_FALSE(config);
  const std::string& message = config.error().message;
  EXPECT_EQ(message.rfind(GetParam().begins, 0), 0u) << message;
  EXPECT_NE(message.find(GetParam().mentions), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Each, ConfigMistake, ::testing::ValuesIn(kMistakes),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Config, AllMistakesOfAFileAreReported) {
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

TEST(Config, ContradictionsAreReportedTogetherWithOtherMistakes) {
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

TEST(Config, AnInvalidValueIsNotAlsoReportedAsAContradiction) {
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

TEST(Config, FoldersThatExistAreNoMistake) {
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

TEST(Config, AMistakeNamesItsFile) {
  const auto config = parse_config({{"c.toml", "[device]\nslice = 3\n"}, {"d.toml", "[device\n"}});
  ASSERT_FALSE(config);
  const auto lines = lines_of(config.error());
  ASSERT_EQ(lines.size(), 2u) << config.error().message;
  EXPECT_TRUE(lines[0].starts_with("c.toml:2:1:")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("d.toml:1:")) << lines[1];
}

TEST(Config, AFileThatCannotBeReadIsNamed) {
  const harness::TemporaryFolder folder;
  for (const auto& path : {folder / "none.toml", folder.path()}) {
    const auto config = read_config(path);
    ASSERT_FALSE(config);
    EXPECT_NE(config.error().message.find(path), std::string::npos) << config.error().message;
  }
}

}  // namespace
}  // namespace fairgv::daemon
