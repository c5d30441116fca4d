#include "icd/memory/memory_flags.hpp"

#include <bit>

namespace fairgv::icd {
namespace {

constexpr cl_mem_flags kDeviceAccess = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags kHostAccess = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

bool at_most_one(cl_mem_flags flags, cl_mem_flags of) {
  return std::popcount(flags & of) <= 1;
}

/// Whether a part asks for a right (one of `forbidden`) that a `restriction` of its buffer takes away.
bool exceeds(cl_mem_flags part, cl_mem_flags parent, cl_mem_flags restriction, cl_mem_flags forbidden) {
  return (parent & restriction) != 0 && (part & forbidden) != 0;
}

}  // namespace

bool are_buffer_flags(cl_mem_flags flags) {
  if ((flags & ~(kDeviceAccess | kHostAccess | kHostPointer)) != 0) return false;
  if (!at_most_one(flags, kDeviceAccess) || !at_most_one(flags, kHostAccess)) return false;
  const bool uses = (flags & CL_MEM_USE_HOST_PTR) != 0;
  return !uses || (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0;
}

bool are_sub_buffer_flags(cl_mem_flags flags, cl_mem_flags parent) {
  if ((flags & ~(kDeviceAccess | kHostAccess)) != 0) return false;
  if (!at_most_one(flags, kDeviceAccess) || !at_most_one(flags, kHostAccess)) return false;
  return !exceeds(flags, parent, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY) &&
         !exceeds(flags, parent, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY) &&
         !exceeds(flags, parent, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY) &&
         !exceeds(flags, parent, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY) &&
         !exceeds(flags, parent, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY);
}

cl_mem_flags with_default_access(cl_mem_flags flags) {
  return (flags & kDeviceAccess) == 0 ? flags | CL_MEM_READ_WRITE : flags;
}

cl_mem_flags inherited_flags(cl_mem_flags flags, cl_mem_flags parent) {
  if ((flags & kDeviceAccess) == 0) flags |= parent & kDeviceAccess;
  if ((flags & kHostAccess) == 0) flags |= parent & kHostAccess;
  return flags | (parent & kHostPointer);
}

cl_mem_flags device_access(cl_mem_flags flags) {
  return flags & kDeviceAccess;
}

bool are_map_flags(cl_map_flags flags) {
  if ((flags & ~cl_map_flags{CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION}) != 0) return false;
  return (flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0 || (flags & (CL_MAP_READ | CL_MAP_WRITE)) == 0;
}

}  // namespace fairgv::icd
