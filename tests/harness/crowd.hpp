// Connections that other users have made, in the test's hands: a child becomes the user, connects, and passes
// its connections on. To their server, the kernel still reports that user.
//
// For root, and for tests with one thread: a lock that another thread holds at the moment of a fork would
// stay locked in the child.
#pragma once

#include <grp.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::harness {

inline std::string hello_of_control() {
  session::Hello hello;
  hello.role = session::Hello::Role::control;
  return to_text(hello);
}

inline bool become(uid_t uid) {
  return ::setgroups(0, nullptr) == 0 && ::setgid(uid) == 0 && ::setuid(uid) == 0;
}

/// Descriptors that `make` has made as this user, so many times or until it makes none.
inline std::vector<UniqueFd> descriptors_of(uid_t uid, std::size_t count,
                                            const std::function<UniqueFd()>& make) {
  std::vector<UniqueFd> made;
  auto ends = Socket::pair();
  if (!ends) return made;
  auto& [ours, theirs] = ends.value();
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::size_t i = 0; (i != 0 || become(uid)) && i < count; ++i) {
      const UniqueFd fd = make();
      if (!fd || !theirs.send("one", {fd.get()})) break;
    }
    ::_exit(0);
  }
  theirs.close();
  for (;;) {
    auto packet = ours.receive();
    if (!packet || packet->fds.size() != 1) break;
    made.push_back(std::move(packet->fds.front()));
  }
  ::waitpid(child, nullptr, 0);
  return made;
}

/// Connections to a daemon. `said`: what the user says on each, nothing if it is empty.
inline std::vector<Socket> connections_of(const std::string& socket, uid_t uid, std::size_t count,
                                          const std::string& said) {
  auto fds = descriptors_of(uid, count, [&] {
    auto connected = Socket::connect(socket);
    // A daemon that has refused has hung up, and its answer is there to be read.
    if (connected && !said.empty()) (void)connected->send(said);
    return connected ? connected->release() : UniqueFd();
  });
  std::vector<Socket> made;
  for (UniqueFd& fd : fds) made.emplace_back(std::move(fd));
  return made;
}

}  // namespace fairgv::harness
