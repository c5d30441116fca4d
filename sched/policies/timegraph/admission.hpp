// Admission control of TimeGraph (section 3): the reserves together may promise a part of the device, by
// default the whole. The policy turns a reserve that does not fit into a Background one, so that the reserves
// that are active keep what they were promised.
//
// The sum of C/T decides, as in the traditional model of resource reservation. It is kept in units of
// 2^-32 and each part is rounded down: three thirds fit.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "sched/attributes.hpp"

namespace fairgv::sched {

class Admission {
 public:
  explicit Admission(Share limit = kWholeDevice) { set_limit(limit); }

  /// For reserves that ask from now on; those that are active stay.
  void set_limit(Share limit) { limit_ = (kWhole * limit.ppm) / Share::kWholePpm; }

  /// Whether the reserve of this name fits beside the others. It holds its part from then on; a part that it
  /// held before is given up first, and kept if the new one does not fit.
  bool admit(std::uint64_t name, const Reservation& reservation);
  void release(std::uint64_t name);

  /// The part of the device that is promised.
  double total() const { return static_cast<double>(total_) / static_cast<double>(kWhole); }

 private:
  static constexpr std::uint64_t kWhole = std::uint64_t{1} << 32;

  std::uint64_t limit_ = kWhole;
  std::uint64_t total_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> parts_;
};

}  // namespace fairgv::sched
