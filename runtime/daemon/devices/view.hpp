// The devices of the host that a session's worker sees.
//
// The daemon has one table of devices for the whole host. A worker sees those that its user may open, in its
// driver's order, and speaks of them by its own numbers; a view translates. A worker's view does not affect
// the others': the table is only ever extended. Of the devices in a view some may be hidden from the
// session's program, where the daemon has chosen among them: they keep their numbers.
//
// Pure logic.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class DeviceView {
 public:
  DeviceView() = default;
  /// `host`: by the worker's number, the host's.
  explicit DeviceView(std::vector<std::uint32_t> host) : host_(std::move(host)) {}
  /// The first so many of the host's, in its order.
  static DeviceView first(std::size_t count);

  std::size_t size() const { return host_.size(); }
  const std::vector<std::uint32_t>& all() const { return host_; }
  /// `workers`: a number below size().
  std::uint32_t host(std::size_t workers) const { return host_[workers]; }
  /// The worker's number of one of the host's devices, if it sees it.
  std::optional<std::uint32_t> worker(std::uint32_t host) const;

  /// Hides the worker's devices of this set, a bit each, and shows all others.
  void hide(std::uint64_t workers) { hidden_ = workers; }
  std::uint64_t hidden() const { return hidden_; }
  bool hides(std::size_t workers) const { return (hidden_ >> workers & 1U) != 0; }
  /// The host's numbers of the devices that are not hidden.
  std::vector<std::uint32_t> shown() const;

  /// The same with every device as `other` has it.
  DeviceView through(const std::vector<std::uint32_t>& other) const;

  /// Sets of devices, a bit each: the worker's as the host's. A device of the host that appears several times
  /// is in the first set once; the second set has the devices that appear twice or more often, and so on.
  /// None if it is empty.
  std::vector<std::uint64_t> host_sets(std::uint64_t workers) const;
  /// Of a list by the host's numbers, those that the worker sees in its order.
  template <class Value>
  std::vector<Value> pick(const std::vector<Value>& by_host) const {
    std::vector<Value> list;
    for (const std::uint32_t device : host_) {
      list.push_back(device < by_host.size() ? by_host[device] : Value{});
    }
    return list;
  }

 private:
  std::vector<std::uint32_t> host_;
  std::uint64_t hidden_ = 0;  // by the worker's number
};

/// The places in the host's table of the devices that a worker sees. Known devices are found by their
/// identity (devices that nothing tells apart, in order); the others come behind them, where the caller must
/// append them. An Error if the table has no room for them.
struct PlacedDevices {
  DeviceView view;
  std::vector<session::DeviceDescription> added;
};
Result<PlacedDevices> place_devices(const std::vector<session::DeviceDescription>& table,
                                    const std::vector<session::DeviceDescription>& seen);

}  // namespace fairgv::daemon
