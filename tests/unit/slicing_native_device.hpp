// slicing/prelude.cl on a device made of air: the prelude is compiled as C++, over work-item functions that
// answer as the specification says for whatever launch the driver got. So the rewriting is tested at sizes
// that no driver runs, and with work-groups of unequal size, which not every driver has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "slicing/driver_launch.hpp"
#include "slicing/launch.hpp"

namespace fairgv::slicing::native_device {

using uint = unsigned;

struct WorkItem {
  DriverLaunch launch;
  Extent group{0, 0, 0};  // counted from the first of the sub-launch
  Extent local{0, 0, 0};
  bool strict = true;  // dimensions out of range have size 1, as specified; some drivers answer 0
};

inline WorkItem current;

inline uint get_work_dim() {
  return current.launch.dimensions;
}
inline std::size_t get_global_offset(uint d) {
  return d < kMaxDimensions ? current.launch.offset[d] : 0;
}
inline std::size_t get_group_id(uint d) {
  return d < kMaxDimensions ? current.group[d] : 0;
}
inline std::size_t get_local_id(uint d) {
  return d < kMaxDimensions ? current.local[d] : 0;
}
inline std::size_t get_enqueued_local_size(uint d) {
  return d < kMaxDimensions ? current.launch.local[d] : current.strict ? 1 : 0;
}

#define __OPENCL_C_VERSION__ 300
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
using std::size_t;
#include "slicing/prelude.cl"
#pragma GCC diagnostic pop

}  // namespace fairgv::slicing::native_device
