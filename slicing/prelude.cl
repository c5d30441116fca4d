/* Put in front of a program that runs in sub-launches, so that its work-items see the whole launch (OpenCL C 3.0,
 * section 6.15.1). A sub-launch has three dimensions and carries what the work-items must know in its global offset,
 * whose words every work-item can read for nothing. slicing/driver_launch.cpp writes them. Which fields they have depends
 * on __FAIRGV_DIMENSIONS, the dimensions of the whole launch; from the highest bit to the lowest:
 *
 *   dimensions   word 0                          word 1                          word 2
 *   1            offset 64                       groups 64                       missing 16, first 48
 *   2            groups 28, missing 12,          groups 28, missing 12,          first of dimension 1: 32,
 *                offset 24                       offset 24                       first of dimension 0: 32
 *   3            first 18, groups 18,            first 18, groups 18,            first 18, groups 18,
 *                missing 10, offset 18           missing 10, offset 18           missing 10, offset 18
 *
 * For each dimension of the whole launch: `offset`, the application's own; `groups`, the number of work-groups;
 * `missing`, by how many work-items the last group is smaller than the others; and `first`, the group with which the
 * sub-launch begins.
 *
 * Work-group sizes, local ids and sub-groups are those of the whole launch already. Nothing here depends on the
 * work-item but the native local id, so that ids stay a uniform base plus the local id, which compilers vectorise. For
 * the same reason the number of dimensions is a constant: choosing among the three layouts in every work-group costs
 * time, and branches cost vectorisation.
 */
#ifndef __FAIRGV_SLICING
#define __FAIRGV_SLICING

/* Macros of these names from the command line would be lost, or would reach into this text. */
#if defined(get_work_dim) || defined(get_global_size) || defined(get_global_id) || defined(get_num_groups) || \
    defined(get_group_id) || defined(get_global_offset) || defined(get_global_linear_id)
#error "a macro has the name of a work-item function"
#endif

#if __FAIRGV_DIMENSIONS < 1 || __FAIRGV_DIMENSIONS > 3
#error "the number of dimensions is missing"
#endif

#if defined(__OPENCL_CPP_VERSION__)
#define __FAIRGV_OPENCL_C 200
#elif defined(__OPENCL_C_VERSION__)
#define __FAIRGV_OPENCL_C __OPENCL_C_VERSION__
#else
#define __FAIRGV_OPENCL_C 100
#endif

/* Before 1.2 there is no `static`. */
#if __FAIRGV_OPENCL_C < 120 && defined(__clang__)
#define __FAIRGV_FUNCTION inline __attribute__((always_inline, unused, internal_linkage))
#else
#define __FAIRGV_FUNCTION static inline __attribute__((always_inline, unused))
#endif

/* The size of all groups but the last of a dimension. */
#if __FAIRGV_OPENCL_C >= 200
#define __FAIRGV_GROUP_SIZE get_enqueued_local_size
#else
#define __FAIRGV_GROUP_SIZE get_local_size
#endif

__FAIRGV_FUNCTION size_t __fairgv_bits(size_t word, uint lowest, uint count) {
  return (word >> lowest) & ((1ul << count) - 1);
}

/* The offset alone, since a sub-launch has three dimensions; but compilers do not know that. PoCL tells its own that the
 * offsets of small grids are below 2^16, from which any later arithmetic may come out wrong (a sum becomes an `or`, a
 * field zero). Of what was shifted by an unknown number of bits no compiler concludes anything. */
__FAIRGV_FUNCTION size_t __fairgv_word(uint d) {
  return get_global_offset(d) << ((get_work_dim() - 3) & 63);
}

