// The tenants that the daemon knows: names, owners, weights, and the rules that decide the weight.
//
// A tenant comes into being with its first session. When its last session ends it stays known, because its
// start tag and its debt must (leaving would be a way out of debt); forget() lets go of those that owe
// nothing.
//
// A weight is the first of: the weight that an administrator has set while the tenant runs (`fairgv set`);
// the weight that the configuration pins; the wish of the tenant's latest program, capped by the
// configuration; the default. So are a guarantee, a ceiling and a class of service, but a wish beyond what
// the configuration allows is refused, since nobody asks for half of a promise. Guarantees of all tenants
// that run, and those that the configuration pins, must fit into `promise_limit` on each device: a session
// whose tenant's guarantee does not is refused, or its tenant becomes a batch tenant. A guarantee counts on
// the devices where its tenant lives (set_homes()): on all that the tenant may use, but if the daemon chooses
// among them, on those where its sessions are. A limit of memory is the limit that an administrator has set,
// or else the smaller of the configuration's limit and the latest program's wish.
//
// TenantReserves is its part for TimeGraph.
//
// Pure logic, not thread-safe: the server's thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/memory_size.hpp"
#include "runtime/base/result.hpp"
#include "runtime/control/pause.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/promise_sums.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/tenants/probation.hpp"
#include "runtime/session/wish/tenant_wish.hpp"
#include "sched/attributes.hpp"

namespace fairgv::daemon {

/// An end of a session that its program did not choose.
enum class Fault {
  crash,     // its worker died
  watchdog,  // it held a device, or was about to begin, for too long
  violation  // its worker or its program broke a protocol
};

/// Of a tenant, in its life.
struct TenantCounts {
  std::uint64_t sessions = 0;  // ever started
  std::uint64_t crashes = 0;
  std::uint64_t watchdog = 0;
  std::uint64_t violations = 0;
};

struct Tenant {
  TenantId id;
  std::string name;
  uid_t uid = 0;                         // of its sessions
  sched::TenantAttributes attributes{};  // in force
  std::uint32_t sessions = 0;
  std::uint32_t host_weight = 100;  // of its programs' control groups
  std::uint32_t ending = 0;         // of them: their programs are gone, their workers not yet
  session::TenantWish asked{};      // by its latest program that asked
  session::TenantWish set{};        // by an administrator; holds as long as it runs
  // The same two of its memory.
  std::optional<MemorySize> asked_memory{};
  std::optional<MemorySize> set_memory{};
  // By the [[match]] rule of its latest program that has one.
  std::string class_name{};
  bool assigned = false;       // by such a rule, to whoever fits, and so to programs of several users
  bool in_background = false;  // its reserve under TimeGraph did not fit
  std::optional<control::Pause> paused{};  // with all its sessions, also those to come
  Probation probation{};
  TenantCounts counts{};
  std::uint64_t homes = 0;  // devices that were chosen for its sessions, a bit each, as the books number them

  bool runs() const { return sessions > ending; }
};

class TenantRegistry {
 public:
  explicit TenantRegistry(TenantRules rules) : rules_(std::move(rules)) {}

  /// The process that wants to join a tenant.
  struct Applicant {
    uid_t uid = 0;  // for a subordinate id, its owner's
    /// Root or the daemon's own user, who may take any name that is not reserved.
    bool administrator = false;
    /// The user after whom the tenant is named, if it is after one (user_tenant.hpp).
    std::optional<uid_t> namesake{};
    /// Its session comes from the daemon before this one, which has let it in.
    bool runs_already = false;
    /// A [[match]] rule gives it this tenant (matching.hpp), and this class if there is one.
    bool assigned = false;
    std::string class_name{};
    /// The subordinate id of `uid` that its process runs as, if it does: a name may be reserved for it alone.
    std::optional<uid_t> subordinate{};
    /// The name is the user's default: that of programs which ask for none.
    bool by_default = false;
  };

  /// One more session for this name. A name that no rule assigns is refused if it is another user's: by the
  /// configuration, as a login, or because that user's sessions are using it now. A name that a rule assigns
  /// is refused if others use it or if it is reserved for another user. Refused as well: a session beyond the
  /// tenant's limit.
  Result<Tenant> join(const std::string& name, const Applicant& who, const session::TenantWish& wish,
                      std::optional<MemorySize> asked_memory = {});
  /// One of its sessions ends; it counts until it leaves. The wishes go with the last session that runs: the
  /// next session starts afresh, even while workers are still ending.
  void retire(TenantId id);
  void count_fault(TenantId id, Fault fault);
  /// One of its sessions was killed for harming others; or, for the other function, has used a device and was
  /// ended by its program.
  void note_kill(TenantId id, Probation::Time now);
  void note_good_conduct(TenantId id);
  /// One session less, which has been retired.
  void leave(TenantId id);

  /// `fairgv set`. Only an administrator may go beyond the configuration's bounds for programs, and only the
  /// tenant's own user or an administrator may change anything at all. The tenant must have a session. All
  /// parts of the wish hold from now on, or none.
  Result<Tenant> set(const std::string& name, const session::TenantWish& wish, uid_t by, bool administrator);

