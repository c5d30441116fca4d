#include "tests/bench/support/load/company.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <csignal>

#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

using Clock = Company::Clock;

// Only keeps a broken system from hanging the experiment.
constexpr std::chrono::minutes kPatience{2};
constexpr double kUntilDestroyed = 86'400;

Result<Company> start_all(const Tenancy& tenancy, const std::vector<std::string>& tenants,
                          const std::vector<std::string>& program) {
  Company company;
  for (const std::string& tenant : tenants) {
    FAIRGV_CHECK(company.join(tenancy, tenant, program));
  }
  FAIRGV_CHECK(company.wait_for_output());
  return company;
}

}  // namespace

Result<void> Company::join(const Tenancy& tenancy, const std::string& tenant,
                           const std::vector<std::string>& program) {
  return join(tenant, tenancy.tenant(tenant, 1, program));
}

Result<void> Company::join(const std::string& name, const CommandLine& program) {
  FAIRGV_TRY(child, Child::start(program));
  members_.push_back({name, std::move(child).value()});
  return {};
}

Result<void> Company::wait_for_output() {
  for (Member& member : members_) FAIRGV_CHECK(await_output(member.child, member.tenant));
  return {};
}

Result<void> Company::look() {
  for (Member& member : members_) {
    (void)member.child.read_lines();
    if (!member.child.ended()) continue;
    return Error{
        fmt::format("the program of {} ended early, with status {}", member.tenant, member.child.wait())};
  }
  return {};
}

Result<void> Company::watch_until(Clock::time_point end, std::initializer_list<Company*> all) {
  std::vector<pollfd> outputs;
  for (const Company* company : all) {
    for (const Member& member : company->members_) outputs.push_back({member.child.output(), POLLIN, 0});
  }
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    ::poll(outputs.data(), outputs.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    // Lines that are printed from now on are results, and not for look().
    if (Clock::now() >= end) return {};
    for (Company* company : all) {
      if (auto there = company->look(); !there) return there;
    }
  }
}

void Company::ask_to_end() const {
  for (const Member& member : members_) ::kill(member.child.pid(), SIGTERM);
}

std::vector<Finished> Company::finish() && {
  std::vector<Finished> all;
  for (Member& member : members_) all.push_back(harness::finish(std::move(member.child)));
  return all;
}

Result<std::uint64_t> loop_iterations(const Placement& placement) {
  FAIRGV_TRY(loop, calibrate_loop(200, "0.2", placement));
  return loop->iterations;
}

std::vector<std::string> saturating_program(std::uint64_t iterations, double seconds) {
  return {beside("workloads/computeLoop"),
          "--iterations",
          std::to_string(iterations),
          "--seconds",
          fmt::format("{}", seconds),
          "--sync",
          "stream"};
}

std::vector<std::string> endless_program(std::uint64_t iterations) {
  auto program = saturating_program(iterations, kUntilDestroyed);
  program.insert(program.end(), {"--progress-ms", "1000"});
  return program;
}

Result<Company> start_saturating(const Tenancy& tenancy, unsigned count, std::uint64_t iterations) {
  return start_all(tenancy, numbered("busy", count), endless_program(iterations));
}

Result<Company> start_idle(const Tenancy& tenancy, const std::vector<std::string>& tenants) {
  return start_all(tenancy, tenants, {beside("fairgv-probe-latency"), "idle"});
}

std::vector<std::string> numbered(const std::string& kind, unsigned count) {
  std::vector<std::string> names;
  for (unsigned i = 1; i <= count; ++i) names.push_back(fmt::format("{}{}", kind, i));
  return names;
}

Result<void> await_output(Child& program, const std::string& tenant) {
  const auto give_up = Clock::now() + kPatience;
  while (program.read_lines().empty()) {
    if (program.ended()) return Error{"the program of " + tenant + " ended before it was under way"};
    if (Clock::now() > give_up) return Error{"the program of " + tenant + " does not get under way"};
    pollfd readable{program.output(), POLLIN, 0};
    ::poll(&readable, 1, 1'000);
  }
  return {};
}

Result<nlohmann::json> look_at(const Tenancy& tenancy) {
  FAIRGV_TRY(finished, run({{beside("fairgv"), "ps", "--json", "--socket", tenancy.socket()}, {}}));
  std::string text;
  for (const std::string& line : finished->lines) text += line + '\n';
  nlohmann::json report = parse_line(text);
  if (finished->status != 0 || !report.is_object()) return Error{"fairgv ps does not say who is there"};
  return report;
}

Result<nlohmann::json> tenant_in(const nlohmann::json& report, const std::string& tenant) {
  for (const auto& each : report["tenants"]) {
    if (each["tenant"] == tenant) return each;
  }
  return Error{"the daemon does not know the tenant " + tenant};
}

double charged_seconds(const nlohmann::json& tenant) {
  double nanoseconds = 0;
  for (const auto& of_device : tenant["device_time_ns"]) nanoseconds += of_device.get<double>();
  return nanoseconds / 1e9;
}

Result<std::vector<double>> charged_between(const nlohmann::json& before, const nlohmann::json& after,
                                            const std::vector<std::string>& tenants) {
  std::vector<double> charged;
  for (const std::string& name : tenants) {
    const auto first = tenant_in(before, name);
    const auto last = tenant_in(after, name);
    if (!first) return first.error();
    if (!last) return last.error();
    charged.push_back(charged_seconds(last.value()) - charged_seconds(first.value()));
  }
  return charged;
}

}  // namespace fairgv::bench
