// Mapping buffers into host memory.
#include <algorithm>
#include <cstring>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

class Maps : public OpenCL {
 protected:
  std::uint8_t* map(cl_mem buffer, cl_map_flags flags, std::size_t offset, std::size_t size,
                    cl_bool blocking = CL_TRUE, cl_event* event = nullptr) {
    cl_int error = CL_SUCCESS;
    void* const mapped =
        clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, 0, nullptr, event, &error);
    EXPECT_EQ(CL_SUCCESS, error);
    return static_cast<std::uint8_t*>(mapped);
  }
  void unmap(cl_mem buffer, void* mapped, cl_event* event = nullptr) {
    EXPECT_EQ(CL_SUCCESS, clEnqueueUnmapMemObject(queue, buffer, mapped, 0, nullptr, event));
  }
};

TEST_F(Maps, ShowTheContents) {
  const Bytes data = random_bytes(9000);
  const Buffer buffer = make_buffer(data);
  std::uint8_t* const mapped = map(buffer, CL_MAP_READ, 1000, 3000);
  EXPECT_EQ(0, std::memcmp(mapped, data.data() + 1000, 3000));
  unmap(buffer, mapped);
  EXPECT_EQ(data, read(buffer, data.size()));
}

TEST_F(Maps, ThatWereWrittenChangeTheBufferWhenUnmapped) {
  Bytes model = random_bytes(9000);
  const Buffer buffer = make_buffer(model);
  const Bytes data = random_bytes(500);
  for (const cl_map_flags flags : {cl_map_flags{CL_MAP_WRITE}, cl_map_flags{CL_MAP_READ | CL_MAP_WRITE},
                                   cl_map_flags{CL_MAP_WRITE_INVALIDATE_REGION}}) {
    const std::size_t offset = pick(model.size() - data.size());
    std::uint8_t* const mapped = map(buffer, flags, offset, data.size());
    std::copy(data.begin(), data.end(), mapped);
    unmap(buffer, mapped);
    std::copy(data.begin(), data.end(), model.begin() + static_cast<std::ptrdiff_t>(offset));
    EXPECT_EQ(model, read(buffer, model.size()));
  }
}

TEST_F(Maps, KeepWhatWasNotWritten) {
  Bytes model = random_bytes(4096);
  const Buffer buffer = make_buffer(model);
  std::uint8_t* const mapped = map(buffer, CL_MAP_WRITE, 0, model.size());
  mapped[17] = model[17] = 99;
  unmap(buffer, mapped);
  EXPECT_EQ(model, read(buffer, model.size()));
}

TEST_F(Maps, AreCounted) {
  const Buffer buffer = make_buffer(4096);
  EXPECT_EQ(0U, memory_info<cl_uint>(buffer, CL_MEM_MAP_COUNT));
  std::uint8_t* const first = map(buffer, CL_MAP_READ, 0, 100);
  std::uint8_t* const second = map(buffer, CL_MAP_READ, 2048, 100);
  EXPECT_EQ(2U, memory_info<cl_uint>(buffer, CL_MEM_MAP_COUNT));
  unmap(buffer, first);
  unmap(buffer, second);
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(0U, memory_info<cl_uint>(buffer, CL_MEM_MAP_COUNT));
}

TEST_F(Maps, WithoutBlockingAreReadyWithTheirEvent) {
  const Bytes data = random_bytes(6000);
  const Buffer buffer = make_buffer(data);
  EventHandle mapped_event;
  std::uint8_t* const mapped = map(buffer, CL_MAP_READ, 0, data.size(), CL_FALSE, mapped_event.out());
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, mapped_event.address()));
  EXPECT_EQ(0, std::memcmp(mapped, data.data(), data.size()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_MAP_BUFFER},
            event_info<cl_command_type>(mapped_event, CL_EVENT_COMMAND_TYPE));
  EventHandle unmapped;
  unmap(buffer, mapped, unmapped.out());
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, unmapped.address()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_UNMAP_MEM_OBJECT},
            event_info<cl_command_type>(unmapped, CL_EVENT_COMMAND_TYPE));
}

TEST_F(Maps, OfMemoryTheDriverAllocatesForTheHostWorkAlike) {
  const Bytes data = random_bytes(5000);
  const Buffer buffer = make_buffer(data.size(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
  std::uint8_t* const mapped = map(buffer, CL_MAP_WRITE, 0, data.size());
  std::copy(data.begin(), data.end(), mapped);
  unmap(buffer, mapped);
  EXPECT_EQ(data, read(buffer, data.size()));
}

TEST_F(Maps, OfASubBufferShowItsPart) {
  const std::size_t alignment = device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  const Bytes data = random_bytes(3 * alignment);
  const Buffer whole = make_buffer(data);
  const cl_buffer_region region{alignment, alignment};
  const Buffer part(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, nullptr));
  std::uint8_t* const mapped = map(part, CL_MAP_READ, 0, alignment);
  EXPECT_EQ(0, std::memcmp(mapped, data.data() + alignment, alignment));
  unmap(part, mapped);
  EXPECT_EQ(CL_SUCCESS, clFinish(queue));
}

}  // namespace
}  // namespace fairgv::test
