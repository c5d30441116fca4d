#include "runtime/session/ledger_protocol.hpp"

#include <bit>
#include <cstring>

namespace fairgv::session {
namespace {

template <class Message>
std::string as_packet(const Message& message) {
  std::string packet(sizeof(Message), '\0');
  std::memcpy(packet.data(), &message, sizeof(Message));
  return packet;
}

template <class Message>
bool read(std::string_view packet, Message& message) {
  if (packet.size() != sizeof(Message)) return false;
  std::memcpy(&message, packet.data(), sizeof(Message));
  return true;
}

}  // namespace

std::string to_packet(const LedgerRequest& request) {
  return as_packet(request);
}

std::string to_packet(const LedgerAnswer& answer) {
  return as_packet(answer);
}

Result<LedgerRequest> parse_ledger_request(std::string_view packet, std::size_t devices) {
  LedgerRequest request;
  if (!read(packet, request)) {
    return Error{"its worker sent " + std::to_string(packet.size()) +
                 " bytes about memory, which mean nothing"};
  }
  if (request.devices == 0 || static_cast<std::size_t>(std::bit_width(request.devices)) > devices) {
    return Error{"its worker asked about the memory of devices that there are not"};
  }
  switch (request.kind) {
    case LedgerRequest::Kind::charge:
      if (request.bytes <= request.more) return request;
      break;
    case LedgerRequest::Kind::give_back:
      if (request.bytes != 0) return request;
      break;
    case LedgerRequest::Kind::look:
      if (std::has_single_bit(request.devices)) return request;
      break;
  }
  return Error{"its worker asked for memory in a way that means nothing"};
}

Result<LedgerAnswer> parse_ledger_answer(std::string_view packet) {
  LedgerAnswer answer;
  if (!read(packet, answer)) return Error{"the daemon answered about memory in a way that means nothing"};
  return answer;
}

}  // namespace fairgv::session
