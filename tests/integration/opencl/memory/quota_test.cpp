// Every way to allocate device memory, one row each: charged exactly, refused at the limit, free again after
// the release. Runs as a tenant with a limit (containment/quota_test.cpp) and reads its charges from `fairgv
// ps`.
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "tests/harness/child.hpp"
#include "tests/harness/tenancy.hpp"
#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kBytes = 4 * kMiB;
constexpr std::size_t kSide = 1024;  // of images of kBytes

/// The object that one allocation made; its destruction releases the object. Empty: the allocation was
/// refused.
using Made = std::shared_ptr<void>;

/// Makes an object in a context. CL_INVALID_OPERATION means that the device has no objects of this kind.
using Make = std::function<Made(cl_context context, cl_int& error)>;

Made held(cl_mem object) {
  return object == nullptr ? Made()
                           : Made(object, [](void* each) { clReleaseMemObject(static_cast<cl_mem>(each)); });
}

std::vector<std::uint8_t>& host_bytes() {
  static std::vector<std::uint8_t> bytes(2 * kBytes);
  return bytes;
}

Make buffer(cl_mem_flags flags) {
  return [flags](cl_context context, cl_int& error) {
    const bool host = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    return held(clCreateBuffer(context, flags, kBytes, host ? host_bytes().data() : nullptr, &error));
  };
}

Made buffer_with_properties(cl_context context, cl_int& error) {
  return held(clCreateBufferWithProperties(context, nullptr, CL_MEM_READ_WRITE, kBytes, nullptr, &error));
}

constexpr cl_image_format kFormat{CL_RGBA, CL_UNSIGNED_INT8};

cl_image_desc shape_of(cl_mem_object_type type, std::size_t width, std::size_t height, std::size_t depth,
                       std::size_t images) {
  cl_image_desc shape{};
  shape.image_type = type;
  shape.image_width = width;
  shape.image_height = height;
  shape.image_depth = depth;
  shape.image_array_size = images;
  return shape;
}

Make image(cl_image_desc shape, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) {
  return [=](cl_context context, cl_int& error) {
    return held(clCreateImage(context, flags, &kFormat, &shape, host, &error));
  };
}

Make image_with_gaps(cl_mem_flags flags) {
  cl_image_desc shape = shape_of(CL_MEM_OBJECT_IMAGE2D, kSide, kSide, 0, 0);
  shape.image_row_pitch = 2 * 4 * kSide;
  return image(shape, flags, host_bytes().data());
}

Made image_with_properties(cl_context context, cl_int& error) {
  const cl_image_desc shape = shape_of(CL_MEM_OBJECT_IMAGE2D, kSide, kSide, 0, 0);
  return held(
      clCreateImageWithProperties(context, nullptr, CL_MEM_READ_WRITE, &kFormat, &shape, nullptr, &error));
}

Made image_1d(cl_context context, cl_int& error) {
  constexpr cl_image_format kLarge{CL_RGBA, CL_FLOAT};
  const cl_image_desc shape = shape_of(CL_MEM_OBJECT_IMAGE1D, 8192, 0, 0, 0);
  return held(clCreateImage(context, CL_MEM_READ_WRITE, &kLarge, &shape, nullptr, &error));
}

Made old_image_2d(cl_context context, cl_int& error) {
  return held(clCreateImage2D(context, CL_MEM_READ_WRITE, &kFormat, kSide, kSide, 0, nullptr, &error));
}

Made old_image_3d(cl_context context, cl_int& error) {
  return held(clCreateImage3D(context, CL_MEM_READ_WRITE, &kFormat, 256, 256, 16, 0, 0, nullptr, &error));
}

Made pipe(cl_context context, cl_int& error) {
  return held(clCreatePipe(context, CL_MEM_READ_WRITE, 1024, kBytes / 1024 - 1, nullptr, &error));
}

Made svm(cl_context context, cl_int& error) {
  cl_device_id device = nullptr;
  clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(device), &device, nullptr);
  if (device_info<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES) == 0) {
    error = CL_INVALID_OPERATION;
    return {};
  }
  void* const pointer = clSVMAlloc(context, CL_MEM_READ_WRITE, kBytes, 0);
  error = pointer == nullptr ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
  if (pointer == nullptr) return {};
  return Made(pointer, [context](void* each) { clSVMFree(context, each); });
}

