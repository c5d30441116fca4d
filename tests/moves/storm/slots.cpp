#include "tests/moves/storm/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <utility>

namespace fairgv::integration::storm {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> random_program(std::uint64_t seed) {
  return {harness::beside("random_opencl"), std::to_string(seed), "--stretch", "800"};
}

std::string text_of_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "| " + line + '\n';
  return text;
}

std::string text_of_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + ' ';
  return text;
}

/// Lines that kernels print may come in any order.
std::vector<std::string> in_order(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

Slots::Slots(Log& log, const std::filesystem::path& folder, std::size_t tenants,
             std::uint64_t random_programs)
    : log_(log), random_programs_(random_programs) {
  for (std::size_t i = 1; i <= tenants; ++i) {
    const std::string name = "tenant-" + std::to_string(i);
    slots_.push_back({name, folder / ("stop-" + name)});
  }
}

void Slots::expect(const harness::Tenancy& tenancy, std::uint64_t seed) {
  const auto finished = harness::run(tenancy.tenant("first", 1, random_program(seed)));
  ASSERT_TRUE(finished);
  ASSERT_EQ(finished->status, 0) << text_of_lines(finished->lines);
  expected_[seed] = in_order(finished->lines);
}

void Slots::look_after(const harness::Tenancy& tenancy, moves::Random& random) {
  for (Slot& slot : slots_) {
    if (slot.child) take_lines(slot);
    if (slot.child && slot.child->ended()) judge(slot);
    if (!slot.child) start(slot, tenancy, random);
    if (Clock::now() > slot.stop_at) std::ofstream(slot.stop_file) << "";
  }
}

void Slots::start(Slot& slot, const harness::Tenancy& tenancy, moves::Random& random) {
  std::filesystem::remove(slot.stop_file);
  slot.lines.clear();
  slot.expected.clear();
  slot.was_hit = false;
  slot.stop_at = Clock::now() + std::chrono::milliseconds(random.below(8000));
  switch (random.between(has_crashes_ ? 0 : 1, 7)) {
    case 0:
      slot.command = {harness::beside("opencl_loss"), "fault"};
      break;
    case 1:
    case 2: {
      static const std::vector<std::string> workloads{"matrixMul", "hotspot", "scan", "BlackScholes", "srad"};
      slot.command = {harness::beside("workloads/" + random.of(workloads)), "--verify", "always", "--seconds",
                      "0." + std::to_string(random.between(1, 9))};
      break;
    }
    case 3:
    case 4: {
      const std::uint64_t seed = random.between(1, random_programs_);
      slot.command = random_program(seed);
      slot.expected = expected_[seed];
      break;
    }
    default:
      slot.command = {harness::beside("opencl_wanderer"), std::to_string(random.between(1, 16)),
                      slot.stop_file.string()};
      slot.expected = {"right"};
  }
  auto command = tenancy.tenant(slot.tenant, static_cast<std::uint32_t>(random.between(1, 3)), slot.command);
  // A random program follows from what its device has, too, which is less then.
  const bool is_random = slot.command.front() == random_program(0).front();
  if (!is_random && random.one_in(3)) command.environment.emplace_back("FAIRGV_DIRECT_MEMORY", "off");
  if (random.one_in(3))
    command.environment.emplace_back("FAIRGV_SLICE", "random:" + std::to_string(random.next()));
  command.environment.emplace_back("FAIRGV_LOG", "off");  // intended losses are no news
  begin(slot, command);
  log_.add(slot.tenant + " begins " + text_of_words(slot.command));
}

void Slots::begin(Slot& slot, const harness::CommandLine& command) {
  auto child = harness::Child::start(command);
  ASSERT_TRUE(child);
  slot.child.emplace(std::move(child).value());
}

void Slots::take_lines(Slot& slot) {
  for (std::string& line : slot.child->read_lines()) {
    if (!line.starts_with("{\"rounds\"")) slot.lines.push_back(std::move(line));
  }
}

void Slots::judge(Slot& slot) {
  const int status = slot.child->wait();
  slot.child.reset();
  log_.add(slot.tenant + " ends " + text_of_words(slot.command) + "with status " + std::to_string(status));
  if (slot.was_hit) {
    ++hits_;
    return;
  }
  ++right_;
  const std::string command = text_of_words(slot.command);
  EXPECT_EQ(status, 0) << slot.tenant << ": " << command << '\n' << text_of_lines(slot.lines);
  if (slot.expected.empty()) return;
  EXPECT_EQ(in_order(slot.lines), slot.expected) << slot.tenant << ": " << command << '\n'
                                                 << text_of_lines(slot.lines);
}

void Slots::stop() {
  for (const Slot& slot : slots_) std::ofstream(slot.stop_file) << "";
}

bool Slots::reap() {
  for (Slot& slot : slots_) {
    if (slot.child) take_lines(slot);
    if (slot.child && slot.child->ended()) judge(slot);
  }
  return std::none_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.child.has_value(); });
}

std::vector<std::string> Slots::tenants() const {
  std::vector<std::string> names;
  for (const Slot& slot : slots_) names.push_back(slot.tenant);
  return names;
}

const std::string& Slots::any_tenant(moves::Random& random) const {
  return slots_[random.below(slots_.size())].tenant;
}

void Slots::hit(pid_t program) {
  for (Slot& slot : slots_) {
    if (!slot.child || slot.child->pid() != program) continue;
    slot.was_hit = true;
    log_.add(slot.tenant + " may be hit");
  }
}

void Slots::kill_client(const std::string& tenant) {
  for (Slot& slot : slots_) {
    if (slot.tenant != tenant || !slot.child) continue;
    slot.was_hit = true;
    log_.add("kill the program of " + tenant);
    ::kill(slot.child->pid(), SIGKILL);
  }
}

void Slots::print(std::ostream& out) const {
  out << right_ << " programs ended with right results, " << hits_ << " were hit\n";
}

}  // namespace fairgv::integration::storm
