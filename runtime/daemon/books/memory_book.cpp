#include "runtime/daemon/books/memory_book.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/session/ledger_protocol.hpp"

namespace fairgv::daemon {
namespace {

using session::LedgerAnswer;
using session::LedgerRequest;

/// The bytes of a device that can be shared out: as many as the configuration says, and no more than there
/// are.
std::uint64_t capacity_of(const DeviceRule& rule, std::uint64_t device_bytes) {
  const std::uint64_t there = device_bytes == 0 ? memquota::kUnlimited : device_bytes;
  return rule.memory ? std::min(rule.memory->of(there), there) : there;
}

/// The bytes that tenants may hold together.
std::uint64_t lent_of(const DeviceRule& rule, std::uint64_t capacity) {
  if (!rule.oversubscribe || capacity == memquota::kUnlimited) return capacity;
  return static_cast<std::uint64_t>(static_cast<double>(capacity) * *rule.oversubscribe);
}

LedgerAnswer refusal_answer(memquota::Refusal refusal) {
  const bool limit = refusal.rule == memquota::Refusal::Rule::limit;
  return {0, limit ? LedgerAnswer::Refusal::limit : LedgerAnswer::Refusal::device_full};
}

}  // namespace

void MemoryBook::set_devices(const std::vector<session::DeviceDescription>& devices) {
  device_bytes_.clear();
  for (const session::DeviceDescription& device : devices) device_bytes_.push_back(device.memory);
  ledger_.reset(std::vector<std::uint64_t>(devices.size(), memquota::kUnlimited));
  listed_.clear();
  overbooked_.clear();
  accounts_.clear();
}

void MemoryBook::add_device(const session::DeviceDescription& device) {
  device_bytes_.push_back(device.memory);
  ledger_.add_device(memquota::kUnlimited);
}

void MemoryBook::refresh(const DeviceRules& rules, const TenantRegistry& tenants) {
  const std::set<std::string> names = tenants.names();
  for (const std::string& gone : listed_) {
    if (names.contains(gone)) continue;
    ledger_.forget(gone);
    accounts_.erase(gone);
  }
  listed_ = names;
  for (std::uint32_t device = 0; device < device_bytes_.size(); ++device) {
    const std::uint64_t capacity = capacity_of(rules.of(device), device_bytes_[device]);
    const std::uint64_t lent = lent_of(rules.of(device), capacity);
    ledger_.set_capacity(device, lent);
    there_.resize(device_bytes_.size());
    there_[device] = lent > capacity ? capacity : 0;
    for (const std::string& name : names) {
      const auto [limit, reserve] = tenants.memory_bounds(name, capacity);
      ledger_.allow(name, device, {limit, reserve});
    }
    report_reserves(device);
  }
}

void MemoryBook::report_reserves(std::uint32_t device) {
  const std::uint64_t reserved = ledger_.reserved(device);
  const std::uint64_t capacity = ledger_.capacity(device);
  if (reserved <= capacity) {
    overbooked_.erase(device);
  } else if (overbooked_.insert(device).second) {
    spdlog::error(
        "device {}: the tenants' reserves sum up to {} and it has {} to share out: none of them holds until "
        "memory_reserve in the configuration is lowered",
        device, readable_bytes(reserved), readable_bytes(capacity));
  }
}

void MemoryBook::begin(SessionId session, const std::string& tenant) {
  ledger_.begin(key(session), tenant);
  holders_[session] = {tenant};
}

void MemoryBook::end(SessionId session) {
  ledger_.end(key(session));
  holders_.erase(session);
}

bool MemoryBook::adopt(SessionId session, const std::string& tenant,
                       const std::vector<std::uint64_t>& granted, const DeviceView& devices,
                       std::vector<std::uint64_t> holdings) {
  begin(session, tenant);
  bool all = granted.size() == ledger_.devices();
  for (std::uint32_t device = 0; all && device < granted.size(); ++device) {
    all = ledger_.restore(key(session), device, granted[device]);
  }
  if (!all) {
    end(session);
    return false;
  }
  // The holdings on one device of the books add up to what was granted there, whatever was handed over.
  holdings.resize(devices.size());
  for (std::uint32_t device = 0; device < granted.size(); ++device) {
    std::uint64_t left = granted[device];
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices.host(i) == device) left -= holdings[i] = std::min(holdings[i], left);
    }
    if (const auto first = devices.worker(device)) holdings[*first] += left;
  }
  holders_[session].holdings = std::move(holdings);
  return true;
}

std::vector<std::uint64_t> MemoryBook::granted(SessionId session) const {
  std::vector<std::uint64_t> list;
  for (std::uint32_t device = 0; device < ledger_.devices(); ++device) {
    list.push_back(ledger_.charged(key(session), device));
  }
  return list;
}

std::vector<std::uint64_t> MemoryBook::holdings(SessionId session) const {
  const auto found = holders_.find(session);
  return found == holders_.end() ? std::vector<std::uint64_t>() : found->second.holdings;
}

