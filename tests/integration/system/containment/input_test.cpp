// Bad input gets one clear line and a non-zero exit code.
#include <filesystem>
#include <fstream>

#include "runtime/session/identity.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct Case {
  const char* name;
  std::string command;              // for /bin/sh, in a temporary folder
  std::vector<const char*> expect;  // the words of the line
};

void PrintTo(const Case& test, std::ostream* out) {
  *out << test.name;
}  // GoogleTest would print its bytes

std::string bin(const std::string& program) {
  return harness::beside(program);
}

const Case kCases[] = {
    {"WeightZero", bin("fairgv") + " run --socket $PWD/s --weight 0 -- true", {"weight", "0"}},
    {"WeightIsNoNumber", bin("fairgv") + " run --socket $PWD/s --weight heavy -- true", {"weight", "heavy"}},
    {"UnknownOption", bin("fairgv") + " run --wait 3 -- true", {"--wait"}},
    {"UnknownCommand", bin("fairgv") + " launch", {"launch"}},
    {"NoProgram", bin("fairgv") + " run --socket $PWD/s", {"program"}},
    {"BadTenantName", bin("fairgv") + " run --socket $PWD/s --tenant 'a b' -- true", {"tenant", "a b"}},
    {"SetWithoutDaemon", bin("fairgv") + " set alice weight=3 --socket $PWD/none.sock", {"none.sock"}},
    {"PsWithoutDaemon", bin("fairgv") + " ps --socket $PWD/none.sock", {"none.sock"}},
    {"SetWhat", bin("fairgv") + " set alice height=3 --socket $PWD/none.sock", {"height"}},
    {"SetNoSuchPolicy", bin("fairgv") + " set --policy lottery --socket $PWD/none.sock", {"lottery", "fair"}},
    {"SetPolicyOfATenant",
     bin("fairgv") + " set alice weight=3 --policy fair --socket $PWD/none.sock",
     {"--policy NAME"}},
    {"SetDeviceWithoutPolicy", bin("fairgv") + " set --device 1 --socket $PWD/none.sock", {"--policy"}},
    {"KillWhat", bin("fairgv") + " kill", {"session", "tenant"}},
    {"PauseBoth", bin("fairgv") + " pause 3 --tenant alice", {"session", "tenant"}},
    {"ResumeBadName", bin("fairgv") + " resume 'a b'", {"a b"}},
    {"PauseWithoutDaemon", bin("fairgv") + " pause alice --socket $PWD/none.sock", {"none.sock"}},
    {"SimNoSuchPolicy", bin("fairgv") + " sim --policy lottery", {"lottery", "round-robin"}},
    {"SimTenantWhat", bin("fairgv") + " sim --tenant height=3", {"height", "kernel"}},
    {"SimNoSuchFolder", bin("fairgv") + " sim --csv none/s.csv", {"none/s.csv"}},
    {"UnknownPolicy",
     "printf '[device]\\npolicy = \"lottery\"\\n' > c.toml; " + bin("fairgvd") +
         " --socket $PWD/s --config c.toml",
     {"c.toml", "2", "policy"}},
    {"BrokenToml",
     "printf '[device]\\nslice_ms = = 6\\n' > c.toml; " + bin("fairgvd") + " --socket $PWD/s --config c.toml",
     {"c.toml", "2"}},
    {"UnknownKey",
     "printf '[device]\\n\\nslice = 6\\n' > c.toml; " + bin("fairgvd") + " --socket $PWD/s --config c.toml",
     {"c.toml", "3", "slice"}},
    {"WrongType",
     "printf '[device]\\nslice_ms = \"six\"\\n' > c.toml; " + bin("fairgvd") +
         " --socket $PWD/s --config c.toml",
     {"c.toml", "2", "slice_ms"}},
    {"NoSuchConfiguration", bin("fairgvd") + " --socket $PWD/s --config none.toml", {"none.toml"}},
    {"DaemonInAFolderThatIsOpen",
     "chmod 0777 .; " + bin("fairgvd") + " --socket $PWD/s",
     {"may be written to by others"}},
    {"DaemonsLockIsALink", "ln -s precious s.lock; " + bin("fairgvd") + " --socket $PWD/s", {"s.lock"}},
    {"DaemonsLogIsALink",
     "touch precious; ln -s precious s.log; " + bin("fairgvd") + " --daemonize --socket $PWD/s",
     {"s.log"}},
    {"DaemonsVendorFolderIsALink",
     "mkdir precious; ln -s precious s.vendors; " + bin("fairgvd") + " --socket $PWD/s",
     {"s.vendors", "remove it"}},
    {"PsInAFolderThatIsOpen",
     "chmod 0777 .; " + bin("fairgv") + " ps --socket $PWD/s",
     {"may be written to by others", "chmod go-w"}},
    {"NoSuchBenchmark", bin("fairgv") + " bench nothing", {"nothing"}},
};

struct BadInput : ::testing::TestWithParam<Case> {};

TEST_P(BadInput, GetsOneClearLineAndANonZeroStatus) {
  const harness::TemporaryFolder folder;
  const std::string there = "cd " + folder.path().string() + "; ";
  const auto finished = harness::run({{"/bin/sh", "-c", there + "{ " + GetParam().command + "; } 2>&1"}, {}});
  ASSERT_TRUE(finished);
  EXPECT_NE(finished->status, 0);
  ASSERT_EQ(finished->lines.size(), 1u) << (finished->lines.empty() ? "nothing" : finished->lines[1]);
  for (const char* mention : GetParam().expect) {
    EXPECT_NE(finished->lines[0].find(mention), std::string::npos) << finished->lines[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Each, BadInput, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fairgv::integration
