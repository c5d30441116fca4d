// `fairgv doctor` on the daemon, its socket and its configuration.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/socket.hpp"
#include "tests/unit/doctor/machine.hpp"

namespace fairgv::tools::doctor {
namespace {

struct DaemonChecks : PreparedMachine {
  void mode(mode_t mode) const { ASSERT_EQ(::chmod(at("/run/own").c_str(), mode), 0); }
};

TEST_F(DaemonChecks, TheSocketsFolderMustBeOursAlone) {
  mode(0755);
  expect(check_socket_folder, Level::ok, "/run/own");
  mode(01777);
  expect(check_socket_folder, Level::note, "--socket");
  mode(0775);
  expect(check_socket_folder, Level::wrong, "chmod go-w '/run/own'");
  examination.socket = "/run/missing/s";
  expect(check_socket_folder, Level::wrong, "mkdir -m 0755 '/run/missing'");
  examination.socket = "/etc/passwd/s";
  expect(check_socket_folder, Level::wrong, "is no folder");
  examination.socket = "/run/fairgv/fairgvd.sock";  // the daemon makes it
  expect(check_socket_folder, Level::ok, "will be made");
}

TEST_F(DaemonChecks, TheSocketsFolderMustNotBeSomebodyElses) {
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(at("/run/own").c_str(), 4001, 4001), 0);
    expect(check_socket_folder, Level::wrong, "belongs to alice");
  } else {
    examination.machine.user = ::geteuid() + 1;
    expect(check_socket_folder, Level::wrong, "who can put another socket there");
  }
}

TEST_F(DaemonChecks, TheSocketsFolderMayBeAUsersWhomTheAdministratorNames) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(at("/run/own").c_str(), 4001, 4001), 0);
  write("/etc/fairgv/daemon-users", "4001\n");
  expect(check_socket_folder, Level::ok, "belongs to alice");
  write("/etc/fairgv/daemon-users", "not a user\n");
  expect(check_socket_folder, Level::wrong, "daemon-users:1:");
}

TEST_F(DaemonChecks, SayWhichDevicesAreTheSameHardware) {
  expect(check_shared_hardware, Level::ok, "no daemon that has seen any");
  auto& devices = examination.daemon.devices;
  devices = {{0, "PoCL", "cpu", std::nullopt}, {1, "Vendor", "card", std::nullopt}};
  expect(check_shared_hardware, Level::ok, "each is hardware of its own");
  devices.push_back({2, "Intel", "cpu of Intel", std::nullopt});
  devices.back().same_as = 0;
  expect(check_shared_hardware, Level::ok, "device 2 (Intel) is the same hardware as device 0");
  devices.back() = {2, "Vendor", "card", std::nullopt};
  expect(check_shared_hardware, Level::ok, "each is hardware of its own");
  devices.back().platform = "Other";
  expect(check_shared_hardware, Level::note, "same_as = 1 in [device.2]");
}

TEST_F(DaemonChecks, TellOfPromisesThatAPolicyDoesNotKeep) {
  auto& devices = examination.daemon.devices;
  devices = {{0, "PoCL", "cpu", std::nullopt}, {1, "Vendor", "card", std::nullopt}};
  devices[0].policy = "fair";
  devices[1].policy = "cap";
  control::Report::Tenant alice;
  alice.tenant = "alice";
  alice.min = "none";
  alice.max = "50%";
  alice.service = "normal";
  examination.daemon.tenants = {alice};
  expect(check_promises, Level::ok, "none to running tenants");
  examination.daemon.tenants[0].min = "20%";
  expect(check_promises, Level::note, "device 1: policy cap does not keep what is promised to alice (min)");
  expect(check_promises, Level::note, "fairgv set --policy fair --device 1");
  devices[1].policy = "a later one";
  expect(check_promises, Level::ok, "none to running tenants");
}

TEST_F(DaemonChecks, TellWhoAnswers) {
  expect(check_daemon, Level::ok, FAIRGV_VERSION);
  examination.daemon.version = "0.0.1";
  expect(check_daemon, Level::note, "fairgv stop");
  examination.daemon.version.clear();
  examination.daemon.pid = 77;
  examination.daemon.error = "no answer in time";
  expect(check_daemon, Level::wrong, "kill 77");
}

