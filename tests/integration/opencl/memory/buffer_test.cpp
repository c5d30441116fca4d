// Buffers: reads, writes, copies, fills, sub-buffers, and host memory.
#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

using Buffers = OpenCL;

TEST_F(Buffers, ReturnWhatWasWritten) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{63}, std::size_t{4096}, std::size_t{1000003}}) {
    const Bytes data = random_bytes(size);
    const Buffer buffer = make_buffer(size);
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, size, data.data(), 0, nullptr, nullptr));
    EXPECT_EQ(data, read(buffer, size)) << size;
  }
}

TEST_F(Buffers, ReturnWhatWasWrittenInTransfersOfManyMegabytes) {
  const std::size_t size = (std::size_t{21} << 20) + 5;
  const Bytes data = random_bytes(size);
  const Buffer buffer = make_buffer(size);
  Bytes back(size);
  EventHandle written;
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, data.data(), 0, nullptr, written.out()));
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, size, back.data(), 0, nullptr, nullptr));
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(data, back);
  EXPECT_EQ(CL_COMPLETE, status_of(written));
}

TEST_F(Buffers, TakeTheirTurnInLargeTransfersThatDoNotBlock) {
  const std::size_t size = std::size_t{1} << 20;
  const QueueHandle plain = make_queue();
  const Buffer buffer = make_buffer(size);
  const Bytes data = random_bytes(size);
  for (int round = 0; round < 10; ++round) {
    // Behind commands that the queue still holds, where the call must not wait.
    EventHandle gate = make_user_event();
    EventHandle filled;
    const auto value = static_cast<std::uint8_t>(round);
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueFillBuffer(plain, buffer, &value, 1, 0, size, 1, gate.address(), filled.out()));
    Bytes back(size);
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueReadBuffer(plain, buffer, CL_FALSE, 0, size, back.data(), 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueWriteBuffer(plain, buffer, CL_FALSE, 0, size, data.data(), 0, nullptr, nullptr));
    EXPECT_NE(CL_COMPLETE, status_of(filled));
    ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
    ASSERT_EQ(CL_SUCCESS, clFinish(plain));
    EXPECT_EQ(Bytes(size, value), back);
    // With an idle queue, too.
    EventHandle done;
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueReadBuffer(plain, buffer, CL_FALSE, 0, size, back.data(), 0, nullptr, done.out()));
    ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, done.address()));
    EXPECT_EQ(data, back);
  }
}

TEST_F(Buffers, ThatWereReadSayNothingOfWhatElseAnOutOfOrderQueueHolds) {
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1: a blocking read waits for the whole queue";
  const QueueHandle loose = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Buffer filled_one = make_buffer(4096);
  const Buffer read_one = make_buffer(4096);
  Bytes back(4096);
  for (int round = 0; round < 20; ++round) {
    EventHandle gate = make_user_event();
    EventHandle filled;
    const std::uint8_t value = 3;
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueFillBuffer(loose, filled_one, &value, 1, 0, 4096, 1, gate.address(), filled.out()));
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueReadBuffer(loose, read_one, CL_TRUE, 0, 4096, back.data(), 0, nullptr, nullptr));
    EXPECT_NE(CL_COMPLETE, status_of(filled));
    std::thread setter([&] { EXPECT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE)); });
    EXPECT_EQ(CL_SUCCESS, clFinish(loose));
    EXPECT_EQ(CL_COMPLETE, status_of(filled));
    setter.join();
  }
}

