// The device memory that a session's objects hold, beside the memory that the daemon has granted: no object
// is made before its bytes are granted, whatever the front end says.
//
//   daemon ──grants──▶ headroom ──charge()──▶ an object's MemoryCharge
//      ▲                  ▲                        │ the object is gone
//      └──given back──────┴────────────────────────┘
//
// The front end knows how much headroom there is (wire::ReserveMemory) and stays below it, so that most
// objects cost no question. Freed bytes go to the headroom where the front end hears of it and there is
// little, else back to the daemon: a front end that sleeps keeps no more than kMostHeadroom from others. The
// loop thread's alone.
//
// An object of a context with several devices is charged on each of them, because OpenCL may move it to any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/headroom.hpp"
#include "runtime/session/ledger_protocol.hpp"
#include "runtime/vgpu/residency/residencies.hpp"
#include "runtime/wire/calls/memory.hpp"

namespace fairgv::vgpu {

class MemoryAccount;

/// The bytes that one object holds, until release() or the destructor.
class MemoryCharge {
 public:
  MemoryCharge() = default;  // of nothing
  MemoryCharge(MemoryCharge&& other) noexcept : MemoryCharge() { *this = std::move(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(devices_, other.devices_);
    std::swap(bytes_, other.bytes_);
    std::swap(front_end_hears_, other.front_end_hears_);
    std::swap(is_expected_, other.is_expected_);
    std::swap(other_, other.other_);
    return *this;
  }
  ~MemoryCharge() { release(); }

  /// Whether the bytes are headroom again.
  bool release();
  bool empty() const { return account_ == nullptr; }
  /// The program has released the object, which commands may still use.
  void expect();
  /// The bytes are on lent devices, in no block (residency/): until the charge is released.
  void stays(OtherMemory other) { other_ = std::move(other); }

 private:
  friend class MemoryAccount;
  MemoryAccount* account_ = nullptr;
  std::uint64_t devices_ = 0;
  std::uint64_t bytes_ = 0;
  bool front_end_hears_ = false;
  bool is_expected_ = false;
  OtherMemory other_;
};

class MemoryAccount {
 public:
  /// Asks the daemon, and waits for its answer unless the request gives something back.
  using Ledger = std::function<session::LedgerAnswer(const session::LedgerRequest&)>;

  /// `devices`: how many there are. It outlives every charge.
  MemoryAccount(std::size_t devices, Ledger ledger) : devices_(devices), ledger_(std::move(ledger)) {}

  // Requests of the front end. An Error means that it broke the protocol.

  /// wire::ReserveMemory.
  Result<std::uint64_t> reserve(std::uint64_t devices, std::uint64_t bytes, std::uint64_t headroom);
  /// wire::ReturnMemory.
  Result<void> give_back(std::uint64_t devices, std::uint64_t bytes);
  /// wire::GetMemoryLeft.
  Result<std::uint64_t> left(std::uint32_t device);

  /// The charge of an object about to be made, on devices that there are; nothing if the daemon refuses it.
  /// `front_end_hears`: the front end learns of the object's end.
  Result<std::optional<MemoryCharge>> charge(std::uint64_t devices, std::uint64_t bytes,
                                             bool front_end_hears);

  /// From now on all that is charged is in no block. It outlives every charge.
  void all_stay(Residencies& residencies) { residencies_ = &residencies; }

  // ---- a move of the session to another worker

  /// How the front end goes about memory.
  struct Habits {
    bool front_end_reserves = false;
    std::uint64_t kept = 0;  // of freed bytes, so many are kept
  };
  Habits habits() const { return {front_end_reserves_, kept_}; }
  void take_habits(const Habits& habits) {
    front_end_reserves_ = habits.front_end_reserves;
    kept_ = std::min(habits.kept, wire::kMostHeadroom);
  }
  /// From now on, or no longer, nothing is given back to the daemon: another worker makes what there is now,
  /// and has to be granted as much. The session may use it meanwhile.
  void withhold(bool withholds);
  /// The session has so much on each device already, the charges included that there are: the worker that
  /// leaves has been granted it. `changes`: it is that one's still, so that nothing is given back to the
  /// daemon, and this is called again. An Error if that is less than is charged.
  Result<void> inherit(std::span<const std::uint64_t> granted, bool changes);

  /// Counts charges that ended: a refused caller can see whether asking again is worth it.
  std::uint64_t released() const { return released_; }

  /// On each of the devices, the bytes of objects that the program has released and that are still there.
  std::uint64_t expected(std::uint64_t devices) const { return expected_.least(devices); }
  /// Called with devices and bytes whenever a charge has ended; empty: nothing is called.
  void on_release(std::function<void(std::uint64_t devices, std::uint64_t bytes)> heard) {
    heard_ = std::move(heard);
  }
  /// Whether there are such devices, and there is no other among them.
  bool exist(std::uint64_t devices) const;
  /// The least that is left on one of these devices, which are there.
  std::uint64_t least_left(std::uint64_t devices) const;

 private:
  friend class MemoryCharge;
  bool release(const MemoryCharge& charge);
  /// Whether the object's bytes are headroom again.
  bool take_back(const MemoryCharge& charge);
  void to_daemon(std::uint64_t devices, std::uint64_t bytes);
  bool take_withheld(std::uint64_t devices, std::uint64_t bytes);

  const std::size_t devices_;
  const Ledger ledger_;
  session::Headroom headroom_;
  session::Headroom expected_;
  session::Headroom withheld_;
  std::function<void(std::uint64_t, std::uint64_t)> heard_;
  std::uint64_t kept_ = 0;  // of freed bytes, so many are kept
  std::uint64_t released_ = 0;
  bool front_end_reserves_ = false;
  std::vector<std::uint64_t> inherited_;  // by device
  bool keeps_freed_ = false;              // as headroom
  bool withholds_ = false;
  Residencies* residencies_ = nullptr;  // of all_stay()
};

}  // namespace fairgv::vgpu
