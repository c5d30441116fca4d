#include "tests/bench/support/company.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <chrono>

#include "tests/bench/support/calibrated_loop.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

using Clock = std::chrono::steady_clock;

// Only keeps a broken system from hanging the experiment.
constexpr std::chrono::minutes kPatience{2};
constexpr double kUntilDestroyed = 86'400;

/// Both kinds of company say something once they are under way.
Result<void> wait_for_output(Child& child, const std::string& tenant) {
  const auto give_up = Clock::now() + kPatience;
  while (child.read_lines().empty()) {
    if (child.ended()) return Error{"the program of " + tenant + " ended before it was under way"};
    if (Clock::now() > give_up) return Error{"the program of " + tenant + " does not get under way"};
    pollfd readable{child.output(), POLLIN, 0};
    ::poll(&readable, 1, 1'000);
  }
  return {};
}

}  // namespace

Result<std::uint64_t> loop_iterations(const Placement& placement) {
  const auto loop = calibrate_loop(200, "0.2", placement);
  if (!loop) return loop.error();
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

Result<std::vector<Child>> start_saturating(const Tenancy& tenancy, unsigned count,
                                            std::uint64_t iterations) {
  std::vector<Child> children;
  for (unsigned i = 1; i <= count; ++i) {
    auto program = saturating_program(iterations, kUntilDestroyed);
    // Seldom enough that nobody has to read them for hours.
    program.insert(program.end(), {"--progress-ms", "1000"});
    auto child = Child::start(tenancy.tenant(fmt::format("busy{}", i), 1, program));
    if (!child) return child.error();
    children.push_back(std::move(child).value());
  }
  for (unsigned i = 0; i < count; ++i) {
    if (auto ready = wait_for_output(children[i], fmt::format("busy{}", i + 1)); !ready) return ready.error();
  }
  return children;
}

Result<Child> start_idle(const Tenancy& tenancy, const std::string& tenant) {
  auto child = Child::start(tenancy.tenant(tenant, 1, {beside("fairgv-probe-latency"), "idle"}));
  if (!child) return child.error();
  if (auto ready = wait_for_output(child.value(), tenant); !ready) return ready.error();
  return child;
}

Result<nlohmann::json> look_at(const Tenancy& tenancy) {
  const auto finished = run({{beside("fairgv"), "ps", "--json", "--socket", tenancy.socket()}, {}});
  if (!finished) return finished.error();
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

}  // namespace fairgv::bench