TEST_F(Buffers, KeepTheRestWhenAPartIsWritten) {
  Bytes model = random_bytes(10000);
  const Buffer buffer = make_buffer(model);
  for (int i = 0; i < 50; ++i) {
    const std::size_t offset = pick(model.size() - 1);
    const Bytes part = random_bytes(1 + pick(model.size() - offset - 1));
    ASSERT_EQ(CL_SUCCESS, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, part.size(), part.data(), 0,
                                               nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
    std::copy(part.begin(), part.end(), model.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  EXPECT_EQ(model, read(buffer, model.size()));
}

TEST_F(Buffers, GiveTheDataOfANonBlockingReadToAnyThreadThatSeesItComplete) {
  const Bytes data = random_bytes(70000);
  const Buffer buffer = make_buffer(data);
  Bytes waited(data.size());
  Bytes finished(data.size());
  Bytes polled(data.size());
  Bytes later(data.size());
  EventHandle events[3];
  const auto start = [&](Bytes& into, cl_event* event) {
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, into.size(), into.data(), 0, nullptr, event));
  };
  start(waited, events[0].out());
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, events[0].address()));
  EXPECT_EQ(data, waited);

  start(polled, events[1].out());
  ASSERT_EQ(CL_SUCCESS, clFlush(queue));
  while (status_of(events[1]) > CL_COMPLETE) std::this_thread::yield();
  EXPECT_EQ(data, polled);

  start(later, nullptr);
  ASSERT_EQ(CL_SUCCESS, clEnqueueMarkerWithWaitList(queue, 0, nullptr, events[2].out()));
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, events[2].address()));
  EXPECT_EQ(data, later);

  start(finished, nullptr);
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(data, finished);
}

TEST_F(Buffers, PassDataOnThroughHostMemoryInOneQueue) {
  const Bytes data = random_bytes(50000);
  const Buffer first = make_buffer(data);
  const Buffer second = make_buffer(data.size());
  Bytes between(data.size());
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueReadBuffer(queue, first, CL_FALSE, 0, data.size(), between.data(), 0, nullptr, nullptr));
  ASSERT_EQ(CL_SUCCESS, clEnqueueWriteBuffer(queue, second, CL_FALSE, 0, data.size(), between.data(), 0,
                                             nullptr, nullptr));
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(data, read(second, data.size()));
}

TEST_F(Buffers, AreCopiedAsTheHostWouldCopy) {
  Bytes source = random_bytes(5000);
  Bytes destination = random_bytes(7000);
  const Buffer from = make_buffer(source);
  const Buffer to = make_buffer(destination);
  for (int i = 0; i < 30; ++i) {
    const std::size_t source_offset = pick(source.size() - 1);
    const std::size_t size = 1 + pick(source.size() - source_offset - 1);
    const std::size_t destination_offset = pick(destination.size() - size);
    ASSERT_EQ(CL_SUCCESS, clEnqueueCopyBuffer(queue, from, to, source_offset, destination_offset, size, 0,
                                              nullptr, nullptr));
    std::memcpy(destination.data() + destination_offset, source.data() + source_offset, size);
  }
  EXPECT_EQ(destination, read(to, destination.size()));
}

TEST_F(Buffers, AreFilledWithPatternsOfEverySize) {
  Bytes model = random_bytes(4096);
  const Buffer buffer = make_buffer(model);
  for (std::size_t size = 1; size <= 128; size *= 2) {
    const Bytes pattern = random_bytes(size);
    const std::size_t offset = size * pick(model.size() / size / 2 - 1);
    const std::size_t bytes = size * (1 + pick(model.size() / size / 2 - 1));
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueFillBuffer(queue, buffer, pattern.data(), size, offset, bytes, 0, nullptr, nullptr));
    for (std::size_t i = 0; i < bytes; ++i) model[offset + i] = pattern[i % size];
  }
  EXPECT_EQ(model, read(buffer, model.size()));
}

TEST_F(Buffers, SharePartsWithTheirSubBuffers) {
  const std::size_t alignment = device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  Bytes model = random_bytes(4 * alignment);
  const Buffer whole = make_buffer(model);
  const cl_buffer_region region{alignment, 2 * alignment};
  cl_int error = CL_SUCCESS;
  const Buffer part(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(whole.get(), memory_info<cl_mem>(part, CL_MEM_ASSOCIATED_MEMOBJECT));
  EXPECT_EQ(alignment, memory_info<std::size_t>(part, CL_MEM_OFFSET));
  EXPECT_EQ(2 * alignment, memory_info<std::size_t>(part, CL_MEM_SIZE));

  const Bytes data = random_bytes(region.size);
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueWriteBuffer(queue, part, CL_TRUE, 0, data.size(), data.data(), 0, nullptr, nullptr));
  std::copy(data.begin(), data.end(), model.begin() + static_cast<std::ptrdiff_t>(alignment));
  EXPECT_EQ(model, read(whole, model.size()));
  EXPECT_EQ(data, read(part, data.size()));
}

