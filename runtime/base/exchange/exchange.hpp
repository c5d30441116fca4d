// Processes of one user hand each other descriptors and a few bytes, by tickets that nobody can guess.
//
// A process that offers something listens on a socket in a folder that is its user's alone; the socket's name
// and a key are the ticket, which travels by whatever way the two processes have. The other process shows the
// key at the socket and gets the offer. It keeps that connection for as long as it holds what it got, so that
// the first one knows how many hold it: a process that dies lets go. The kernel says to both who the other
// is: another user gets nothing, even with the right ticket.
//
// A socket that a killed process has left is removed by the next one that opens the folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"

namespace fairgv {

/// The name of an offer. Any bytes may come from a program: they name something or nothing.
struct Ticket {
  std::array<std::uint8_t, 16> place{};  // of the process' socket
  std::array<std::uint8_t, 16> key{};
  bool operator==(const Ticket&) const = default;
};

/// An offer that a ticket has got.
struct Taken {
  std::string text;
  UniqueFd file;  // may be none
  Socket hold;    // the giver knows by its end that this process has let go
};

/// Any thread may call.
class Exchange {
 public:
  /// Where this user's processes meet: below XDG_CACHE_HOME, else ~/.cache, which for workers is their cache.
  /// Empty: the environment names neither.
  static std::filesystem::path folder_of_environment();

  /// Listens in `folder`, which is made if need be. `let_go` is called on a thread of its own when somebody
  /// has let go of an offer.
  static Result<std::unique_ptr<Exchange>> open(const std::filesystem::path& folder,
                                                std::function<void()> let_go = {});
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// A process that shows the ticket gets the text and a copy of the descriptor, which may be none. An Error:
  /// the system has no random numbers.
  Result<Ticket> offer(std::string text, UniqueFd file);
  /// Nobody gets it any more.
  void withdraw(const Ticket& ticket);
  /// How many connections hold the offer, also one that was withdrawn.
  std::size_t holders(const Ticket& ticket) const;
  bool is_own(const Ticket& ticket) const { return ticket.place == place_; }

  /// The process ends: nobody finds it any more.
  void close();

  /// Asks the process that has made the ticket; waits a few seconds for it at most. An Error: it is gone, or
  /// has no such offer, or is another user's.
  static Result<Taken> take(const std::filesystem::path& folder, const Ticket& ticket);

 private:
  struct Offer {
    Ticket ticket;
    std::string text;
    UniqueFd file;
    std::size_t holders = 0;
    bool is_withdrawn = false;
  };
  /// A process that has connected. `offer` is null until it has shown a key.
  struct Visitor {
    Socket socket;
    std::shared_ptr<Offer> offer;
  };

  Exchange(UniqueFd folder, Listener listener, UniqueFd wake, std::array<std::uint8_t, 16> place,
           std::function<void()> let_go);
  void serve();
  void admit();
  /// False: the visitor has left, or is sent away.
  bool hear(Visitor& visitor);
  std::shared_ptr<Offer> find(const Ticket& ticket) const;

  const UniqueFd folder_;
  const Listener listener_;
  const UniqueFd wake_;  // an eventfd: the thread is to end
  const std::array<std::uint8_t, 16> place_;
  const std::function<void()> let_go_;
  std::vector<Visitor> visitors_;  // the thread's

  mutable std::mutex mutex_;  // guards offers_, and what changes of them
  std::vector<std::shared_ptr<Offer>> offers_;
  std::thread thread_;
};

}  // namespace fairgv
