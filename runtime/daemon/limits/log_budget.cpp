#include "runtime/daemon/limits/log_budget.hpp"

#include <utility>

namespace fairgv::daemon {
namespace {

/// Looking through all purses for those that are as good as new takes longer than a line.
constexpr std::chrono::seconds kSweepEvery{1};

}  // namespace

bool LogBudget::take(const Account& account, Time now) {
  if (account.administrator) return true;
  Purse& own = purse_of(account.owner, now);
  if (!take_from(own, kOfEach, now)) return false;
  return take_from(all_, kOfAll, now);
}

std::vector<LogBudget::LeftOut> LogBudget::take_left_out(Time now) {
  std::vector<LeftOut> list;
  if (dry_ == 0) return list;
  for (auto& [owner, purse] : purses_) {
    if (resumes(purse, kOfEach, now)) list.push_back({owner, std::exchange(purse.left_out, 0)});
  }
  if (resumes(others_, kOfEach, now)) list.push_back({std::nullopt, std::exchange(others_.left_out, 0)});
  if (resumes(all_, kOfAll, now)) list.push_back({std::nullopt, std::exchange(all_.left_out, 0)});
  dry_ -= list.size();
  return list;
}

std::optional<LogBudget::Time> LogBudget::deadline() const {
  std::optional<Time> first;
  if (dry_ == 0) return first;
  const auto keep_earlier = [&](const Purse& purse, const TokenBucket::Rate& rate) {
    if (purse.left_out == 0) return;
    const Time at = resumes_at(purse, rate);
    if (!first || at < *first) first = at;
  };
  for (const auto& [owner, purse] : purses_) keep_earlier(purse, kOfEach);
  keep_earlier(others_, kOfEach);
  keep_earlier(all_, kOfAll);
  return first;
}

/// A dry purse stays closed until the log has told of it: take_left_out() opens it.
bool LogBudget::take_from(Purse& purse, const TokenBucket::Rate& rate, Time now) {
  if (purse.left_out == 0 && purse.bucket.take_one(rate, now)) return true;
  if (purse.left_out == 0) ++dry_;
  ++purse.left_out;
  return false;
}

bool LogBudget::resumes(const Purse& purse, const TokenBucket::Rate& rate, Time now) {
  return purse.left_out != 0 && now >= resumes_at(purse, rate);
}

LogBudget::Time LogBudget::resumes_at(const Purse& purse, const TokenBucket::Rate& rate) {
  return purse.bucket.reaches(kResumesAt * rate.burst, rate);
}

LogBudget::Purse& LogBudget::purse_of(uid_t owner, Time now) {
  if (const auto found = purses_.find(owner); found != purses_.end()) return found->second;
  if (purses_.size() >= kMostOwners && now >= next_sweep_) {
    next_sweep_ = now + kSweepEvery;
    std::erase_if(purses_, [&](const auto& entry) {
      return entry.second.left_out == 0 && entry.second.bucket.is_full(kOfEach, now);
    });
  }
  if (purses_.size() >= kMostOwners) return others_;
  return purses_.emplace(owner, Purse{{kOfEach, now}}).first->second;
}

}  // namespace fairgv::daemon