  /// The same for its memory; its own user can lower a limit that an administrator has set, and not raise it
  /// again. `capacities`: the bytes that each device can share out, for comparing sizes.
  Result<Tenant> set_memory(const std::string& name, MemorySize memory, uid_t by, bool administrator,
                            std::span<const std::uint64_t> capacities);

  /// The weight that the host's processors give to the tenant's programs. Null if nothing changed.
  const Tenant* set_host_weight(TenantId id, std::uint32_t weight);

  /// `fairgv kill`, `pause` and `resume` of a tenant: whether `by` may do so; `verb` is that, in words. The
  /// tenant must be known, and need not run to be paused. Its own user may, unless a rule assigns the tenant
  /// to several users' programs.
  Result<Tenant> find_to(const char* verb, const std::string& name, uid_t by, bool administrator) const;
  /// Pauses the tenant that find_to() has found, until it is resumed (none). An administrator's pause
  /// replaces anybody's.
  void set_pause(TenantId id, const std::optional<control::Pause>& pause);

  struct Prospect {
    sched::TenantAttributes attributes;  // of the tenant with it; where it is refused, without it
    std::optional<Error> refusal{};
    TenantId id{};  // of a tenant that is known
  };
  /// Whether join() would let it in now.
  Prospect would_admit(const std::string& name, const Applicant& who, const session::TenantWish& wish) const;
  /// The rule that holds for a tenant, known or not, by its own table and its class.
  TenantRule rule_of(const std::string& name, const std::string& class_name) const {
    return rules_.of(name, class_name);
  }

  struct Promised {
    sched::Share sum;  // all guarantees and the floor of the batch class, on the device that has most of them
    sched::Share limit;
  };
  Promised promised() const;
  /// Guarantees that the configuration gives to tenants which do not run now.
  PromiseSums kept_for_absent() const;
  /// By device, the first one of the same hardware.
  void set_devices(std::vector<std::uint32_t> hardware) { hardware_ = std::move(hardware); }
  /// The devices of the tenant's sessions from now on, a bit each, as the books number them.
  void set_homes(TenantId id, std::uint64_t devices);

  /// The same by name: the attributes of tenants that run, and what the configuration promises to the others
  /// and to the tenants of a class ("[class.gold]").
  std::map<std::string, sched::TenantAttributes> promises() const;

  /// New rules from a configuration that was read again. Weights follow; call TenantReserves::admit() next.
  void configure(TenantRules rules);

  /// A tenant of the previous daemon, with its name, user and wishes; its sessions join anew.
  Tenant restore(const Tenant& known);

  const Tenant* find(TenantId id) const;
  const Tenant* find(const std::string& name) const;
  /// All, also those without sessions, by name.
  std::vector<Tenant> all() const;
  /// The names of all(), and of the tenants that the configuration names.
  std::set<std::string> names() const;
  /// The bytes that a tenant, known or not, may hold of a device with `capacity` bytes to share out, and the
  /// bytes that are kept free for it.
  struct MemoryBounds {
    std::uint64_t limit = 0;
    std::uint64_t reserve = 0;
  };
  MemoryBounds memory_bounds(const std::string& name, std::uint64_t capacity) const;
  /// Forgets a tenant without sessions.
  void forget(TenantId id);

 private:
  friend class TenantReserves;

  Result<void> may_use(const std::string& name, const Applicant& who) const;
  Result<void> may_join(const std::string& name, const Applicant& who) const;
  TenantRule rule_of(const std::string& name) const;
  std::uint32_t configured_weight(const TenantRule& rule, std::optional<std::uint32_t> asked) const;
  Tenant known(const std::string& name) const;
  /// The tenant as it is with one more session. What is known of it is in `tenant`.
  Result<Tenant> with_session(Tenant tenant, const Applicant& who, const session::TenantWish& wish,
                              std::optional<MemorySize> asked_memory) const;
  sched::TenantAttributes attributes_of(const Tenant& tenant) const;
  Result<void> allows(const Tenant& tenant, const session::TenantWish& wish, bool administrator) const;
  Result<void> fits(const Tenant& tenant) const;
  void make_background(Tenant& tenant) const;
  std::uint64_t promised_on(const DevicesWanted& wanted, std::uint64_t homes) const;
  std::uint64_t in_books(std::uint64_t devices) const;
  PromiseSums promised_to_others(const std::string& name) const;
  sched::TimeGraphTask task_of(const Tenant& tenant) const;
  Result<Tenant> with_reserve(Tenant tenant, bool or_refuse) const;
  /// The tenant, if it has a session and `by` may change its settings; `what` is the change, in words.
  Result<Tenant*> find_for_change(const std::string& name, uid_t by, bool administrator, const char* what);
  std::uint64_t configured_memory(const std::string& name, std::uint64_t capacity) const;

  TenantRules rules_;
  std::vector<std::uint32_t> hardware_;
  std::map<std::string, Tenant> tenants_;
  std::set<std::string> in_front_;
  bool reserves_count_ = false;
  std::uint32_t last_id_ = 0;
};

}  // namespace fairgv::daemon
