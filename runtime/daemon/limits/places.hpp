// Places that everybody shares, sessions and connections: how many one user may take, and which of them are
// kept for administrators, so that users can never keep out an administrator who would stop them.
//
// Pure logic.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/limits/account.hpp"

namespace fairgv::daemon {

/// The part of the places that only administrators can take, unless configured.
constexpr std::size_t kept_for_administrators(std::size_t places) {
  constexpr std::size_t kOneOf = 16;
  return places < 2 ? 0 : (places + kOneOf - 1) / kOneOf;
}

/// Sessions that there are when one more is asked for.
struct SessionCount {
  std::size_t all = 0;
  std::size_t of_owner = 0;
};

/// An Error if there is no place for one more session of this account. `uid`: the user as which the process
/// runs. `room`: sessions that the daemon has descriptors for.
Result<void> may_begin(const SessionCount& there, const Account& account, uid_t uid, const Config& config,
                       std::size_t room);

/// A connection that has a place.
struct Seat {
  std::uint64_t key = 0;
  Account account;
  std::chrono::steady_clock::time_point heard;  // when it last said or was told something
  bool busy = false;                            // it waits for an answer: it keeps its place
};

/// The connection that gives its place to a newcomer when all are taken: of the user with the most places,
/// the connection that has been silent for longest. None if the newcomer would then have as many as that
/// user.
std::optional<std::uint64_t> seat_to_clear(const std::vector<Seat>& seats, const Account& newcomer);

}  // namespace fairgv::daemon
