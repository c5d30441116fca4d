// A daemon's parts without its doors: the objects that a table of sessions needs, put together as the server
// does it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/daemon/reports/report.hpp"
#include "runtime/daemon/session_table.hpp"

namespace fairgv::daemon {

struct House {
  explicit House(const std::filesystem::path& worker = {}, const std::filesystem::path& vendors = {})
      : installation{worker, vendors} {}

  Sources sources() {
    return {dispatch->looks(), tenancies, devices.table(), table.sessions(), devices.placements(), markets};
  }
  control::Report report() { return make_report(sources(), {}); }

  Config config;
  std::unique_ptr<EventLoop> events = std::move(EventLoop::create()).value();
  std::unique_ptr<DispatchLoop> dispatch = std::move(DispatchLoop::start({})).value();
  Installation installation;
  UserLog log;
  Entrance entrance{config};
  Tenancies tenancies{config, *dispatch};
  DeviceKeeper devices{config, *dispatch, tenancies, log};
  Markets markets{{config, *dispatch, tenancies.registry(), devices.table()}};
  std::vector<std::pair<std::uint64_t, std::string>> answers;  // to peers that asked for a journal, by key
  SessionTable table{
      {config, *events, *dispatch, tenancies, devices, markets, entrance, installation, log,
       [this](std::uint64_t key, const std::string& text) { answers.emplace_back(key, text); }}};
};

}  // namespace fairgv::daemon
