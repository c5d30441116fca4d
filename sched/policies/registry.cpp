#include "sched/policies/registry.hpp"

#include <array>

#include "sched/policies/credit/credit_hs.hpp"
#include "sched/policies/credit/credit_poll.hpp"
#include "sched/policies/fair.hpp"
#include "sched/policies/fifo.hpp"
#include "sched/policies/round_robin.hpp"
#include "sched/policies/credit/strict_cosched.hpp"

namespace fairgv::sched {
namespace {

struct Entry {
  PolicyInfo info;
  std::unique_ptr<Policy> (*make)(Duration slice);
};

template <typename SomePolicy>
std::unique_ptr<Policy> make(Duration slice) {
  return std::make_unique<SomePolicy>(slice);
}

constexpr auto kEntries = std::to_array<Entry>({
    {{kDefaultPolicy, "start-time fair queuing by weight", true, true}, make<FairPolicy>},
    {{"fifo", "one command each, in the order in which they come", false, true}, make<FifoPolicy>},
    {{"round-robin", "a slice each in turn, whatever the weights", false, true}, make<RoundRobinPolicy>},
    {{"credit-poll", "credits, slices by the clock, idle tenants keep theirs", true, false},
     make<CreditPollPolicy>},
    {{"credit-hs", "credits, idle tenants give the device away", true, true}, make<CreditHsPolicy>},
    {{"strict-cosched", "fixed turns by weight that nobody else may use", true, false},
     make<StrictCoschedPolicy>},
});

constexpr auto kInfos = [] {
  std::array<PolicyInfo, kEntries.size()> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kEntries[i].info;
  return infos;
}();

}  // namespace

std::span<const PolicyInfo> all_policies() {
  return kInfos;
}

const PolicyInfo* find_policy(std::string_view name) {
  for (const PolicyInfo& info : kInfos) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

std::string policy_names() {
  std::string names;
  for (const PolicyInfo& info : kInfos) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

std::unique_ptr<Policy> make_policy(std::string_view name, Duration slice) {
  for (const Entry& entry : kEntries) {
    if (entry.info.name == name) return entry.make(slice);
  }
  return nullptr;
}

}  // namespace fairgv::sched