TEST_F(DaemonChecks, TellWhyNobodyAnswers) {
  examination.daemon = {ENOENT, 0, 0, {}, {}};
  expect(check_daemon, Level::note, "fairgv run");
  examination.daemon.connect_error = ECONNREFUSED;
  expect(check_daemon, Level::note, "was killed");
  examination.daemon = {EACCES, 0, 0, {}, "no permission"};
  expect(check_daemon, Level::wrong, "no permission");
  examination.daemon = {EPERM, 0, 0, {}, "not to be trusted"};
  expect(check_daemon, Level::wrong, "not to be trusted");
}

TEST_F(DaemonChecks, PassOnWhatTheDaemonSaysOfItsConfiguration) {
  expect(check_configuration, Level::ok, "there is none to read");
  examination.config = "x.toml";
  expect(check_configuration, Level::ok, "accepts x.toml");
  examination.refusal = "x.toml:1:1: unknown key";
  expect(check_configuration, Level::wrong, "x.toml:1:1: unknown key");
}

TEST_F(DaemonChecks, SayWhoMayKeepADriverWithoutAWorker) {
  expect(check_direct, Level::ok, "off");
  write("/c.toml",
        "[cuda]\ndirect = \"fallback\"\n[tenant.alice]\ndirect = \"on\"\n[class.gold]\ndirect = \"off\"\n");
  examination.settings = read_settings(at("/c.toml"));
  expect(check_direct, Level::note, "[cuda], [tenant.alice] of the configuration");
  write("/c.toml.d/50.toml", "[cuda]\ndirect = \"off\"\n");
  examination.settings = read_settings(at("/c.toml"));
  expect(check_direct, Level::note, "[tenant.alice] of the configuration");
}

TEST_F(DaemonChecks, SettingsHaveDefaultsWhereTheFileHasNone) {
  write(
      "/c.toml",
      "[daemon]\nsocket = \"/s\"\nsession_limit = 9\n[device]\ncores = \"1\"\n[opencl]\nvendors = \"/v\"\n");
  const Settings all = read_settings(at("/c.toml"));
  EXPECT_EQ(all.socket, "/s");
  EXPECT_EQ(all.session_limit, 9u);
  EXPECT_EQ(all.cores, "1");
  EXPECT_EQ(all.vendors, "/v");
  write("/c.toml", "[daemon]\nsession_limit = \"many\"\n[opencl]\nvendors = \"/v\"\n");
  EXPECT_EQ(read_settings(at("/c.toml")).session_limit, 256u);
  EXPECT_EQ(read_settings(at("/c.toml")).vendors, "/v");
  for (const char* bad : {"[daemon\n", "daemon = 3\n"}) {
    write("/c.toml", bad);
    EXPECT_EQ(read_settings(at("/c.toml")).vendors, "/etc/OpenCL/vendors");
  }
  EXPECT_FALSE(read_settings(at("/missing.toml")).socket);
}

struct DaemonProbe : PreparedMachine {
  std::string path = folder / "s";
};

TEST_F(DaemonProbe, FindsNobody) {
  EXPECT_EQ(ask_daemon(path).connect_error, ENOENT);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const UniqueFd left(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(ask_daemon(path).connect_error, ECONNREFUSED);
}

TEST_F(DaemonProbe, SaysNothingToOneThatClientsDoNotTrust) {
  const auto listener = Listener::bind(path, 0600);
  ASSERT_TRUE(listener);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  const DaemonAnswer answer = ask_daemon(path, std::chrono::milliseconds(1));
  EXPECT_EQ(answer.connect_error, EPERM);
  EXPECT_NE(answer.error.find("not to be trusted"), std::string::npos);
}

TEST_F(DaemonProbe, DoesNotWaitForeverForADaemonThatDoesNotAnswer) {
  const auto listener = Listener::bind(path, 0600);
  ASSERT_TRUE(listener);
  const DaemonAnswer answer = ask_daemon(path, std::chrono::milliseconds(1));
  EXPECT_TRUE(answer.reached());
  EXPECT_FALSE(answer.answers());
  EXPECT_EQ(answer.pid, ::getpid());
  EXPECT_EQ(answer.user, ::geteuid());
  EXPECT_EQ(answer.error, "no answer in time");
}

}  // namespace
}  // namespace fairgv::tools::doctor
