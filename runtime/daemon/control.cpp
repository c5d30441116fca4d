#include "runtime/daemon/control.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "runtime/daemon/report.hpp"

namespace fairgv::daemon {
namespace {

bool is_administrator(const session::PeerCredentials& peer) {
  return peer.uid == 0 || peer.uid == ::geteuid();
}

}  // namespace

Control::Control(Host& host, const SessionTable& sessions, std::string socket)
    : host_(host),
      sessions_(sessions),
      socket_(std::move(socket)),
      started_(std::chrono::steady_clock::now()) {}

std::string Control::answer(const std::string& text, const session::PeerCredentials& peer) {
  const auto request = session::parse_control_request(text);
  if (!request) return session::failure_text(request.error().message);
  switch (request->command) {
    case session::ControlRequest::Command::ps:
      return to_text(make_report(host_, sessions_, socket_, started_));
    case session::ControlRequest::Command::set:
      return set_weight(request.value(), peer);
    case session::ControlRequest::Command::set_policy:
      return set_policy(request.value(), peer);
    case session::ControlRequest::Command::stop:
      break;
  }
  if (!is_administrator(peer)) {
    return session::failure_text("only root and the user that runs the daemon may stop it");
  }
  stop_requested_ = true;
  return session::success_text();
}

std::string Control::set_weight(const session::ControlRequest& request,
                                const session::PeerCredentials& peer) {
  const auto tenant =
      host_.tenants.set_weight(request.tenant, request.weight, peer.uid, is_administrator(peer));
  if (!tenant) return session::failure_text(tenant.error().message);
  host_.dispatch.set_weight(tenant->id, tenant->weight);
  spdlog::info("tenant {}: weight {}, set by user {}", tenant->name, tenant->weight, peer.uid);
  return session::success_text();
}

std::string Control::set_policy(const session::ControlRequest& request,
                                const session::PeerCredentials& peer) {
  if (!is_administrator(peer)) {
    return session::failure_text("only root and the user that runs the daemon may choose a policy");
  }
  if (sched::find_policy(request.policy) == nullptr) {
    return session::failure_text("there is no policy '" + request.policy + "': there are " +
                                 sched::policy_names());
  }
  if (request.device && *request.device >= host_.devices.size()) {
    return session::failure_text("there is no device " + std::to_string(*request.device) +
                                 ": see 'fairgv ps' while a program runs");
  }
  host_.dispatch.set_policy(request.policy, request.device);
  const std::string where = request.device ? "device " + std::to_string(*request.device) : "all devices";
  spdlog::info("{}: policy {}, set by user {}", where, request.policy, peer.uid);
  return session::success_text();
}

}  // namespace fairgv::daemon
