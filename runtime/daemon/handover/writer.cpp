// Writes the text that is left to the daemon after this one.
#include <algorithm>

#include "runtime/base/json_fields.hpp"
#include "runtime/control/pause_json.hpp"
#include "runtime/daemon/handover/handover.hpp"
#include "runtime/session/long_command_json.hpp"

namespace fairgv::daemon {
namespace {

using nlohmann::json;

std::uint64_t number_of(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

json to_json(const WorkCounters& work) {
  json object = json::object();
  for (const WorkCounter& counter : kWorkCounters) object[counter.name] = work.*counter.value;
  return object;
}

json to_json(const sched::TenantBudget& budget) {
  const auto moment = [](sched::Time time) { return number_of(time.time_since_epoch()); };
  json object = json::object();
  if (budget.ahead) object["ahead"] = budget.ahead->count();
  if (budget.guaranteed_until) object["guaranteed_until"] = moment(*budget.guaranteed_until);
  if (budget.paced_until) object["paced_until"] = moment(*budget.paced_until);
  if (budget.reserve) {
    object["reserve_left"] = budget.reserve->left.count();
    object["replenished"] = moment(budget.reserve->replenished);
  }
  json last_second = json::array();
  for (const sched::UsedInterval& each : budget.last_second) {
    last_second.push_back({moment(each.from), moment(each.to), number_of(each.used)});
  }
  object["last_second"] = std::move(last_second);
  return object;
}

json promises_of(session::TenantWish wish) {
  wish.weight.reset();
  json object = json::object();
  session::add_to(object, wish);
  return object;
}

json to_json(const TenantBooks& books) {
  json object = to_json(books.ended);
  object["device_time"] = number_of(books.device_time);
  object["outside"] = number_of(books.outside);
  object["waited"] = number_of(books.waits.sum());
  object["wait_buckets"] = json::array();
  object["wait_counts"] = json::array();
  for (const auto& [bucket, count] : books.waits.filled()) {
    object["wait_buckets"].push_back(bucket);
    object["wait_counts"].push_back(count);
  }
  object["budget"] = to_json(books.budget);
  return object;
}

json to_json(const HandedTenant& tenant) {
  json object{{"name", tenant.name}, {"uid", tenant.uid}, {"books", json::array()}};
  // An older daemon reads the weights alone.
  if (tenant.asked.weight) object["asked"] = *tenant.asked.weight;
  if (tenant.set.weight) object["set"] = *tenant.set.weight;
  object["asked_promises"] = promises_of(tenant.asked);
  object["set_promises"] = promises_of(tenant.set);
  if (tenant.asked_memory) object["asked_memory"] = to_text(*tenant.asked_memory);
  if (tenant.set_memory) object["set_memory"] = to_text(*tenant.set_memory);
  if (!tenant.class_name.empty()) object["class"] = tenant.class_name;
  if (tenant.assigned) object["assigned"] = true;
  if (tenant.in_background) object["in_background"] = true;
  if (tenant.paused) object["paused"] = control::to_json(tenant.paused);
  if (const std::uint32_t strikes = tenant.probation.strikes(tenant.probation.last()); strikes > 0) {
    object["strikes"] = strikes;
    object["last_kill"] = number_of(tenant.probation.last().time_since_epoch());
  }
  for (const TenantBooks& books : tenant.books) object["books"].push_back(to_json(books));
  object["counts"] = {{"sessions", tenant.counts.sessions},
                      {"crashes", tenant.counts.crashes},
                      {"watchdog", tenant.counts.watchdog},
                      {"violations", tenant.counts.violations}};
  // The first is for older daemons, for which it was the same on all devices.
  object["entitled"] = tenant.entitled.empty()
                           ? 0
                           : number_of(*std::max_element(tenant.entitled.begin(), tenant.entitled.end()));
  object["entitled_by_device"] = json::array();
  for (const auto& entitled : tenant.entitled) object["entitled_by_device"].push_back(number_of(entitled));
  object["memory"] = json::array();
  for (const MemoryTotals& memory : tenant.memory) {
    object["memory"].push_back({{"byte_seconds", memory.byte_seconds}, {"refusals", memory.refusals}});
  }
  for (const Holding& each : tenant.holdings) {
    object["holdings"].push_back(
        {{"device", each.device}, {"bought", each.bought.ppm}, {"cap", each.cap.ppm}});
  }
  object["sampled"] = json::array();
  for (const auto& amounts : tenant.sampled) object["sampled"].push_back(control::to_json(amounts));
  return object;
}

json to_json(std::uint32_t device, const TurnBooks& turn) {
  json object{{"device", device},
              {"granted", number_of(turn.granted.time_since_epoch())},
              {"charged", number_of(turn.charged)},
              {"before", number_of(turn.before)}};
  if (turn.contested) object["contested"] = number_of(turn.contested->time_since_epoch());
  if (turn.interrupted) object["interrupted"] = true;
  if (turn.stopped) object["stopped"] = number_of(turn.stopped->time_since_epoch());
  return object;
}

json to_json(const Kill& kill) {
  return {{"session", kill.session.value},
          {"tenant", kill.tenant},
          {"uid", kill.uid},
          {"pid", kill.pid},
          {"program", kill.program},
          {"reason", kill.reason},
          {"at", number_of(kill.at.time_since_epoch())}};
}

json to_json(const HandedPark& parked) {
  json object{{"image", parked.image},
              {"bytes", parked.bytes},
              {"holdings", parked.holdings},
              {"by", parked.by.by},
              {"administrator", parked.by.administrator}};
  if (parked.drained) object["drained"] = *parked.drained;
  if (parked.to_file) object["to_file"] = true;
  if (parked.wakes) object["wakes"] = true;
  return object;
}

json to_json(const HandedSession& session) {
  json object{{"id", session.id},
              {"tenant", session.tenant},
              {"pid", session.peer.pid},
              {"uid", session.peer.uid},
              {"gid", session.peer.gid},
              {"program", session.program},
              {"features", session.features},
              {"driver_messages", true},
              {"slicing", session.slicing},
              {"long_commands", json::array()},
              {"client", session.client},
              {"knock", session.knock},
              {"turns", session.turns},
              {"segment", session.segment},
              {"used", session.books.used_ns},
              {"work", json::array()},
              {"turns_in_progress", json::array()},
              {"devices", session.devices},
              {"memory", session.memory},
              {"holdings", session.holdings}};
  if (session.parked) {
    object["parked"] = to_json(*session.parked);
  } else {
    object["worker"] = session.worker.pid;
    object["channel"] = session.channel;
    object["ledger"] = session.ledger;
  }
  if (!session.worker.sweeps) object["sweeps"] = false;
  if (session.worker.group >= 0) {
    object["group"] = session.worker.group;
    object["group_path"] = session.worker.group_path;
  }
  if (session.worker.program >= 0) object["direct"] = session.worker.program;
  if (session.messages >= 0) object["messages"] = session.messages;
  if (session.api != session::Api::opencl) object["api"] = to_text(session.api);
  if (session.hidden != 0) object["hidden"] = session.hidden;
  if (session.output_end >= 0) object["output_end"] = session.output_end;
  if (session.moved.visited() != 0) object["visited"] = session.moved.visited();
  if (session.moved.forced() != 0) object["forced"] = session.moved.forced();
  for (const auto& [device, place] : session.moved.moved())
    object["moved"].push_back({{"device", device}, {"place", place}});
  if (session.owes_answer) object["owes_answer"] = true;
  for (const Evacuation& each : session.evacuated)
    object["evacuated"].push_back({{"device", each.device}, {"home", each.home}, {"place", each.place}});
  if (!session.passed_over.empty()) object["passed_over"] = session.passed_over;
  if (session.paused) object["paused"] = control::to_json(session.paused);
  if (session.held_back_until)
    object["held_back_until"] = number_of(session.held_back_until->time_since_epoch());
  if (session.started) object["started"] = number_of(session.started->time_since_epoch());
  for (const WorkCounters& work : session.books.work) object["work"].push_back(to_json(work));
  for (std::uint32_t device = 0; device < session.books.turns.size(); ++device) {
    const auto& turn = session.books.turns[device];
    if (turn) object["turns_in_progress"].push_back(to_json(device, *turn));
  }
  for (const auto& command : session.long_commands) {
    object["long_commands"].push_back(session::to_json(command));
  }
  return object;
}

}  // namespace

std::string to_text(const Handover& handover) {
  json object{{"handover", kHandoverVersion},  {"listener", handover.listener},
              {"lock", handover.lock},         {"last_session", handover.last_session},
              {"restarts", handover.restarts}, {"served_s", handover.served_s},
              {"devices", json::array()},      {"tenants", json::array()},
              {"sessions", json::array()},     {"kills", json::array()}};
  if (handover.listener_is_borrowed) object["listener_is_borrowed"] = true;
  for (std::size_t i = 0; i < handover.devices.size(); ++i) {
    const auto& device = handover.devices[i];
    object["devices"].push_back({{"platform", device.platform},
                                 {"name", device.name},
                                 {"type", device.type},
                                 {"memory", device.memory},
                                 {"id", device.id},
                                 {"speed", device.speed},
                                 {"same_as", handover.hardware[i]}});
  }
  for (const HandedTenant& tenant : handover.tenants) object["tenants"].push_back(to_json(tenant));
  for (const HandedSession& session : handover.sessions) object["sessions"].push_back(to_json(session));
  if (!handover.drained.empty()) object["drained"] = handover.drained;
  for (const auto& [device, reason] : handover.failed)
    object["failed"].push_back({{"device", device}, {"reason", reason}});
  for (const Kill& kill : handover.kills) object["kills"].push_back(to_json(kill));
  return json_text(object);
}

}  // namespace fairgv::daemon
