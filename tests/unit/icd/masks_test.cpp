// The parts of the driver's answers that are masked out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "icd/masks.hpp"

namespace fairgv::icd {
namespace {

template <class T>
wire::InfoReply reply_with(const T& value) {
  wire::InfoReply reply;
  reply.value.resize(sizeof(T));
  std::memcpy(reply.value.data(), &value, sizeof(T));
  return reply;
}

wire::InfoReply reply_with(const char* text) {
  wire::InfoReply reply;
  const auto* first = reinterpret_cast<const std::byte*>(text);
  reply.value.assign(first, first + std::strlen(text) + 1);
  return reply;
}

template <class T>
T value_of(const wire::InfoReply& reply) {
  T value{};
  EXPECT_EQ(sizeof(T), reply.value.size());
  std::memcpy(&value, reply.value.data(), std::min(sizeof(T), reply.value.size()));
  return value;
}

std::string text_in(const wire::InfoReply& reply) {
  return reinterpret_cast<const char*>(reply.value.data());
}

wire::InfoReply masked(cl_device_info param, wire::InfoReply reply) {
  mask_device_info(param, reply);
  return reply;
}

TEST(Masks, NameEveryParameterOnceAndGiveAReason) {
  std::set<cl_device_info> seen;
  for (const Mask& mask : device_masks()) {
    EXPECT_TRUE(seen.insert(mask.param).second) << mask.name;
    EXPECT_EQ(0U, mask.name.find("CL_DEVICE_")) << mask.name;
    EXPECT_FALSE(mask.reason.empty()) << mask.name;
  }
}

TEST(Masks, LetOtherAnswersThrough) {
  EXPECT_EQ(77U, value_of<cl_uint>(masked(CL_DEVICE_MAX_COMPUTE_UNITS, reply_with(cl_uint{77}))));
  EXPECT_EQ("a device", text_in(masked(CL_DEVICE_NAME, reply_with("a device"))));
}

TEST(Masks, ZeroCapabilitiesAndLimits) {
  EXPECT_EQ(0U, value_of<cl_uint>(masked(CL_DEVICE_MAX_ON_DEVICE_QUEUES, reply_with(cl_uint{4}))));
}

TEST(Masks, KeepTheBitsThatAreServed) {
  const cl_bitfield svm = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
  EXPECT_EQ(svm, value_of<cl_bitfield>(
                     masked(CL_DEVICE_SVM_CAPABILITIES, reply_with(svm | CL_DEVICE_SVM_FINE_GRAIN_SYSTEM))));
  const cl_device_exec_capabilities both = CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL;
  EXPECT_EQ(
      cl_device_exec_capabilities{CL_EXEC_KERNEL},
      value_of<cl_device_exec_capabilities>(masked(CL_DEVICE_EXECUTION_CAPABILITIES, reply_with(both))));
}

TEST(Masks, KeepTheDriversErrors) {
  wire::InfoReply reply;
  reply.error = CL_INVALID_VALUE;
  EXPECT_EQ(CL_INVALID_VALUE, masked(CL_DEVICE_EXTENSIONS, reply).error);
}

TEST(Masks, KeepOnlyServedExtensionsInBothForms) {
  const char* const all = "cl_khr_fp64 cl_khr_gl_sharing  cl_khr_semaphore cl_khr_int64_base_atomics";
  EXPECT_EQ("cl_khr_fp64 cl_khr_int64_base_atomics", text_in(masked(CL_DEVICE_EXTENSIONS, reply_with(all))));
  const std::array<cl_name_version, 2> versions{cl_name_version{7, "cl_khr_fp64"},
                                                cl_name_version{8, "cl_khr_gl_sharing"}};
  const auto kept =
      value_of<cl_name_version>(masked(CL_DEVICE_EXTENSIONS_WITH_VERSION, reply_with(versions)));
  EXPECT_STREQ("cl_khr_fp64", kept.name);
  EXPECT_EQ(7U, kept.version);
}

TEST(Masks, KeepFeaturesThatNeedNoQueuesOnTheDevice) {
  const std::array<cl_name_version, 2> features{cl_name_version{1, "__opencl_c_device_enqueue"},
                                                cl_name_version{1, "__opencl_c_images"}};
  EXPECT_STREQ("__opencl_c_images",
               value_of<cl_name_version>(masked(CL_DEVICE_OPENCL_C_FEATURES, reply_with(features))).name);
}

}  // namespace
}  // namespace fairgv::icd