void MemoryBook::note_grant(SessionId session, std::uint64_t workers, std::uint64_t bytes) {
  const auto found = holders_.find(session);
  if (found == holders_.end()) return;
  std::vector<std::uint64_t>& holdings = found->second.holdings;
  for (std::size_t i = 0; workers >> i != 0; ++i) {
    if ((workers >> i & 1U) == 0) continue;
    if (holdings.size() <= i) holdings.resize(i + 1);
    holdings[i] += bytes;
  }
}

/// Bytes that the worker was not granted on one of its devices were granted on another that is the same to
/// the books: the ledger has looked.
void MemoryBook::let_go(SessionId session, const DeviceView& devices, std::uint64_t workers,
                        std::uint64_t bytes) {
  const auto found = holders_.find(session);
  if (found == holders_.end()) return;
  std::vector<std::uint64_t>& holdings = found->second.holdings;
  holdings.resize(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if ((workers >> i & 1U) == 0) continue;
    std::uint64_t left = bytes - std::min(bytes, holdings[i]);
    holdings[i] -= bytes - left;
    for (std::size_t other = 0; left > 0 && other < devices.size(); ++other) {
      if (devices.host(other) != devices.host(i)) continue;
      const std::uint64_t taken = std::min(left, holdings[other]);
      holdings[other] -= taken;
      left -= taken;
    }
  }
}

// -- sessions that move

MemoryBook::Move MemoryBook::move_of(SessionId session, const DeviceView& before,
                                     const DeviceView& after) const {
  Move move{holdings(session), std::vector<std::uint64_t>(ledger_.devices()),
            std::vector<std::uint64_t>(ledger_.devices())};
  move.holdings.resize(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before.host(i) == after.host(i)) continue;
    move.left[before.host(i)] += move.holdings[i];
    move.entered[after.host(i)] += move.holdings[i];
  }
  return move;
}

Result<MemoryBook::Move> MemoryBook::begin_move(SessionId session, const DeviceView& before,
                                                const DeviceView& after) {
  return enter(session, move_of(session, before, after));
}

Result<void> MemoryBook::go_on(SessionId session, Move& move, const DeviceView& before,
                               const DeviceView& after) {
  Move now = move_of(session, before, after);
  Move added = now;
  std::vector<std::uint64_t> fewer(now.entered.size());
  for (std::size_t i = 0; i < now.entered.size(); ++i) {
    added.entered[i] -= std::min(now.entered[i], move.entered[i]);
    fewer[i] = move.entered[i] - std::min(now.entered[i], move.entered[i]);
  }
  FAIRGV_TRY(charged, enter(session, std::move(added)));
  give_back(session, fewer);
  move = std::move(now);
  return {};
}

Result<MemoryBook::Move> MemoryBook::begin_return(SessionId session, const DeviceView& devices,
                                                  const std::vector<std::uint64_t>& holdings) {
  Move move{holdings, std::vector<std::uint64_t>(ledger_.devices()),
            std::vector<std::uint64_t>(ledger_.devices())};
  move.holdings.resize(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) move.entered[devices.host(i)] += move.holdings[i];
  return enter(session, std::move(move));
}

bool MemoryBook::has_room(SessionId session, const DeviceView& devices,
                          const std::vector<std::uint64_t>& holdings) const {
  std::vector<std::uint64_t> wanted(ledger_.devices());
  for (std::size_t i = 0; i < devices.size() && i < holdings.size(); ++i)
    wanted[devices.host(i)] += holdings[i];
  for (std::uint32_t device = 0; device < wanted.size(); ++device) {
    if (wanted[device] > ledger_.left(key(session), device)) return false;
  }
  return true;
}

/// Charges the devices that are entered, or none.
Result<MemoryBook::Move> MemoryBook::enter(SessionId session, Move move) {
  for (std::uint32_t device = 0; device < move.entered.size(); ++device) {
    const std::uint64_t bytes = move.entered[device];
    const auto refusal = charge(session, {std::uint64_t{1} << device}, bytes);
    if (!refusal) continue;
    std::fill(move.entered.begin() + device, move.entered.end(), 0);
    give_back(session, move.entered);
    return no_room(session, *refusal, bytes);
  }
  return move;
}

void MemoryBook::hold(SessionId session, std::vector<std::uint64_t> holdings) {
  const auto found = holders_.find(session);
  if (found != holders_.end()) found->second.holdings = std::move(holdings);
}

MemoryBook::Move MemoryBook::release(SessionId session) {
  Move move{{}, granted(session), {}};
  const auto found = holders_.find(session);
  if (found != holders_.end()) move.holdings = std::exchange(found->second.holdings, {});
  return move;
}

void MemoryBook::give_back(SessionId session, const std::vector<std::uint64_t>& bytes) {
  for (std::uint32_t device = 0; device < bytes.size(); ++device) {
    if (bytes[device] > 0)
      static_cast<void>(ledger_.give_back(key(session), std::uint64_t{1} << device, bytes[device]));
  }
}