TEST_F(Buffers, OutliveTheirOwnReleaseThroughASubBuffer) {
  const std::size_t alignment = device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  const Bytes data = random_bytes(2 * alignment);
  Buffer whole = make_buffer(data);
  const cl_buffer_region region{alignment, alignment};
  const Buffer part(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, nullptr));
  clReleaseMemObject(whole.give_up());
  EXPECT_EQ(Bytes(data.begin() + static_cast<std::ptrdiff_t>(alignment), data.end()), read(part, alignment));
}

TEST_F(Buffers, RefuseMisalignedSubBuffers) {
  const std::size_t alignment = device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  if (alignment == 1) GTEST_SKIP() << "every origin is aligned";
  const Buffer whole = make_buffer(4 * alignment);
  const cl_buffer_region region{alignment - 1, alignment};
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  EXPECT_EQ(CL_MISALIGNED_SUB_BUFFER_OFFSET, error);
}

TEST_F(Buffers, TakeTheirContentsFromHostMemoryAtCreation) {
  Bytes data = random_bytes(3000);
  const Bytes original = data;
  const Buffer buffer = make_buffer(data.size(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, data.data());
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  EXPECT_EQ(original, read(buffer, original.size()));
  EXPECT_EQ(nullptr, memory_info<void*>(buffer, CL_MEM_HOST_PTR));
}

TEST_F(Buffers, OnHostMemoryMapToThatMemory) {
  alignas(4096) static std::uint8_t host[8192];
  const Bytes data = random_bytes(sizeof(host));
  std::copy(data.begin(), data.end(), host);
  const Buffer buffer = make_buffer(sizeof(host), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, host);
  EXPECT_EQ(static_cast<void*>(host), memory_info<void*>(buffer, CL_MEM_HOST_PTR));
  EXPECT_EQ(data, read(buffer, data.size()));

  const std::uint8_t pattern = 0x5A;
  ASSERT_EQ(CL_SUCCESS, clEnqueueFillBuffer(queue, buffer, &pattern, 1, 100, 50, 0, nullptr, nullptr));
  cl_int error = CL_SUCCESS;
  void* const mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 64, 200, 0,
                                          nullptr, nullptr, &error);
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(static_cast<void*>(host + 64), mapped);
  EXPECT_EQ(0x5A, host[100]);
  host[120] = 0x77;
  ASSERT_EQ(CL_SUCCESS, clEnqueueUnmapMemObject(queue, buffer, mapped, 0, nullptr, nullptr));
  EXPECT_EQ(0x77, read(buffer, 121)[120]);
}

TEST_F(Buffers, CallTheirDestructorCallbacksLatestFirst) {
  static std::vector<int> calls;
  calls.clear();
  Buffer buffer = make_buffer(64);
  const auto note = [](cl_mem, void* number) {
    calls.push_back(static_cast<int>(reinterpret_cast<std::intptr_t>(number)));
  };
  for (std::intptr_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(CL_SUCCESS, clSetMemObjectDestructorCallback(buffer, note, reinterpret_cast<void*>(i)));
  }
  ASSERT_EQ(CL_SUCCESS, clReleaseMemObject(buffer.give_up()));
  EXPECT_EQ((std::vector<int>{3, 2, 1}), calls);
}

TEST_F(Buffers, AreMigratedWithoutHarm) {
  const Bytes data = random_bytes(1000);
  const Buffer buffer = make_buffer(data);
  const cl_mem objects[] = {buffer};
  EventHandle event;
  ASSERT_EQ(CL_SUCCESS, clEnqueueMigrateMemObjects(queue, 1, objects, 0, 0, nullptr, event.out()));
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, event.address()));
  EXPECT_EQ(data, read(buffer, data.size()));
}

}  // namespace
}  // namespace fairgv::test
