// The loader's table: no slot is null that a loader calls without a check.
#include <gtest/gtest.h>

#include <cstring>

#include "icd/api/api.hpp"
#include "icd/objects/object.hpp"

namespace fairgv::icd {
namespace {

TEST(Dispatch, HasEverySlotOfTheHeadersBesidesDirect3D) {
  const cl_icd_dispatch& table = dispatch_table();
  // Only the slots of Direct3D have no type in the headers on this system.
  const auto slot = [](const auto& member, const cl_icd_dispatch& of) {
    return (reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&of)) /
           static_cast<std::ptrdiff_t>(sizeof(void*));
  };
  const auto is_direct3d = [&](std::ptrdiff_t index) {
    return (index >= slot(table.clGetDeviceIDsFromD3D10KHR, table) &&
            index <= slot(table.clEnqueueReleaseD3D10ObjectsKHR, table)) ||
           (index >= slot(table.clGetDeviceIDsFromD3D11KHR, table) &&
            index <= slot(table.clEnqueueReleaseDX9MediaSurfacesKHR, table));
  };
  const auto* const slots = reinterpret_cast<void* const*>(&table);
  constexpr auto kSlots = static_cast<std::ptrdiff_t>(sizeof(cl_icd_dispatch) / sizeof(void*));
  for (std::ptrdiff_t i = 0; i < kSlots; ++i) {
    if (is_direct3d(i)) continue;
    EXPECT_NE(nullptr, slots[i]) << "slot " << i;
  }
}

TEST(Dispatch, RefusesNullHandlesEverywhere) {
  const cl_icd_dispatch& table = dispatch_table();
  EXPECT_EQ(CL_INVALID_PLATFORM, table.clGetPlatformInfo(nullptr, CL_PLATFORM_NAME, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_DEVICE, table.clGetDeviceInfo(nullptr, CL_DEVICE_NAME, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_CONTEXT, table.clRetainContext(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, table.clFinish(nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, table.clReleaseMemObject(nullptr));
  EXPECT_EQ(CL_INVALID_PROGRAM, table.clReleaseProgram(nullptr));
  EXPECT_EQ(CL_INVALID_KERNEL, table.clSetKernelArg(nullptr, 0, 0, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT, table.clReleaseEvent(nullptr));
}

TEST(Dispatch, AnswersCallsThatAreNotServedWithAnError) {
  const cl_icd_dispatch& table = dispatch_table();
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, table.clCreateImage(nullptr, 0, nullptr, nullptr, nullptr, &error));
  EXPECT_EQ(CL_INVALID_CONTEXT, error);
  EXPECT_EQ(nullptr, table.clCreateImage(nullptr, 0, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(nullptr, table.clSVMAlloc(nullptr, 0, 16, 0));
  table.clSVMFree(nullptr, nullptr);
  EXPECT_EQ(CL_INVALID_SAMPLER, table.clRetainSampler(nullptr));
}

}  // namespace
}  // namespace fairgv::icd
