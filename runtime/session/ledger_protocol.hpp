// The messages of a worker and the daemon about device memory, on a socket of their own that the worker
// inherits.
//
//   worker -> daemon   charge      may this session have `bytes` on each of these devices, or `more` of them?
//   daemon -> worker   answer      so many were granted: `more`, else `bytes`, else none; why not
//   worker -> daemon   give back   `bytes` on each of these devices are free again; no answer
//   worker -> daemon   look        how much would a charge on this device be granted now?
//   daemon -> worker   answer      so much
//
// Packets are these structs as they are: both ends are programs of one build. The daemon believes nothing:
// the parser takes bytes from anybody.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace fairgv::session {

struct LedgerRequest {
  enum class Kind : std::uint64_t { charge = 1, give_back = 2, look = 3 };
  Kind kind = Kind::charge;
  std::uint64_t devices = 0;  // bit d is device d of the worker's topology; one at least, for look one
  std::uint64_t bytes = 0;    // charge: what is needed; give_back: at least 1
  std::uint64_t more = 0;     // charge: what is asked for first, not less than `bytes`
};

struct LedgerAnswer {
  enum class Refusal : std::uint64_t { none = 0, limit = 1, device_full = 2 };
  std::uint64_t bytes = 0;  // granted, or for look: left
  Refusal refusal = Refusal::none;
};

std::string to_packet(const LedgerRequest& request);
std::string to_packet(const LedgerAnswer& answer);

/// An Error for anything that no worker with `devices` devices sends.
Result<LedgerRequest> parse_ledger_request(std::string_view packet, std::size_t devices);
Result<LedgerAnswer> parse_ledger_answer(std::string_view packet);

}  // namespace fairgv::session
