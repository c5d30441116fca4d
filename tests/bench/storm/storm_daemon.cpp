#include "tests/bench/storm/storm_daemon.hpp"

#include <fmt/core.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "tests/bench/support/load/company.hpp"

namespace fairgv::bench::storm_experiment {

using namespace harness;
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::minutes kPatience{1};

fs::path log_of(const Tenancy& tenancy) {
  return fs::path(tenancy.socket()).replace_extension("log");
}

}  // namespace

Result<Holdings> StormDaemon::replaced_and_idle() {
  FAIRGV_TRY(report, look_at(tenancy_));
  pid_ = report.value()["daemon"]["pid"];
  if (const auto replaced = harness::run({{beside("fairgv"), "restart", "--socket", tenancy_.socket()}, {}});
      !replaced || replaced->status != 0) {
    return Error{"the daemon cannot be replaced"};
  }
  return settle([](const Holdings& now) { return now.children == 0 && now.processes == 0; });
}

void StormDaemon::replace() const {
  ::kill(pid_, SIGUSR2);
}

Result<Holdings> StormDaemon::settle(const std::function<bool(const Holdings&)>& so) const {
  const auto give_up = Clock::now() + kPatience;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const Holdings now = Holdings::of(pid_);
    if (so(now)) return now;
    if (Clock::now() > give_up) return Error{shown(now)};
  }
}

Result<nlohmann::json> StormDaemon::tenant(const std::string& name) const {
  FAIRGV_TRY(report, look_at(tenancy_));
  return tenant_in(report.value(), name);
}

Result<std::vector<std::string>> StormDaemon::memory_that_is_charged() const {
  FAIRGV_TRY(report, look_at(tenancy_));
  std::vector<std::string> found;
  for (const auto& tenant : report.value()["tenants"]) {
    for (const auto& used : tenant.value("memory_used", nlohmann::json::array())) {
      if (used == 0) continue;
      found.push_back(fmt::format("{} is still charged {} bytes", tenant["tenant"].dump(), used.dump()));
    }
  }
  return found;
}

Result<StormDaemon::Charged> StormDaemon::charged_to_steady() const {
  FAIRGV_TRY(report, look_at(tenancy_));
  const auto light = tenant_in(report.value(), "steady1");
  const auto heavy = tenant_in(report.value(), "steady2");
  if (!light || !heavy) return Error{"a tenant that nobody has touched is gone"};
  Charged charged{charged_seconds(light.value()), charged_seconds(heavy.value())};
  for (const auto& each : {light.value(), heavy.value()}) {
    for (const auto& device : each["use"]) charged.entitled += device["entitled_ns"].get<double>() / 1e9;
  }
  return charged;
}

Result<StormDaemon::Books> StormDaemon::books() const {
  const auto usage = harness::run(
      {{beside("fairgv"), "usage", "--since", "1d", "--json", "--socket", tenancy_.socket()}, {}});
  Books books;
  books.passed = std::chrono::duration<double>(Clock::now() - began_).count();
  std::string text;
  if (usage && usage->status == 0) {
    for (const std::string& line : usage->lines) text += line;
  }
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  const auto report = look_at(tenancy_);
  if (!answer.is_object() || !report) return Error{"the daemon does not tell what was used"};
  for (const auto& row : answer["rows"]) books.charged += row["device_seconds"].get<double>();
  books.part = books.charged / books.passed / static_cast<double>(report.value()["devices"].size());
  return books;
}

std::uintmax_t StormDaemon::log_bytes() const {
  std::error_code none_yet;
  const std::uintmax_t bytes = fs::file_size(log_of(tenancy_), none_yet);
  return none_yet ? 0 : bytes;
}

std::vector<std::string> StormDaemon::log_lines(const std::string& what, std::uintmax_t from) const {
  std::ifstream log(log_of(tenancy_));
  log.seekg(static_cast<std::streamoff>(from));
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    if (line.find(what) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

}  // namespace fairgv::bench::storm_experiment
