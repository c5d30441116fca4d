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

}  // namespace fairgv::daemon
