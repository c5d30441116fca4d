#include "runtime/daemon/moves/failures.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <variant>

#include "runtime/daemon/moves/session_words.hpp"
#include "runtime/daemon/service/deadlines.hpp"

namespace fairgv::daemon {
namespace {

using TrialClock = std::chrono::steady_clock;

bool is_home(const Session& session, std::uint32_t device) {
  const auto homes = homes_of(session);
  return std::find(homes.begin(), homes.end(), device) != homes.end();
}

}  // namespace

Result<void> Failures::hear(Session& session, const session::DeviceFailed& said) {
  const std::size_t count = session.devices.size();
  if (said.device >= count || !is_home(session, session.devices.host(said.device))) {
    return Error{fmt::format("its worker calls device {} of {} failed, where nothing of its program lies",
                             said.device, count)};
  }
  const std::uint32_t device = session.devices.host(said.device);
  if (needs_.devices.table().has_failed(device)) {
    if (!needs_.drains.is_at_work(device)) use(session, device);
    return {};
  }
  if (begin(session, device,
            fmt::format("the driver of {} says {}", name_of_session(session), said.reason))) {
    trials_.at(device).waiting.push_back(session.id);
  } else {
    use(session, device);
  }
  return {};
}

void Failures::note_crash(const Session& session) {
  const Time now = TrialClock::now();
  for (const std::uint32_t device : homes_of(session)) {
    const Crash before = std::exchange(crashes_[device], {session.tenant, now});
    const bool together =
        before.tenant != TenantId{} && before.tenant != session.tenant && now - before.at < kTogether;
    if (together && !needs_.devices.table().is_drained(device))
      begin(session, device, "workers of two tenants have crashed on it");
  }
}

void Failures::use(Session& session, std::uint32_t device) {
  const auto place = session.devices.worker(device);
  if (session.stage != Session::Stage::running || session.parked || !place) return;
  if (!session.channel.send(to_text(session::UseDevice{*place}))) needs_.unheard(session);
}

void Failures::refuse(bool refuses) {
  refuses_ = refuses;
  while (refuses && !trials_.empty())
    finish(trials_.begin()->first, {Verdict::unknown, "the daemon restarts"});
}

// -- trials

/// Whether a trial of the device is under way now.
bool Failures::begin(const Session& session, std::uint32_t device, const std::string& cause) {
  if (trials_.contains(device)) return true;
  if (!may_begin(session.account, device)) return false;
  auto worker = needs_.starter.start_trial(session.api, needs_.devices.table().devices[device]);
  if (!worker) {
    needs_.log.warn(session.account, "device {} cannot be tried: {}", device, worker.error().message);
    return false;
  }
  const auto [place, added] =
      trials_.emplace(device, Trial{.worker = std::move(worker).value(),
                                    .by = session.account,
                                    .cause = cause,
                                    .give_up = TrialClock::now() + WorkerStarter::kPatience});
  needs_.log.warn(session.account, "device {} is tried: {}", device, cause);
  if (const auto watched = watch(device, place->second); !watched) {
    finish(device, {Verdict::unknown, watched.error().message});
    return false;
  }
  return true;
}

bool Failures::may_begin(const Account& by, std::uint32_t device) {
  const Time now = TrialClock::now();
  std::erase_if(not_before_, [now](const auto& each) { return now >= each.second; });
  if (refuses_ || trials_.size() >= kMostTrials) return false;
  return not_before_.try_emplace({device, by.owner}, now + kBetweenTrials).second;
}

Result<void> Failures::watch(std::uint32_t device, Trial& trial) {
  FAIRGV_CHECK(trial.worker.messages->relay(needs_.events, fmt::format("the trial of device {}", device)));
  auto channel = needs_.events.watch(trial.worker.channel.fd(), [this, device] { on_message(device); });
  if (!channel) return channel.error();
  trial.channel_watch = std::move(channel).value();
  auto process = needs_.events.watch(trial.worker.process.pidfd(), [this, device] { on_end(device); });
  if (!process) return process.error();
  trial.process_watch = std::move(process).value();
  return {};
}

void Failures::on_message(std::uint32_t device) {
  const auto found = trials_.find(device);
  if (found == trials_.end()) return;
  const auto packet = found->second.worker.channel.receive_text();
  if (!packet || packet->kind == Packet::Kind::closed)
    found->second.channel_watch.reset();  // its end follows
  if (!packet || packet->kind != Packet::Kind::message) return;
  const auto message = session::parse_worker_message(packet->text);
  if (!message) return finish(device, {Verdict::unknown, message.error().message});
  const auto* const ended = std::get_if<session::TrialEnded>(&message.value());
  const auto* const failed = std::get_if<session::WorkerFailed>(&message.value());
  if (ended != nullptr) return finish(device, *ended);
  finish(device, {Verdict::unknown, failed != nullptr ? failed->reason : "its worker spoke out of turn"});
}

void Failures::on_end(std::uint32_t device) {
  on_message(device);
  const auto found = trials_.find(device);
  if (found == trials_.end()) return;
  finish(device, {Verdict::unknown, "its worker " + found->second.worker.process.ending()});
}

void Failures::finish(std::uint32_t device, const session::TrialEnded& ended) {
  const auto found = trials_.find(device);
  Trial trial = std::move(found->second);
  trials_.erase(found);
  trial.channel_watch.reset();
  trial.process_watch.reset();
  retired_.add(SessionId{}, std::move(trial.worker.process), std::move(trial.worker.messages), [] {});
  // Somebody may have drained it meanwhile: then its sessions are on their way.
  if (ended.verdict == Verdict::failed) return fail(device, trial, ended.reason);
  const std::string how =
      ended.verdict == Verdict::works ? "it works" : "it could not be tried: " + ended.reason;
  needs_.log.warn(trial.by, "device {} stays in service, though {}: {}", device, trial.cause, how);
  for (const SessionId id : trial.waiting) {
    Session* const session = needs_.sessions.find(id);
    if (session != nullptr && is_home(*session, device)) use(*session, device);
  }
}

/// The sessions that wait leave, or hear from Drains that they stay.
void Failures::fail(std::uint32_t device, const Trial& trial, const std::string& reason) {
  spdlog::error(
      "device {} has failed: {}, and a trial of it ends so: {}: its sessions leave it, and none begins there "
      "until 'fairgv undrain {}'",
      device, trial.cause, reason, device);
  needs_.devices.set_failed(device, reason);
  needs_.drains.evacuate(device);
}

// -- time

std::optional<Failures::Time> Failures::deadline() const {
  std::optional<Time> first = retired_.deadline();
  for (const auto& [device, trial] : trials_) {
    keep_earlier(first, std::optional(trial.give_up));
    keep_earlier(first, trial.worker.messages->deadline());
  }
  return first;
}

void Failures::expire(Time now) {
  retired_.expire(now);
  std::vector<std::uint32_t> late;
  for (auto& [device, trial] : trials_) {
    trial.worker.messages->expire(now);
    if (now >= trial.give_up) late.push_back(device);
  }
  for (const std::uint32_t device : late) {
    finish(device,
           {Verdict::unknown, fmt::format("it did not end within {} s", WorkerStarter::kPatience.count())});
  }
}

}  // namespace fairgv::daemon
