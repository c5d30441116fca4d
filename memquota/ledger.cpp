#include "memquota/ledger.hpp"

#include <algorithm>
#include <bit>

namespace fairgv::memquota {
namespace {

/// a - b, or 0 if that would be negative.
std::uint64_t without(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return b > kUnlimited - a ? kUnlimited : a + b;
}

/// Calls visit(device) for each device of the set until it returns false.
template <class Visit>
bool all_of(DeviceSet devices, Visit visit) {
  for (; devices != 0; devices &= devices - 1) {
    if (!visit(static_cast<std::uint32_t>(std::countr_zero(devices)))) return false;
  }
  return true;
}

}  // namespace

std::uint64_t Ledger::Position::reserve() const {
  return std::min(allowance.reserve, allowance.limit);
}

std::uint64_t Ledger::Position::unused_reserve() const {
  return without(reserve(), charged);
}

void Ledger::reset(std::vector<std::uint64_t> capacities) {
  capacities.resize(std::min(capacities.size(), kMostDevices));
  capacities_ = std::move(capacities);
  charged_.assign(capacities_.size(), 0);
  sessions_.clear();
  accounts_.clear();
}

void Ledger::add_device(std::uint64_t capacity) {
  if (capacities_.size() == kMostDevices) return;
  capacities_.push_back(capacity);
  charged_.push_back(0);
  for (auto& [name, account] : accounts_) account.positions.resize(devices());
  for (auto& [key, session] : sessions_) session.granted.resize(devices());
}

void Ledger::set_capacity(std::uint32_t device, std::uint64_t capacity) {
  capacities_[device] = capacity;
}

Ledger::Account& Ledger::account(const std::string& tenant) {
  Account& account = accounts_[tenant];
  account.positions.resize(devices());
  return account;
}

void Ledger::allow(const std::string& tenant, std::uint32_t device, Allowance allowance) {
  account(tenant).positions[device].allowance = allowance;
}

void Ledger::forget(const std::string& tenant) {
  const auto found = accounts_.find(tenant);
  if (found != accounts_.end() && found->second.sessions == 0) accounts_.erase(found);
}

void Ledger::begin(SessionKey session, const std::string& tenant) {
  Account& owner = account(tenant);
  ++owner.sessions;
  sessions_.emplace(session, Session{&owner, std::vector<std::uint64_t>(devices(), 0)});
}

void Ledger::end(SessionKey session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const Session& holder = found->second;
  for (std::size_t device = 0; device < devices(); ++device) {
    holder.account->positions[device].charged -= holder.granted[device];
    charged_[device] -= holder.granted[device];
  }
  --holder.account->sessions;
  sessions_.erase(found);
}

std::uint64_t Ledger::below_limit(const Account& account, std::uint32_t device) const {
  const Position& position = account.positions[device];
  return without(position.allowance.limit, position.charged);
}

std::uint64_t Ledger::room(const Account& account, std::uint32_t device) const {
  return without(without(capacities_[device], charged_[device]), kept_from(&account, device));
}

std::uint64_t Ledger::kept_from(const Account* account, std::uint32_t device) const {
  if (reserved(device) > capacities_[device]) return 0;
  std::uint64_t kept = 0;
  for (const auto& [name, other] : accounts_) {
    if (&other != account) kept = saturating_sum(kept, other.positions[device].unused_reserve());
  }
  return kept;
}

std::uint64_t Ledger::kept_from(const std::string& tenant, std::uint32_t device) const {
  const auto found = accounts_.find(tenant);
  return kept_from(found == accounts_.end() ? nullptr : &found->second, device);
}

bool Ledger::has_devices(DeviceSet devices) const {
  return all_of(devices, [this](std::uint32_t device) { return device < capacities_.size(); });
}

std::optional<Refusal> Ledger::charge(SessionKey session, DeviceSet devices, std::uint64_t bytes) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || !has_devices(devices)) return Refusal{};
  Session& holder = found->second;
  std::optional<Refusal> refusal;
  all_of(devices, [&](std::uint32_t device) {
    if (bytes > below_limit(*holder.account, device)) {
      refusal = {device, Refusal::Rule::limit};
    } else if (bytes > room(*holder.account, device)) {
      refusal = {device, Refusal::Rule::device_full};
    }
    return !refusal;
  });
  if (refusal) return refusal;
  all_of(devices, [&](std::uint32_t device) {
    holder.granted[device] += bytes;
    holder.account->positions[device].charged += bytes;
    charged_[device] += bytes;
    return true;
  });
  return std::nullopt;
}

bool Ledger::restore(SessionKey session, std::uint32_t device, std::uint64_t bytes) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || device >= devices() || bytes > kUnlimited - charged_[device]) return false;
  found->second.granted[device] += bytes;
  found->second.account->positions[device].charged += bytes;
  charged_[device] += bytes;
  return true;
}

bool Ledger::give_back(SessionKey session, DeviceSet devices, std::uint64_t bytes) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || !has_devices(devices)) return false;
  Session& holder = found->second;
  if (!all_of(devices, [&](std::uint32_t device) { return holder.granted[device] >= bytes; })) return false;
  return all_of(devices, [&](std::uint32_t device) {
    holder.granted[device] -= bytes;
    holder.account->positions[device].charged -= bytes;
    charged_[device] -= bytes;
    return true;
  });
}

std::uint64_t Ledger::reserved(std::uint32_t device) const {
  std::uint64_t sum = 0;
  for (const auto& [name, account] : accounts_) {
    sum = saturating_sum(sum, account.positions[device].reserve());
  }
  return sum;
}

std::uint64_t Ledger::charged(const std::string& tenant, std::uint32_t device) const {
  const auto found = accounts_.find(tenant);
  return found == accounts_.end() ? 0 : found->second.positions[device].charged;
}

std::uint64_t Ledger::charged(SessionKey session, std::uint32_t device) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? 0 : found->second.granted[device];
}

Allowance Ledger::allowance(const std::string& tenant, std::uint32_t device) const {
  const auto found = accounts_.find(tenant);
  return found == accounts_.end() ? Allowance{} : found->second.positions[device].allowance;
}

std::uint64_t Ledger::left(SessionKey session, std::uint32_t device) const {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return 0;
  const Account& account = *found->second.account;
  return std::min(below_limit(account, device), room(account, device));
}

}  // namespace fairgv::memquota
