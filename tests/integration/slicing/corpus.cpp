#include "tests/integration/slicing/corpus.hpp"

#include <ostream>

namespace fairgv::test {
namespace {

// Put in front of every source. A wrong index must not write out of bounds.
constexpr const char* kCommon = R"(
ulong index_of_item(void) {
  ulong index = 0;
  for (uint d = get_work_dim(); d-- > 0;)
    index = index * get_global_size(d) + (get_global_id(d) - get_global_offset(d));
  return index;
}
ulong index_of_group(void) {
  return (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
}
ulong mix(ulong hash, ulong value) { return rotate((hash ^ value) * 0x9E3779B97F4A7C15UL, 29UL); }
void put(global ulong* out, uint slots, ulong index, ulong value) { if (index < slots) out[index] = value; }
)";

constexpr const char* kFunctions = R"(
kernel void functions(global ulong* out, uint slots, global uint* counters) {
  ulong hash = get_work_dim();
  for (uint d = 0; d < 3; ++d) {
    hash = mix(hash, get_global_size(d));
    hash = mix(hash, get_global_id(d));
    hash = mix(hash, get_local_size(d));
    hash = mix(hash, get_local_id(d));
    hash = mix(hash, get_num_groups(d));
    hash = mix(hash, get_group_id(d));
    hash = mix(hash, get_global_offset(d));
  }
  put(out, slots, index_of_item(), hash);
}
)";

// Beyond the third dimension drivers answer differently; the parts of a launch must get the same answers.
constexpr const char* kBeyond = R"(
kernel void beyond(global ulong* out, uint slots, global uint* counters) {
  ulong hash = 0;
  for (uint d = 0; d < 6; ++d) {
    hash = mix(hash, get_global_size(d));
    hash = mix(hash, get_global_id(d));
    hash = mix(hash, get_num_groups(d));
    hash = mix(hash, get_group_id(d));
    hash = mix(hash, get_global_offset(d));
    hash = mix(hash, get_local_size(d));
  }
  hash = mix(hash, get_global_size(3) + 10 * get_num_groups(4) + 100 * get_group_id(5));
  put(out, slots, index_of_item(), hash);
}
)";

constexpr const char* kLinear = R"(
kernel void linear(global ulong* out, uint slots, global uint* counters) {
  ulong hash = mix(get_local_linear_id(), get_global_linear_id());
  for (uint d = 0; d < 3; ++d) hash = mix(hash, get_enqueued_local_size(d));
  put(out, slots, get_global_linear_id(), hash);
}
)";

constexpr const char* kConstantDimensions = R"(
kernel void constant_dimensions(global ulong* out, uint slots, global uint* counters) {
  const size_t x = get_global_id(0) - get_global_offset(0);
  const size_t y = get_global_id(1) - get_global_offset(1);
  const size_t z = get_global_id(2) - get_global_offset(2);
  const size_t index = (z * get_global_size(1) + y) * get_global_size(0) + x;
  float value = (float)index;
  for (int i = 0; i < 4; ++i) value = fma(value, 0.75f, (float)get_group_id(0));
  put(out, slots, index, as_uint(value));
}
)";

// Ids as programs write them, in `int` and for constant dimensions: narrowed, widened, an index of a table.
// The sum is wrong if a group runs twice.
constexpr const char* kIntIds = R"(
kernel void int_ids(global ulong* out, uint slots, global uint* counters) {
  const int x = get_group_id(0), y = get_group_id(1), z = get_group_id(2);
  const int width = get_num_groups(0), height = get_num_groups(1);
  const int item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
  const int items = get_local_size(0) * get_local_size(1) * get_local_size(2);
  const long index = ((z * height + y) * width + x) * items + item;
  const int id0 = get_global_id(0), id1 = get_global_id(1), id2 = get_global_id(2);
  if (index >= 0 && index < slots) out[index] += mix(mix(id0, id1), id2 + (short)id0 + (ushort)id1);
  if (item == 0) atomic_add(&counters[y & 31], counters[32 + (z & 15)] + x + 1);
}
)";

// The tests have at most 16 groups in the second dimension.
constexpr const char* kTable = R"(
constant int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
kernel void table(global ulong* out, uint slots, global uint* counters) {
  const int row = get_group_id(1);
  for (int i = get_local_id(0); i < 7; i += get_local_size(0)) atomic_inc(&counters[i + primes[row]]);
}
)";

constexpr const char* kLocalMemory = R"(
kernel void local_memory(global ulong* out, uint slots, global uint* counters) {
  local ulong tile[64];
  const size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2);
  const size_t me = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
  tile[me] = mix(index_of_item(), index_of_group());
  for (size_t stride = 1; stride < size; stride *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong below = me >= stride ? tile[me - stride] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[me] += below;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  put(out, slots, index_of_item(), tile[size - 1 - me]);
}
)";

constexpr const char* kGroupCopy = R"(
kernel void group_copy(global ulong* out, uint slots, global uint* counters) {
  local ulong results[64];
  const size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2);
  const size_t me = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
  results[me] = mix(get_global_id(0), get_global_id(1));
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong begin = index_of_group() * size;
  if (begin + size <= slots) {
    event_t copied = async_work_group_copy(out + begin, results, size, 0);
    wait_group_events(1, &copied);
  }
}
)";

constexpr const char* kAtomics = R"(
kernel void atomics(global ulong* out, uint slots, global uint* counters) {
  const uint index = (uint)index_of_item();
  atomic_add(&counters[index % 31], index);
  atomic_xor(&counters[31], (uint)mix(index, get_global_id(0)));
  atomic_max(&counters[32], (uint)get_group_id(0));
  atomic_min(&counters[33], index + 7);
  atomic_inc(&counters[34 + get_group_id(1) % 29]);
}
)";