/* The fields of a dimension that the launch has. */
#if __FAIRGV_DIMENSIONS == 1
#define __FAIRGV_FIRST(d) __fairgv_bits(__fairgv_word(2), 0, 48)
#define __FAIRGV_GROUPS(d) __fairgv_word(1)
#define __FAIRGV_MISSING(d) __fairgv_bits(__fairgv_word(2), 48, 16)
#define __FAIRGV_OFFSET(d) __fairgv_word(0)
#elif __FAIRGV_DIMENSIONS == 2
#define __FAIRGV_FIRST(d) __fairgv_bits(__fairgv_word(2), (d) == 0 ? 0 : 32, 32)
#define __FAIRGV_GROUPS(d) __fairgv_bits(__fairgv_word(d), 36, 28)
#define __FAIRGV_MISSING(d) __fairgv_bits(__fairgv_word(d), 24, 12)
#define __FAIRGV_OFFSET(d) __fairgv_bits(__fairgv_word(d), 0, 24)
#else
#define __FAIRGV_FIRST(d) __fairgv_bits(__fairgv_word(d), 46, 18)
#define __FAIRGV_GROUPS(d) __fairgv_bits(__fairgv_word(d), 28, 18)
#define __FAIRGV_MISSING(d) __fairgv_bits(__fairgv_word(d), 18, 10)
#define __FAIRGV_OFFSET(d) __fairgv_bits(__fairgv_word(d), 0, 18)
#endif

/* Dimensions that the launch does not have: below the third OpenCL's own answers, because there a sub-launch differs from
 * the whole; beyond it the driver's, whatever they are. Work-items must not notice that their launch is cut. */
#define __FAIRGV_OF(d, used, missing, native) ((d) < __FAIRGV_DIMENSIONS ? (used) : (d) < 3 ? (missing) : (native))

__FAIRGV_FUNCTION uint __fairgv_work_dim(void) {
  return __FAIRGV_DIMENSIONS;
}

__FAIRGV_FUNCTION size_t __fairgv_num_groups(uint d) {
  return __FAIRGV_OF(d, __FAIRGV_GROUPS(d), 1, get_num_groups(d));
}

__FAIRGV_FUNCTION size_t __fairgv_group_id(uint d) {
  return __FAIRGV_OF(d, __FAIRGV_FIRST(d) + get_group_id(d), 0, get_group_id(d));
}

__FAIRGV_FUNCTION size_t __fairgv_global_offset(uint d) {
  return __FAIRGV_OF(d, __FAIRGV_OFFSET(d), 0, get_global_offset(d));
}

__FAIRGV_FUNCTION size_t __fairgv_global_size(uint d) {
  return __FAIRGV_OF(d, __FAIRGV_GROUPS(d) * __FAIRGV_GROUP_SIZE(d) - __FAIRGV_MISSING(d), 1, get_global_size(d));
}

/* As if the launch had no offset. */
__FAIRGV_FUNCTION size_t __fairgv_index(uint d) {
  return __fairgv_group_id(d) * __FAIRGV_GROUP_SIZE(d) + get_local_id(d);
}

__FAIRGV_FUNCTION size_t __fairgv_global_id(uint d) {
  const size_t id = __fairgv_group_id(d) * __FAIRGV_GROUP_SIZE(d) + __fairgv_global_offset(d) + get_local_id(d);
  return d < 3 ? id : get_global_id(d);
}

#if __FAIRGV_OPENCL_C >= 200
__FAIRGV_FUNCTION size_t __fairgv_global_linear_id(void) {
  return (__fairgv_index(2) * __fairgv_global_size(1) + __fairgv_index(1)) * __fairgv_global_size(0) +
         __fairgv_index(0);
}
#define get_global_linear_id __fairgv_global_linear_id
#endif

#define get_work_dim __fairgv_work_dim
#define get_global_size __fairgv_global_size
#define get_global_id __fairgv_global_id
#define get_num_groups __fairgv_num_groups
#define get_group_id __fairgv_group_id
#define get_global_offset __fairgv_global_offset

/* A program that defines one of these names, in whatever header, must not build: it would see the sub-launch. */
#if defined(__clang_major__) && __clang_major__ >= 14
#pragma clang final(get_work_dim)
#pragma clang final(get_global_size)
#pragma clang final(get_global_id)
#pragma clang final(get_num_groups)
#pragma clang final(get_group_id)
#pragma clang final(get_global_offset)
#if __FAIRGV_OPENCL_C >= 200
#pragma clang final(get_global_linear_id)
#endif
#pragma clang diagnostic error "-Wfinal-macro"
#endif

#endif
