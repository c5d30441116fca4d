// Chooses the devices that sessions may use, where the configuration has anything but `devices = "all"`
// (Pegasus, section 3.2: PickAccelerator; sched/choice/device_choice.hpp has the rule, docs/SCHEDULING.md,
// Device choice, its terms). A session of a tenant with "best" gets of each platform the device where its
// share is largest, memory and guarantees allowing; with a list, the devices of the list. All others are
// hidden from its program (DeviceView), and the worker is told so before the program hears of the session.
//
// Devices that are the same hardware count as the first of them. Every session that runs counts on all
// devices that it may use, and its tenant's use there is looked at once a second. A session stays where it
// is until it is moved; a daemon after this one has its devices from the hand-over.
//
// While nothing is to be chosen, nothing is kept and nothing runs. Used by the server's thread only. The
// constructor's arguments outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/table.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"
#include "sched/choice/device_choice.hpp"

namespace fairgv::daemon {

class Placements {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kLook{1};

  Placements(const Config& config, DispatchLoop& dispatch, Tenancies& tenancies, const DeviceTable& table)
      : config_(config), dispatch_(dispatch), tenancies_(tenancies), table_(table) {}

  // -- the life of sessions

  /// Hides the devices that the session may not use. Its worker is ready, and its view is known. `nameable`:
  /// the worker's devices that its program can name. An Error says why no device can take it.
  Result<void> place(Session& session, std::uint64_t nameable);
  /// The session goes on where an earlier daemon has placed it.
  void adopt(const Session& session);
  void leave(const Session& session);
  /// The session has moved to other devices.
  void move(const Session& session);

  // -- changes

  /// The tenant's attributes may be others now.
  void attributes_changed(const Tenant& tenant);
  /// The configuration was read again. Sessions stay where they are.
  void configure(const Sessions& sessions);
  /// The table of devices has begun anew: no session runs.
  void begin_anew();

  /// The time at which expire() is to be called.
  std::optional<Time> deadline() const;
  /// Looks at what the tenants use.
  void expire(Time now);

  // -- looking

  /// The value of the device for one more session of the tenant, beside other devices; none: it cannot take
  /// it. 0 where no devices are chosen.
  std::optional<std::uint64_t> worth(const Tenant& tenant, std::uint32_t device);

  struct Prospect {
    /// Of each platform the device that would be chosen, and why not the others. Empty where nothing is
    /// chosen or no device is known.
    std::vector<std::string> lines{};
    std::optional<Error> refusal{};  // no device can take it
  };
  /// The devices that one more program of the tenant could use, in words.
  Prospect prospect(const std::string& tenant, const DevicesWanted& wanted,
                    const sched::TenantProfile& profile);
  /// How often a device could not take a session, by device.
  struct Refusals {
    std::uint64_t memory = 0, guarantee = 0;
  };
  const std::vector<Refusals>& refusals() const { return refusals_; }

 private:
  struct Placed {
    TenantId tenant;
    std::uint64_t homes;  // hardware, a bit each
  };
  /// The use of a device when it was looked at last.
  struct Seen {
    Time at{};
    std::chrono::nanoseconds used{0};
  };
  /// A tenant with sessions.
  struct Known {
    std::string name;
    sched::TenantAttributes attributes{};
    std::map<std::uint32_t, Seen> seen{};  // by device
  };
  struct Pick {
    std::optional<std::uint32_t> device{};
    sched::ExpectedShare expected{};
    std::vector<std::string> passed_over{};  // a line for each other device
    std::vector<sched::DeviceRefusal> refused{};
  };

  std::uint64_t drained_in(const DeviceView& view) const;
  bool on() const { return config_.tenants.choose_devices(); }
  sched::DeviceChoice& choice();
  sched::DeviceProfile profile_of(std::uint32_t device) const;
  sched::TenantProfile profile_of(const Tenant& tenant) const;
  Result<std::uint64_t> choose(const Tenant& tenant, const DevicesWanted& wanted, std::uint64_t nameable,
                               Session& session);
  Pick pick(const std::vector<std::uint32_t>& candidates, TenantId id, const std::string& name,
            sched::TenantProfile profile);
  void note(const Session& session);
  void place_again(const Placed& placed);
  void tell_homes(TenantId id);

  const Config& config_;
  DispatchLoop& dispatch_;
  Tenancies& tenancies_;
  const DeviceTable& table_;
  std::optional<sched::DeviceChoice> choice_{};  // of the devices of the table; made when it is needed
  std::map<SessionId, Placed> placed_;
  std::unordered_map<TenantId, Known> known_;
  std::vector<Refusals> refusals_;  // by device
  Time next_look_{};
};

}  // namespace fairgv::daemon
