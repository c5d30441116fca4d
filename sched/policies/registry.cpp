#include "sched/policies/registry.hpp"

#include <array>

#include "sched/policies/credit/credit_hs.hpp"
#include "sched/policies/credit/credit_poll.hpp"
#include "sched/policies/credit/strict_cosched.hpp"
#include "sched/policies/fair.hpp"
#include "sched/policies/fair_paper.hpp"
#include "sched/policies/fifo.hpp"
#include "sched/policies/gover/cap.hpp"
#include "sched/policies/pegasus/acc_credit.hpp"
#include "sched/policies/pegasus/aug_credit.hpp"
#include "sched/policies/pegasus/cosched.hpp"
#include "sched/policies/pegasus/slaf.hpp"
#include "sched/policies/pegasus/xeno_credit.hpp"
#include "sched/policies/round_robin.hpp"
#include "sched/policies/timegraph/timegraph.hpp"

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

constexpr KeptPromises kAllPromises{true, true, true};

constexpr auto kEntries = std::to_array<Entry>({
    {{kDefaultPolicy, "start-time fair queuing by weight", true, true, kAllPromises}, make<FairPolicy>},
    {{"fifo", "one command each, in the order in which they come", false, true}, make<FifoPolicy>},
    {{"round-robin", "a slice each in turn, whatever the weights", false, true}, make<RoundRobinPolicy>},
    {{"credit-poll", "credits, slices by the clock, idle tenants keep theirs", true, false},
     make<CreditPollPolicy>},
    {{"credit-hs", "credits, idle tenants give the device away", true, true}, make<CreditHsPolicy>},
    {{"cap", "a slice each in turn, up to each tenant's cap in a second", false, true, {.max = true}},
     make<CapPolicy>},
    {{"timegraph",
      "priorities, and reserves that hold even while the device is idle",
      false,
      false,
      {.min = true}},
     make<TimeGraphPolicy>},
    {{"strict-cosched", "credits, tenants preempted for those that the host runs", true, false},
     make<StrictCoschedPolicy>},
    {{"fair-paper", "start-time fair queuing as published, a sleeper claims nothing", true, true},
     make<FairPaperPolicy>},
    {{"fair-paper-idle", "the same without work conservation", true, false}, make<FairPaperIdlePolicy>},
    {{"acc-credit", "ticks in turn by weight, idle tenants keep theirs", true, false}, make<AccCreditPolicy>},
    {{"xeno-credit", "ticks in turn by the host's weights, idle tenants keep theirs", false, false},
     make<XenoCreditPolicy>},
    {{"aug-credit", "credits, boosted while the host runs the tenant", true, false}, make<AugCreditPolicy>},
    {{"slaf", "ticks in turn by weight, more for tenants below their guarantee", true, false, {.min = true}},
     make<SlafPolicy>},
    {{"cosched", "credits of the tenants that the host runs, else of all", true, false}, make<CoschedPolicy>},
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

std::string unkept_promises(const PolicyInfo& policy, const TenantAttributes& attributes) {
  std::string names;
  const auto look = [&names](bool promised, bool kept, const char* name) {
    if (promised && !kept) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  look(!attributes.min.empty(), policy.keeps.min, "min");
  look(attributes.max < kWholeDevice, policy.keeps.max, "max");
  look(attributes.service != ServiceClass::normal, policy.keeps.service, "class");
  return names;
}

std::unique_ptr<Policy> make_policy(std::string_view name, Duration slice) {
  for (const Entry& entry : kEntries) {
    if (entry.info.name == name) return entry.make(slice);
  }
  return nullptr;
}

}  // namespace fairgv::sched
