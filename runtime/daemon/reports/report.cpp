#include "runtime/daemon/reports/report.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/daemon/reports/books.hpp"
#include "runtime/daemon/sessions/worker_page.hpp"

namespace fairgv::daemon {
namespace {

using control::Report;

const char* state_name(session::TurnState state) {
  switch (state) {
    case session::TurnState::idle:
      return "idle";
    case session::TurnState::wanting:
      return "wanting";
    case session::TurnState::held:
      return "held";
    case session::TurnState::busy:
    case session::TurnState::busy_asked:
      return "busy";
  }
  return "broken";
}

std::uint64_t in_ns(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

double in_ms(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::optional<Report::Device::Oversold> oversold_report(const Market* market) {
  if (market == nullptr) return std::nullopt;
  const sched::oversell::Controller& controller = market->controller();
  return Report::Device::Oversold{
      .for_sale = market->for_sale().fraction(),
      .load = controller.total_load(),
      .overbooking = controller.overbooking(),
      .overloaded = static_cast<std::uint32_t>(market->report().overloaded.size()),
      .warning = market->report().warning,
      .warnings = market->totals().warnings,
      .changes = market->totals().changes,
      .resting = market->is_resting()};
}

std::optional<Report::Use::Holding> holding_report(const Market* market, TenantId id) {
  const auto load = market == nullptr ? std::nullopt : market->load(id);
  if (!load) return std::nullopt;
  return Report::Use::Holding{.bought = load->initial.fraction(),
                              .cap = market->cap(id).fraction(),
                              .utilisation = load->utilisation,
                              .target = load->target,
                              .level = load->level,
                              .broken_seconds = market->broken_seconds(id)};
}

std::vector<Report::Device> device_reports(const Sources& from) {
  const auto sharing = from.dispatch.devices();
  std::vector<Report::Device> list;
  for (std::uint32_t index = 0; index < from.devices.size(); ++index) {
    Report::Device device{index,
                          from.devices.devices[index].platform,
                          from.devices.devices[index].name,
                          std::nullopt,
                          sharing[index].policy,
                          in_ms(sharing[index].slice)};
    const memquota::Ledger& ledger = from.tenancies.memory().ledger();
    device.memory = ledger.capacity(index);
    device.memory_used = ledger.charged(index);
    device.memory_reserved = ledger.reserved(index);
    device.memory_there = from.tenancies.memory().there(index);
    device.drained = from.devices.is_drained(index);
    if (from.devices.has_failed(index)) device.failed = from.devices.failed.at(index);
    device.oversold = oversold_report(from.markets.of(index));
    const auto& holder = sharing[index].holder;
    if (from.devices.is_elsewhere(index)) device.same_as = from.devices.hardware[index];
    const Session* const holding = holder ? from.sessions.find(*holder) : nullptr;
    if (holding != nullptr) device.holder = holding->tenant_name;
    list.push_back(std::move(device));
  }
  return list;
}

double held_back_s(const Session& session) {
  if (!session.held_back_until) return 0;
  const auto left = *session.held_back_until - std::chrono::steady_clock::now();
  return std::max(0.0, std::chrono::duration<double>(left).count());
}

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> moved_devices(const Session& session) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moved;
  for (const auto& [device, place] : session.moved.moved())
    moved.emplace_back(session.devices.host(device), session.devices.host(place));
  return moved;
}

std::optional<Report::Session::Image> image_of(const Session& session) {
  if (!session.parked) return std::nullopt;
  const ParkedSession& parked = *session.parked;
  return Report::Session::Image{parked.bytes, parked.how.to_file, parked.how.wakes,
                                needs_its_device(session)};
}

std::vector<Report::Session> session_reports(const Sources& from, TenantId tenant) {
  std::vector<Report::Session> list;
  for (const auto& [id, session] : from.sessions.all()) {
    if (session->tenant != tenant || session->stage != Session::Stage::running) continue;
    SessionLook look = from.dispatch.session(id);
    list.push_back({id.value,
                    session->peer.pid,
                    session->program,
                    std::max(session->worker.pid(), 0),
                    state_name(look.state),
                    look.interactive,
                    session->long_commands.all(),
                    session->paused,
                    held_back_s(*session),
                    session->peer.uid,
                    seconds_since(session->started),
                    std::move(look.used_ns),
                    from.tenancies.memory().granted(id),
                    look.compiles,
                    std::move(look.waits_for),
                    session->devices.shown(),
                    session->passed_over,
                    session->worker.is_program(),
                    session->moving,
                    session->parked.has_value(),
                    image_of(*session),
                    lent_to(*session),
                    moved_devices(*session)});
  }
  return list;
}

Report::Use use_report(const DeviceBooks& books) {
  const DeviceUse& use = books.use;
  return {.device_time_ns = in_ns(use.device_time),
          .outside_ns = in_ns(use.outside),
          .entitled_ns = in_ns(books.entitled),
          .entitled_share = books.entitled_share,
          .share = books.share,
          .queue = use.queue,
          .interactive = use.interactive,
          .held_back = use.held_back,
          .waits = use.waits.count(),
          .waited_ns = in_ns(use.waits.sum()),
          .wait_p50_ns = in_ns(use.wait_p50),
          .wait_p99_ns = in_ns(use.wait_p99),
          .commands = use.work.commands,
          .launches = use.work.launches,
          .slices = use.work.slices,
          .bytes = use.work.bytes,
          .samples = use.work.samples,
          .syncs = use.work.syncs,
          .memory_used = books.memory_used,
          .memory_limit = books.memory.limit,
          .memory_byte_s = books.memory_totals.byte_seconds,
          .memory_refusals = books.memory_totals.refusals,
          .units = use.work.units};
}

Report::Tenant tenant_report(const TenantEntry& entry) {
  const Tenant& tenant = entry.tenant;
  Report::Tenant report;
  report.tenant = tenant.name;
  report.weight = tenant.attributes.weight;
  report.uid = tenant.uid;
  WorkCounters work;
  for (const DeviceBooks& books : entry.devices) {
    report.device_time_ns.push_back(in_ns(books.use.device_time));
    report.share.push_back(books.share);
    report.memory_used.push_back(books.memory_used);
    report.memory_limit.push_back(books.memory.limit);
    report.memory_reserve.push_back(books.memory.reserve);
    report.use.push_back(use_report(books));
    work += books.use.work;
  }
  report.ideal_share = entry.entitled_share;
  report.commands = work.commands;
  report.launches = work.launches;
  report.samples = work.samples;
  report.syncs = work.syncs;
  report.checked_ns = work.checked_ns;
  report.by_events_ns = work.by_events_ns;
  report.sessions_started = tenant.counts.sessions;
  report.faults = {tenant.counts.crashes, tenant.counts.watchdog, tenant.counts.violations};
  report.paused = tenant.paused;
  const sched::TenantAttributes& its = tenant.attributes;
  report.min = session::to_text(its.min);
  report.max = session::to_text(its.max);
  report.service = session::to_text(session::ServiceWish{its.service, its.response});
  report.min_share = its.min.share().fraction();
  report.max_share = its.max.fraction();
  report.host_weight = its.host_weight;
  return report;
}

Report::TimeGraphTask task_report(const Tenant& tenant) {
  const sched::TimeGraphTask& task = tenant.attributes.timegraph;
  const sched::Reservation& reserve = tenant.attributes.timegraph_reserve();
  const bool throughput = task.scheduling == sched::TimeGraphTask::Scheduling::high_throughput;
  const char* const enforcement = task.enforcement == sched::Enforcement::apriori ? "AE" : "PE";
  return {.scheduling = throughput ? "HT" : "PRT",
          .enforcement = reserve.empty() ? "none" : enforcement,
          .reserve = session::to_text(reserve),
          .priority = task.automatic ? "*" : std::to_string(task.priority),
          .shared = task.shared_reserve != 0,
          .refused = tenant.in_background,
          .foreground = task.foreground};
}

std::vector<Report::Kill> kill_reports(const Sources& from) {
  std::vector<Report::Kill> list;
  for (const Kill& kill : from.sessions.kills().all()) {
    list.push_back({kill.session.value, kill.tenant, kill.uid, kill.pid, kill.program, kill.reason,
                    seconds_since(kill.at)});
  }
  return list;
}

bool is_worth_showing(const Report::Tenant& tenant) {
  return !tenant.sessions.empty() || tenant.paused ||
         std::any_of(tenant.share.begin(), tenant.share.end(), [](double share) { return share > 0; });
}

}  // namespace

std::vector<control::Report::Session::Lent> lent_to(Session& session) {
  std::vector<control::Report::Session::Lent> list;
  session::Residencies* const pages = session.turns.residencies();
  for (std::size_t i = 0; pages != nullptr && i < session.devices.size(); ++i) {
    // Relaxed: for people.
    const session::DeviceResidency& page = pages->devices[i];
    if (page.is_lent.load(std::memory_order_relaxed) == 0) continue;
    list.push_back({session.devices.host(i), page.resident.load(std::memory_order_relaxed),
                    page.brought_in.load(std::memory_order_relaxed),
                    page.taken_out.load(std::memory_order_relaxed)});
  }
  return list;
}

Report make_report(const Sources& from, Report::Daemon daemon) {
  using Seconds = std::chrono::duration<double>;
  Report report;
  report.daemon = std::move(daemon);
  report.daemon.share_window_s = Seconds(UsageWindow::kBucket * UsageWindow::kBuckets).count();
  report.daemon.wait_window_s = Seconds(2 * Waits::kWindow).count();
  const TenantRegistry::Promised promised = from.tenancies.registry().promised();
  report.daemon.promised_share = promised.sum.fraction();
  report.daemon.promise_limit_share = promised.limit.fraction();
  report.devices = device_reports(from);
  for (const TenantEntry& entry : read_books(from).tenants) {
    Report::Tenant each = tenant_report(entry);
    for (std::uint32_t device = 0; device < each.use.size(); ++device) {
      each.use[device].holding = holding_report(from.markets.of(device), entry.tenant.id);
    }
    each.sessions = session_reports(from, entry.tenant.id);
    if (from.tenancies.reserves_count()) each.timegraph = task_report(entry.tenant);
    if (is_worth_showing(each)) report.tenants.push_back(std::move(each));
  }
  report.kills = kill_reports(from);
  return report;
}

}  // namespace fairgv::daemon