Error MemoryBook::no_room(SessionId session, const memquota::Refusal& refusal, std::uint64_t bytes) const {
  const std::uint64_t left = ledger_.left(key(session), refusal.device);
  const auto holder = holders_.find(session);
  // A tenant without a limit of its own has the device's size for one.
  const bool limit =
      refusal.rule == memquota::Refusal::Rule::limit && holder != holders_.end() &&
      ledger_.allowance(holder->second.tenant, refusal.device).limit < ledger_.capacity(refusal.device);
  return Error{"it needs " + readable_bytes(bytes) + " of device " + std::to_string(refusal.device) +
               ", and " + (limit ? "its tenant may have " : "the device has ") + readable_bytes(left) +
               " more: " + readable_bytes(bytes - std::min(bytes, left)) + " are missing"};
}

Result<std::optional<std::string>> MemoryBook::take(SessionId session, const DeviceView& devices,
                                                    std::string_view packet) {
  FAIRGV_TRY(request, session::parse_ledger_request(packet, devices.size()));
  const std::vector<std::uint64_t> sets = devices.host_sets(request->devices);
  std::optional<memquota::Refusal> refusal;
  switch (request->kind) {
    case LedgerRequest::Kind::give_back:
      if (std::all_of(sets.begin(), sets.end(), [&](std::uint64_t set) {
            return ledger_.give_back(key(session), set, request->bytes);
          })) {
        let_go(session, devices, request->devices, request->bytes);
        return std::optional<std::string>();
      }
      return Error{"its worker gave back more memory than it was granted"};
    case LedgerRequest::Kind::look: {
      const auto device = static_cast<std::uint32_t>(std::countr_zero(sets.front()));
      return std::optional(to_packet(LedgerAnswer{ledger_.left(key(session), device)}));
    }
    case LedgerRequest::Kind::charge:
      break;
  }
  for (const std::uint64_t bytes : {request->more, request->bytes}) {
    refusal = charge(session, sets, bytes);
    if (refusal) continue;
    note_grant(session, request->devices, bytes);
    return std::optional(to_packet(LedgerAnswer{bytes}));
  }
  if (const auto holder = holders_.find(session); holder != holders_.end()) {
    ++account_of(holder->second.tenant, refusal->device).totals.refusals;
  }
  return std::optional(to_packet(refusal_answer(*refusal)));
}

/// On all of them, or on none.
std::optional<memquota::Refusal> MemoryBook::charge(SessionId session, const std::vector<std::uint64_t>& sets,
                                                    std::uint64_t bytes) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto refusal = ledger_.charge(key(session), sets[i], bytes);
    if (!refusal) continue;
    while (i > 0) static_cast<void>(ledger_.give_back(key(session), sets[--i], bytes));
    return refusal;
  }
  return std::nullopt;
}

MemoryBook::Account& MemoryBook::account_of(const std::string& tenant, std::uint32_t device) {
  std::vector<Account>& accounts = accounts_[tenant];
  if (accounts.size() < ledger_.devices()) accounts.resize(ledger_.devices());
  return accounts.at(device);
}

void MemoryBook::account(const std::string& tenant, Time now) {
  for (std::uint32_t device = 0; device < ledger_.devices(); ++device) {
    Account& account = account_of(tenant, device);
    const std::uint64_t held = ledger_.charged(tenant, device);
    if (held == account.held) continue;
    account.totals.byte_seconds +=
        static_cast<double>(account.held) * std::chrono::duration<double>(now - account.since).count();
    account.held = held;
    account.since = now;
  }
}

std::vector<MemoryTotals> MemoryBook::totals(const std::string& tenant, Time now) const {
  std::vector<MemoryTotals> list(ledger_.devices());
  const auto found = accounts_.find(tenant);
  if (found == accounts_.end()) return list;
  for (std::size_t device = 0; device < std::min(list.size(), found->second.size()); ++device) {
    const Account& account = found->second[device];
    const double seconds = std::chrono::duration<double>(now - account.since).count();
    list[device] = account.totals;
    list[device].byte_seconds += static_cast<double>(account.held) * seconds;
  }
  return list;
}

void MemoryBook::restore_totals(const std::string& tenant, const std::vector<MemoryTotals>& totals) {
  for (std::uint32_t device = 0; device < std::min(totals.size(), ledger_.devices()); ++device) {
    account_of(tenant, device).totals = totals[device];
  }
}

std::vector<std::uint64_t> MemoryBook::limits(const std::string& tenant) const {
  std::vector<std::uint64_t> list;
  for (std::uint32_t device = 0; device < ledger_.devices(); ++device) {
    list.push_back(std::min(ledger_.allowance(tenant, device).limit, ledger_.capacity(device)));
  }
  return list;
}

std::vector<std::uint64_t> MemoryBook::capacities() const {
  std::vector<std::uint64_t> list;
  for (std::uint32_t device = 0; device < ledger_.devices(); ++device)
    list.push_back(ledger_.capacity(device));
  return list;
}

}  // namespace fairgv::daemon
