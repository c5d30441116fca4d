// The commands that a storm gives with `fairgv`: several at a time, each of which may be refused.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/child.hpp"
#include "tests/moves/storm/log.hpp"

namespace fairgv::integration::storm {

class Orders {
 public:
  /// Commands that are under way at the same time, at most; one more is left out.
  static constexpr std::size_t kMost = 4;

  Orders(Log& log, std::function<std::string()> socket) : log_(log), socket_(std::move(socket)) {}

  /// `fairgv` with these words.
  void give(std::vector<std::string> words);
  /// Takes notice of commands that have ended.
  void look_after();
  /// Waits for the ends of all of them; a command without one is a failure of the test.
  void wait();

  /// How many of these commands did all that they were to do.
  std::uint64_t done(const std::string& command) const;
  /// The outcomes of the commands, a line for each answer of its own.
  void print(std::ostream& out) const;

 private:
  struct Order {
    std::string command;
    std::string words;
    harness::Child child;
    std::vector<std::string> lines;
  };
  bool take_end(Order& order);

  Log& log_;
  const std::function<std::string()> socket_;
  std::vector<Order> under_way_;
  std::map<std::string, std::uint64_t> done_;
  std::map<std::string, std::uint64_t> refusals_;
};

}  // namespace fairgv::integration::storm
