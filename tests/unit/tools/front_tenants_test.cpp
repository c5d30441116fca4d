// The tenants to which the process of the window in front belongs.
#include "tools/fairgv/focus/front_tenants.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace fairgv::tools::focus {
namespace {

using Names = std::set<std::string>;

/// A desktop: 10 is a terminal with the shell 11, which has started the programs 12 and 13; 20 is a game with
/// a launcher, 21; 30 has started a viewer, 32, through a helper, 31.
const std::map<pid_t, pid_t> kParents{{10, 2},  {11, 10}, {12, 11}, {13, 11}, {21, 2},
                                      {20, 21}, {30, 2},  {31, 30}, {32, 31}, {2, 1}};

std::optional<pid_t> parent(pid_t process) {
  const auto found = kParents.find(process);
  return found == kParents.end() ? std::nullopt : std::optional(found->second);
}

control::Report report() {
  control::Report report;
  for (const auto& [name, pids] : std::map<std::string, std::vector<pid_t>>{
           {"build", {12}}, {"film", {13}}, {"game", {20}}, {"science", {30, 40}}, {"idle", {}}}) {
    control::Report::Tenant tenant;
    tenant.tenant = name;
    for (const pid_t pid : pids) {
      control::Report::Session session;
      session.pid = pid;
      tenant.sessions.push_back(session);
    }
    report.tenants.push_back(tenant);
  }
  return report;
}

Names in_front(pid_t window) {
  return tenants_in_front(report(), window, parent);
}

TEST(TenantsInFront, AProgramsOwnWindowIsItsTenants) {
  EXPECT_EQ(in_front(20), Names{"game"});
  EXPECT_EQ(in_front(40), Names{"science"});
}

TEST(TenantsInFront, ProgramsThatWereStartedInATerminalAreInFrontWithIt) {
  EXPECT_EQ(in_front(10), (Names{"build", "film"}));
  EXPECT_EQ(in_front(21), Names{"game"}) << "and those of a launcher";
}

TEST(TenantsInFront, AViewerIsOfTheNearestProgramThatHasStartedIt) {
  EXPECT_EQ(in_front(32), Names{"science"});
}

TEST(TenantsInFront, AProgramsOwnWindowGoesBeforeWhatItHasStarted) {
  control::Report nested = report();
  nested.tenants[0].sessions[0].pid = 10;  // the terminal itself draws by OpenCL
  EXPECT_EQ(tenants_in_front(nested, 10, parent), Names{"build"});
}

TEST(TenantsInFront, OtherWindowsAreNobodys) {
  EXPECT_EQ(in_front(99), Names{}) << "a process that is not there";
  EXPECT_EQ(tenants_in_front({}, 10, parent), Names{});
  const auto own_parent = [](pid_t process) { return std::optional(process); };
  EXPECT_EQ(tenants_in_front(report(), 99, own_parent), Names{}) << "an end is found in any case";
}

TEST(TenantsInFront, TheKernelKnowsParents) {
  EXPECT_EQ(parent_of(::getpid()), ::getppid());
  EXPECT_EQ(parent_of(-1), std::nullopt);
}

}  // namespace
}  // namespace fairgv::tools::focus
