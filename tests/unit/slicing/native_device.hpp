// slicing/prelude.cl on an imagined device: the prelude is compiled as C++, over work-item functions that
// answer as the specification says for any launch that the driver got. So the rewriting is tested at sizes
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
  Extent group{0, 0, 0};  // counted from the first group of the sub-launch
  Extent local{0, 0, 0};
  bool strict = true;  // dimensions out of range have size 1, as specified; some drivers answer 0
};

inline WorkItem current;

// The functions' answers for dimensions that no launch has: numbers that some drivers might give, so that the
// test shows whether work-items of a sub-launch get the same answers as those of a whole launch.
constexpr std::uint64_t beyond(std::uint64_t function, uint d) {
  return 100 * function + d;
}

inline uint get_work_dim() {
  return current.launch.dimensions;
}
inline std::size_t get_global_offset(uint d) {
  return d < kMaxDimensions ? current.launch.offset[d] : beyond(1, d);
}
inline std::size_t get_group_id(uint d) {
  return d < kMaxDimensions ? current.group[d] : beyond(2, d);
}
// The prelude calls these functions only for dimensions beyond the third.
inline std::size_t get_num_groups(uint d) {
  return beyond(3, d);
}
inline std::size_t get_global_size(uint d) {
  return beyond(4, d);
}
inline std::size_t get_global_id(uint d) {
  return beyond(5, d);
}
inline std::size_t get_local_id(uint d) {
  return d < kMaxDimensions ? current.local[d] : 0;
}
inline std::size_t get_enqueued_local_size(uint d) {
  return d < kMaxDimensions ? current.launch.local[d] : current.strict ? 1 : 0;
}

// The values that a work-item sees of dimension d, through the prelude.
struct View {
  std::uint64_t work_dim, global_size, global_id, num_groups, group_id, global_offset, global_linear_id;
};

#define __OPENCL_C_VERSION__ 300
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
using std::size_t;
namespace launched_in_1 {
#define __FAIRGV_DIMENSIONS 1
#include "tests/unit/slicing/prelude_view.inc"
}  // namespace launched_in_1
namespace launched_in_2 {
#define __FAIRGV_DIMENSIONS 2
#include "tests/unit/slicing/prelude_view.inc"
}  // namespace launched_in_2
namespace launched_in_3 {
#define __FAIRGV_DIMENSIONS 3
#include "tests/unit/slicing/prelude_view.inc"
}  // namespace launched_in_3
#pragma GCC diagnostic pop

// The view of the current work-item, by the program for whole launches of so many dimensions.
inline View view(std::uint32_t dimensions, std::uint32_t d) {
  return dimensions == 1   ? launched_in_1::view(d)
         : dimensions == 2 ? launched_in_2::view(d)
                           : launched_in_3::view(d);
}

}  // namespace fairgv::slicing::native_device