// -- in the memory of a second object, which is made first and released with the object

Made with(const Made& owner, cl_mem part) {
  const Made object = held(part);
  return object ? Made(object.get(), [owner, object](void*) {}) : Made();
}

Made sub_buffer(cl_context context, cl_int& error) {
  const Made whole = buffer(CL_MEM_READ_WRITE)(context, error);
  if (!whole) return {};
  const cl_buffer_region region{0, kBytes / 2};
  return with(whole, clCreateSubBuffer(static_cast<cl_mem>(whole.get()), CL_MEM_READ_WRITE,
                                       CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
}

Made image_in_buffer(cl_context context, cl_int& error) {
  const Made whole = buffer(CL_MEM_READ_WRITE)(context, error);
  if (!whole) return {};
  cl_image_desc shape = shape_of(CL_MEM_OBJECT_IMAGE1D_BUFFER, 4096, 0, 0, 0);
  shape.buffer = static_cast<cl_mem>(whole.get());
  return with(whole, clCreateImage(context, CL_MEM_READ_WRITE, &kFormat, &shape, nullptr, &error));
}

Made buffer_over_svm(cl_context context, cl_int& error) {
  const Made memory = svm(context, error);
  if (!memory) return {};
  return with(memory, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, kBytes / 2,
                                     static_cast<std::uint8_t*>(memory.get()) + 4096, &error));
}

struct Path {
  const char* name;
  Make make;
  std::uint64_t bytes = kBytes;
};

void PrintTo(const Path& path, std::ostream* out) {
  *out << path.name;
}

class Quota : public OpenCL {
 protected:
  /// The value that `fairgv ps` shows for this process' tenant on the device.
  static std::uint64_t ask(const char* key) {
    const auto ps = harness::run({{harness::beside("fairgv"), "ps", "--json"}, {}});
    EXPECT_TRUE(ps);
    std::string text;
    for (const std::string& line : ps->lines) text += line;
    const auto report = nlohmann::json::parse(text, nullptr, false);
    for (const auto& tenant : report["tenants"]) {
      if (tenant["tenant"] == "quota") return tenant[key][0];
    }
    ADD_FAILURE() << "fairgv ps does not know this tenant";
    return 0;
  }
  static std::uint64_t charged() { return ask("memory_used"); }

  /// Releases travel without an answer.
  static bool comes_to(std::uint64_t bytes) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (charged() != bytes) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
};

struct EachPath : Quota, testing::WithParamInterface<Path> {};

TEST_P(EachPath, IsChargedRefusedAndReturnedExactly) {
  const Path& path = GetParam();
  cl_int error = CL_SUCCESS;
  const std::uint64_t before = charged();
  Made made = path.make(context, error);
  if (error == CL_INVALID_OPERATION) GTEST_SKIP() << "the device has none";
  ASSERT_EQ(error, CL_SUCCESS);
  EXPECT_EQ(charged(), before + path.bytes);
  made.reset();
  ASSERT_TRUE(comes_to(before)) << "charged still: " << charged();

  // One byte less than the object needs.
  const std::uint64_t limit = ask("memory_limit");
  Buffer filler = make_buffer(limit - before - path.bytes + 1);
  ASSERT_NE(filler.get(), nullptr);
  EXPECT_FALSE(path.make(context, error));
  EXPECT_EQ(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(charged(), limit - path.bytes + 1) << "the refused object is charged";

  // Exactly as much as the object needs, and at once: a release comes before a later allocation.
  clReleaseMemObject(filler.give_up());
  filler = make_buffer(limit - before - path.bytes);
  made = path.make(context, error);
  EXPECT_EQ(error, CL_SUCCESS);
  EXPECT_EQ(charged(), limit);
  made.reset();
  clReleaseMemObject(filler.give_up());
  EXPECT_TRUE(comes_to(before)) << "charged still: " << charged();
}

INSTANTIATE_TEST_SUITE_P(
    Table, EachPath,
    testing::Values(Path{"Buffer", buffer(CL_MEM_READ_WRITE)},
                    Path{"BufferOfTheHosts", buffer(CL_MEM_ALLOC_HOST_PTR)},
                    Path{"BufferWithContents", buffer(CL_MEM_COPY_HOST_PTR)},
                    Path{"BufferOverHostMemory", buffer(CL_MEM_USE_HOST_PTR)},
                    Path{"BufferWithProperties", buffer_with_properties}, Path{"SubBuffer", sub_buffer},
                    Path{"Image1D", image_1d, 128 * 1024},
                    Path{"Image1DArray", image(shape_of(CL_MEM_OBJECT_IMAGE1D_ARRAY, 4096, 0, 0, 256))},
                    Path{"Image2D", image(shape_of(CL_MEM_OBJECT_IMAGE2D, kSide, kSide, 0, 0))},
                    Path{"Image2DArray", image(shape_of(CL_MEM_OBJECT_IMAGE2D_ARRAY, 256, 256, 0, 16))},
                    Path{"Image3D", image(shape_of(CL_MEM_OBJECT_IMAGE3D, 256, 256, 16, 0))},
                    Path{"ImageFromAHostWithGaps", image_with_gaps(CL_MEM_COPY_HOST_PTR)},
                    Path{"ImageOverAHostWithGaps", image_with_gaps(CL_MEM_USE_HOST_PTR)},
                    Path{"ImageWithProperties", image_with_properties}, Path{"OldImage2D", old_image_2d},
                    Path{"OldImage3D", old_image_3d}, Path{"ImageInABuffer", image_in_buffer},
                    Path{"Pipe", pipe}, Path{"SharedVirtualMemory", svm},
                    Path{"BufferOverSharedVirtualMemory", buffer_over_svm}),
    [](const auto& test) { return std::string(test.param.name); });

/// Objects that are released while commands use them are charged until the commands have ended.
TEST_F(Quota, AnObjectInUseIsChargedUntilItIsGone) {
  const std::uint64_t before = charged();
  const EventHandle gate = make_user_event();
  const cl_event wait = gate;
  Buffer buffer = make_buffer(kBytes);
  const cl_uint zero = 0;
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueFillBuffer(queue, buffer, &zero, sizeof(zero), 0, kBytes, 1, &wait, nullptr));
  clReleaseMemObject(buffer.give_up());
  EXPECT_EQ(clFlush(queue), CL_SUCCESS);
  EXPECT_EQ(charged(), before + kBytes);
  clSetUserEventStatus(gate, CL_COMPLETE);
  EXPECT_EQ(clFinish(queue), CL_SUCCESS);
  EXPECT_TRUE(comes_to(before));
}

/// Once clFinish has returned, objects that were released before hold no memory any more.
TEST_F(Quota, AFinishedCommandDoesNotStandInTheWay) {
  const std::uint64_t most = ask("memory_limit") - charged();
  const cl_uint zero = 0;
  for (int i = 0; i < 20; ++i) {
    Buffer buffer = make_buffer(most);
    ASSERT_NE(buffer.get(), nullptr) << "round " << i;
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueFillBuffer(queue, buffer, &zero, sizeof(zero), 0, 4096, 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  }
}

TEST_F(Quota, SmallObjectsComeAndGoAtTheLimit) {
  std::vector<Buffer> held;
  const std::uint64_t limit = ask("memory_limit");
  for (const std::size_t bytes : {std::size_t{50'000}, std::size_t{1000}}) {
    for (;;) {
      cl_int error = CL_SUCCESS;
      Buffer made(clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error));
      if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE) break;
      ASSERT_EQ(error, CL_SUCCESS);
      held.push_back(std::move(made));
    }
  }
  EXPECT_GT(charged() + 1000, limit);
  EXPECT_LE(charged(), limit);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t place = pick(held.size() - 1);
    const auto bytes = memory_info<size_t>(held[place], CL_MEM_SIZE);
    held[place] = Buffer();
    held[place] = make_buffer(bytes);
    ASSERT_NE(held[place].get(), nullptr) << "round " << i;
  }
}

TEST_F(Quota, TheDeviceShowsTheTenantsShare) {
  const std::uint64_t limit = ask("memory_limit");
  EXPECT_EQ(device_info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE), limit);
  const auto most = device_info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  EXPECT_LE(most, limit);
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(clCreateBuffer(context, CL_MEM_READ_WRITE, most + 1, nullptr, &error), nullptr);
  EXPECT_EQ(error, CL_INVALID_BUFFER_SIZE);
}

}  // namespace
}  // namespace fairgv::test