constexpr const char* kHelpers = R"(
size_t where(uint d) { return get_group_id(d) * get_num_groups(d) + get_local_id(d); }
__attribute__((noinline)) ulong all_of(uint dimensions) {
  ulong hash = 1;
  for (uint d = 0; d < dimensions; ++d) hash = mix(hash, where(d));
  return hash;
}
kernel void helpers(global ulong* out, uint slots, global uint* counters) {
  const ulong index = index_of_item();
  if (index % 3 == 1) return;
  put(out, slots, index, all_of(get_work_dim()));
}
)";

constexpr const char* kMacros = R"(
#define GROUP(d) get_group_id(d)
#define ASK(function, d) function(d)
#define NAMED(what) get_##what
#define SIZE get_global_size
#ifndef get_local_id
#define LOCAL(d) get_local_id(d)
#endif
typedef struct { ulong get_local_size; } Record;
kernel void macros(global ulong* out, uint slots, global uint* counters) {
  Record record = {GROUP(0)};
  ulong hash = mix(record.get_local_size, ASK(get_num_groups, 1));
  hash = mix(hash, NAMED(global_id)(0)) + SIZE(0) + LOCAL(0);
  put(out, slots, index_of_item(), mix(hash, __LINE__ + VALUE));
}
)";

// The usual loop over more elements than there are work-items, and one result for each group.
constexpr const char* kStrides = R"(
kernel void strides(global ulong* out, uint slots, global uint* counters) {
  const ulong items = get_global_size(0) * get_global_size(1) * get_global_size(2);
  ulong sum = 0;
  for (ulong i = index_of_item(); i < 4 * items; i += items) sum = mix(sum, i);
  put(out, slots / 2, index_of_item(), sum);
  if (get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0)
    put(out, slots, slots / 2 + index_of_group(), mix(get_num_groups(0), get_num_groups(1)));
}
)";

constexpr const char* kRequiredSize = R"(
kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void required_size(global ulong* out, uint slots, global uint* counters) {
  put(out, slots, index_of_item(), mix(get_group_id(0), get_local_size(0)));
}
)";

constexpr const char* kImages = R"(
constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void images(global ulong* out, uint slots, global uint* counters,
                   read_only image2d_t source, write_only image2d_t target) {
  const int index = (int)index_of_item();
  const int2 at = (int2)(index % get_image_width(source), index / get_image_width(source));
  if (at.y >= get_image_height(source)) return;
  const uint4 value = read_imageui(source, exact, at.yx);
  write_imageui(target, at, value + (uint)get_group_id(0));
}
)";

constexpr const char* kIncluded = R"(
#include "from_folder.h"
kernel void included(global ulong* out, uint slots, global uint* counters) {
  put(out, slots, index_of_item(), mix(from_folder(0), from_folder(1)));
}
)";

constexpr const char* kLinkedKernel = R"(
#include "from_program.h"
ulong in_the_library(uint d);
static ulong own(uint d) { return get_global_id(d); }
kernel void linked(global ulong* out, uint slots, global uint* counters) {
  put(out, slots, index_of_item(), mix(in_the_library(0), mix(own(1), from_program(0))));
}
)";
constexpr const char* kLinkedLibrary = R"(
#include "from_program.h"
static ulong own(uint d) { return get_group_id(d); }
ulong in_the_library(uint d) { return own(d) * get_num_groups(d) + get_global_offset(d) + from_program(d); }
)";

std::string with_common(const char* source) {
  return std::string(kCommon) + source;
}

}  // namespace

const char* const kFolderHeader =
    "ulong from_folder(uint d) { return get_global_id(d) * 3 + get_num_groups(d); }\n";
const char* const kProgramHeader =
    "static ulong from_program(uint d) { return get_global_id(d) ^ get_group_id(d); }\n";

std::vector<Subject> corpus() {
  std::vector<Subject> all;
  for (const char* standard : {"-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"}) {
    all.push_back({"functions", standard, {with_common(kFunctions)}});
    all.push_back({"beyond", standard, {with_common(kBeyond)}});
  }
  for (const char* standard : {"-cl-std=CL2.0", "-cl-std=CL3.0"}) {
    all.push_back({"linear", standard, {with_common(kLinear)}});
  }
  all.push_back({"constant_dimensions", "", {with_common(kConstantDimensions)}});
  all.push_back({"int_ids", "", {with_common(kIntIds)}});
  all.push_back({"table", "", {with_common(kTable)}});
  all.push_back({"local_memory", "", {with_common(kLocalMemory)}});
  all.push_back({"group_copy", "", {with_common(kGroupCopy)}});
  all.push_back({"atomics", "", {with_common(kAtomics)}});
  all.push_back({"helpers", "-cl-opt-disable", {with_common(kHelpers)}});
  all.push_back({"macros", "-D VALUE=17 -Werror", {with_common(kMacros)}});
  all.push_back({"strides", "-cl-fast-relaxed-math", {with_common(kStrides)}});
  all.push_back({"required_size", "", {with_common(kRequiredSize)}});
  all.push_back({.kernel = "images", .sources = {with_common(kImages)}, .images = true});
  all.push_back({.kernel = "included", .sources = {with_common(kIncluded)}, .reads_header = true});
  all.push_back(
      {.kernel = "linked", .sources = {with_common(kLinkedKernel), kLinkedLibrary}, .reads_header = true});
  return all;
}

void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.kernel << ' ' << subject.options;
}

}  // namespace fairgv::test
