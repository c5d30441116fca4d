// The worker on the machine's real OpenCL driver: the usual behaviour of programs.
#include <algorithm>
#include <numeric>

#include "tests/unit/vgpu/opencl/fixture.hpp"

namespace fairgv::vgpu {
namespace {

TEST_F(OpenClTest, ReportsTheDriversPlatformsAndDevices) {
  const auto topology = client.call(wire::GetTopology{});
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->devices.size(), driver.devices().size());
  const auto name = client.call(wire::GetDeviceInfo{0, CL_DEVICE_NAME});
  ASSERT_TRUE(name);
  EXPECT_EQ(name->error, CL_SUCCESS);
  EXPECT_EQ(driver.device_name(0), reinterpret_cast<const char*>(name->value.data()));
  const auto unknown = client.call(wire::GetDeviceInfo{0, 0xFFFF});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->error, CL_INVALID_VALUE);
}

TEST_F(OpenClTest, RunsAProgramFromSourceToResult) {
  const auto kernel = make_kernel("scale");
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0F);
  const auto buffer = make_buffer(values);
  scale(queue, kernel, buffer, 3.0F, values.size());
  EXPECT_EQ(finish(queue), CL_COMPLETE);
  const auto result = read(buffer, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(result[i], 3.0F * values[i]);
}

TEST_F(OpenClTest, ALoneTenantIsNeverSampledAndHoldsItsTurnWhenDrained) {
  const auto kernel = make_kernel("scale");
  const auto buffer = make_buffer(std::vector<float>(64, 1.0F));
  for (int i = 0; i < 300; ++i) scale(queue, kernel, buffer, 1.0F, 64);
  EXPECT_EQ(finish(queue), CL_COMPLETE);
  EXPECT_EQ(turns.devices[0].samples, 0U);
  EXPECT_EQ(turns.devices[0].syncs, 0U);
  EXPECT_EQ(turns.devices[0].launches, 300U);
  EXPECT_GT(turns.devices[0].used_ns, 0U);
}

TEST_F(OpenClTest, ContendedTurnsAreSampledAndGivenBackAndTheResultIsTheSame) {
  slice_ns = 500'000;
  const auto kernel = make_kernel("scale");
  const auto buffer = make_buffer(std::vector<float>(256, 1.0F));
  for (int i = 0; i < 2000; ++i) scale(queue, kernel, buffer, i % 2 == 0 ? 2.0F : 0.5F, 256);
  EXPECT_EQ(read(buffer, 256), std::vector<float>(256, 1.0F));
  EXPECT_GE(turns.devices[0].samples, 5U);
  EXPECT_GT(turns.devices[0].syncs, turns.devices[0].samples);
  EXPECT_EQ(turns.devices[0].launches, 2000U);
}

TEST_F(OpenClTest, ALaunchHasTheArgumentsOfTheMomentInWhichItWasEnqueued) {
  const auto kernel = make_kernel("scale");
  const auto first = make_buffer(std::vector<float>(16, 1.0F));
  const auto second = make_buffer(std::vector<float>(16, 1.0F));
  const EventId gate = client.events().acquire();
  client.send(wire::CreateUserEvent{gate});
  scale(queue, kernel, first, 2.0F, 16, {}, std::span(&gate, 1));
  scale(queue, kernel, second, 5.0F, 16);
  client.release_object(kernel);  // commands keep the objects that they use
  client.send(wire::SetUserEventStatus{gate, CL_COMPLETE});
  EXPECT_EQ(read(first, 16), std::vector<float>(16, 2.0F));
  EXPECT_EQ(read(second, 16), std::vector<float>(16, 5.0F));
}

TEST_F(OpenClTest, OnlyTheArgumentsThatChangedNeedToBeSent) {
  const auto kernel = make_kernel("scale");
  const auto buffer = make_buffer(std::vector<float>(16, 1.0F));
  scale(queue, kernel, buffer, 2.0F, 16);
  wire::EnqueueKernel again;
  again.command = on(queue);
  again.kernel = kernel;
  again.dimensions = 1;
  again.global_size.x = 16;
  client.send(again);
  const float factor = 10.0F;
  const wire::ArgumentUpdate update[] = {{1, wire::ArgumentKind::value, sizeof(factor), 0}};
  again.updates = update;
  again.values = std::as_bytes(std::span(&factor, 1));
  client.send(again);
  EXPECT_EQ(read(buffer, 16), std::vector<float>(16, 40.0F));
}

TEST_F(OpenClTest, LocalMemoryAndSeveralBuffersReachTheKernel) {
  const auto kernel = make_kernel("sum");
  const auto a = make_buffer(std::vector<float>(16, 1.0F));
  const auto b = make_buffer(std::vector<float>(16, 2.0F));
  const auto c = make_buffer(16 * sizeof(float));
  const wire::ArgumentUpdate updates[] = {{0, wire::ArgumentKind::memory, 0, a.raw},
                                          {1, wire::ArgumentKind::memory, 0, b.raw},
                                          {2, wire::ArgumentKind::memory, 0, c.raw},
                                          {3, wire::ArgumentKind::local, 4 * sizeof(float), 0}};
  wire::EnqueueKernel call;
  call.command = on(queue);
  call.kernel = kernel;
  call.dimensions = 1;
  call.global_size.x = 16;
  call.has_local_size = 1;
  call.local_size.x = 4;
  call.updates = updates;
  client.send(call);
  EXPECT_EQ(read(c, 16), std::vector<float>(16, 3.0F));
}

TEST_F(OpenClTest, AQueueThatWaitsForAUserEventStopsNeitherQueriesNorOtherThreads) {
  const auto kernel = make_kernel("scale");
  const auto buffer = make_buffer(std::vector<float>(16, 1.0F));
  const auto other_queue = make_queue(0);
  const auto other = make_buffer(std::vector<float>(16, 1.0F));
  const EventId gate = client.events().acquire();
  client.send(wire::CreateUserEvent{gate});
  scale(queue, kernel, buffer, 2.0F, 16, {}, std::span(&gate, 1));

  std::int32_t blocked_finish = CL_QUEUED;
  std::thread blocked([&] { blocked_finish = finish(queue); });
  scale(other_queue, kernel, other, 3.0F, 16);
  EXPECT_EQ(finish(other_queue), CL_COMPLETE);
  EXPECT_TRUE(client.call(wire::Ping{}));
  client.send(wire::SetUserEventStatus{gate, CL_COMPLETE});
  blocked.join();
  EXPECT_EQ(blocked_finish, CL_COMPLETE);
  EXPECT_EQ(read(buffer, 16), std::vector<float>(16, 2.0F));
}

TEST_F(OpenClTest, WaitListsOrderAnOutOfOrderQueue) {
  const auto kernel = make_kernel("scale");
  const auto free_queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto buffer = make_buffer(std::vector<float>(64, 1.0F));
  std::vector<EventId> chain;
  for (int i = 0; i < 20; ++i) {
    const EventId next = client.events().acquire();
    const auto waits =
        chain.empty() ? std::span<const EventId>() : std::span<const EventId>(&chain.back(), 1);
    scale(free_queue, kernel, buffer, i % 2 == 0 ? 4.0F : 0.5F, 64, next, waits);
    chain.push_back(next);
  }
  EXPECT_EQ(finish(free_queue), CL_COMPLETE);
  EXPECT_EQ(read(buffer, 64), std::vector<float>(64, 1024.0F));
}

TEST_F(OpenClTest, FinishingAnOutOfOrderQueueWaitsForCommandsThatNobodyElseKnows) {
  const auto kernel = make_kernel("scale");
  const auto free_queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::vector<ObjectId> buffers;
  for (int i = 0; i < 8; ++i) buffers.push_back(make_buffer(std::vector<float>(4096, 1.0F)));
  for (int round = 0; round < 50; ++round) {
    for (const ObjectId buffer : buffers)
      scale(free_queue, kernel, buffer, round % 2 == 0 ? 2.0F : 0.5F, 4096);
    ASSERT_EQ(finish(free_queue), CL_COMPLETE);
  }
  for (const ObjectId buffer : buffers) EXPECT_EQ(read(buffer, 4096), std::vector<float>(4096, 1.0F));
}

TEST_F(OpenClTest, FillsCopiesAndRectanglesMoveWhatTheyShould) {
  const auto source = make_buffer(64 * sizeof(float));
  const auto target = make_buffer(64 * sizeof(float));
  const float one = 1.0F;
  const float zero = 0.0F;
  client.send(wire::EnqueueFillBuffer{on(queue), source, 0, 256, std::as_bytes(std::span(&one, 1))});
  client.send(wire::EnqueueFillBuffer{on(queue), target, 0, 256, std::as_bytes(std::span(&zero, 1))});
  client.send(wire::EnqueueCopyBuffer{on(queue), source, target, 0, 32, 16});
  // An 8 x 8 matrix of floats: two columns of two rows.
  client.send(
      wire::EnqueueCopyBufferRect{on(queue), source, target, {0, 0, 0}, {0, 4, 0}, {8, 2, 1}, 32, 0, 32, 0});
  auto result = read(target, 64);
  std::vector<float> expected(64, 0.0F);
  for (const std::size_t i : {8U, 9U, 10U, 11U, 32U, 33U, 40U, 41U}) expected[i] = 1.0F;
  EXPECT_EQ(result, expected);

  const auto range = client.allocate(16).value();
  const EventId event = client.events().acquire();
  client.send(wire::EnqueueReadBufferRect{on(queue, event), target, {0, 4, 0}, {8, 2, 1}, 32, 0, range});
  ASSERT_EQ(end(event), CL_COMPLETE);
  std::vector<float> corner(4);
  std::memcpy(corner.data(), client.bytes(range), 16);
  EXPECT_EQ(corner, std::vector<float>(4, 1.0F));
  client.send(wire::EnqueueWriteBufferRect{on(queue), target, {24, 6, 0}, {8, 2, 1}, 32, 0, range});
  result = read(target, 64);
  for (const std::size_t i : {54U, 55U, 62U, 63U}) EXPECT_EQ(result[i], 1.0F);
}

TEST_F(OpenClTest, ASubBufferIsAWindowIntoItsParent) {
  const auto kernel = make_kernel("scale");
  const auto parent = make_buffer(std::vector<float>(1024, 1.0F));
  const auto window = client.new_object();
  client.send(wire::CreateSubBuffer{window, parent, CL_MEM_READ_WRITE, 2048, 1024});
  scale(queue, kernel, window, 7.0F, 256);
  const auto result = read(parent, 1024);
  for (std::size_t i = 0; i < 1024; ++i) ASSERT_EQ(result[i], i >= 512 && i < 768 ? 7.0F : 1.0F) << i;
}

TEST_F(OpenClTest, AFailedBuildTellsItsErrorAndKeepsItsLog) {
  const auto bad = client.new_object();
  EXPECT_EQ(build(bad, "__kernel void broken( { }"), CL_BUILD_PROGRAM_FAILURE);
  const auto log = client.call(wire::GetProgramBuildInfo{bad, 0, CL_PROGRAM_BUILD_LOG});
  ASSERT_TRUE(log);
  EXPECT_EQ(log->error, CL_SUCCESS);
  EXPECT_GT(log->value.size(), 10U);
}

TEST_F(OpenClTest, KernelsAreDescribedWithTheirArguments) {
  make_kernel("sum");
  auto reply = client.call(wire::DescribeKernels{*program});
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->error, CL_SUCCESS);
  ASSERT_EQ(reply->kernels.size(), 2U);
  const auto sum = std::find_if(reply->kernels.begin(), reply->kernels.end(),
                                [](const auto& kernel) { return kernel.name == "sum"; });
  ASSERT_NE(sum, reply->kernels.end());
  ASSERT_EQ(sum->argument_count, 4U);
  ASSERT_EQ(sum->has_argument_info, 1);
  EXPECT_EQ(sum->arguments[0].name, "a");
  EXPECT_EQ(sum->arguments[0].type_name, "float*");
  EXPECT_EQ(sum->arguments[3].address_qualifier, static_cast<std::uint32_t>(CL_KERNEL_ARG_ADDRESS_LOCAL));
}

TEST_F(OpenClTest, ABinaryGoesOutInPiecesAndComesBackAsAProgram) {
  make_kernel("scale");
  const auto sizes = client.call(wire::GetProgramInfo{*program, CL_PROGRAM_BINARY_SIZES});
  const auto binaries = client.call(wire::GetProgramInfo{*program, CL_PROGRAM_BINARIES});
  ASSERT_TRUE(sizes && binaries);
  ASSERT_EQ(binaries->error, CL_SUCCESS);
  const std::uint64_t size = binaries->value.size();
  ASSERT_GT(size, 0U);
  ASSERT_EQ(std::memcmp(sizes->value.data(), &size, sizeof(size)), 0);

  const wire::DeviceIndex devices[] = {0};
  program = client.new_object();
  const auto created = client.call(
      wire::CreateProgramWithBinary{*program, context, devices, std::span(&size, 1), binaries->value});
  ASSERT_TRUE(created);
  ASSERT_EQ(created->error, CL_SUCCESS);
  const EventId built = client.events().acquire();
  client.send(wire::BuildProgram{*program, {}, "", "/", built});
  ASSERT_EQ(end(built), CL_SUCCESS);
  const auto kernel = make_kernel("scale");
  const auto buffer = make_buffer(std::vector<float>(16, 1.0F));
  scale(queue, kernel, buffer, 2.0F, 16);
  EXPECT_EQ(read(buffer, 16), std::vector<float>(16, 2.0F));
}

TEST_F(OpenClTest, ASourceTooBigForTheRingGoesThroughTheArena) {
  program = client.new_object();
  const std::string comment = "// " + std::string(2 << 20, 'x') + "\n";
  EXPECT_EQ(build(*program, comment + kSource), CL_SUCCESS);
  EXPECT_TRUE(client.call(wire::Ping{}));
}

TEST_F(OpenClTest, AnObjectThatTheDriverRefusesToMakeFailsTheCommandsThatUseIt) {
  const auto kernel = make_kernel("no_such_kernel");
  const auto good = make_kernel("scale");
  const auto buffer = make_buffer(std::vector<float>(16, 1.0F));
  const auto empty = make_buffer(0);
  const EventId of_kernel = client.events().acquire();
  const EventId of_buffer = client.events().acquire();
  scale(queue, kernel, buffer, 2.0F, 16, of_kernel);
  scale(queue, good, empty, 2.0F, 16, of_buffer);
  EXPECT_EQ(end(of_kernel), CL_INVALID_KERNEL_NAME);
  EXPECT_EQ(end(of_buffer), CL_INVALID_BUFFER_SIZE);
  EXPECT_EQ(finish(queue), CL_COMPLETE);
}

TEST_F(OpenClTest, ACommandThatTheDriverRefusesEndsWithItsError) {
  const auto kernel = make_kernel("scale");  // no argument is ever set
  wire::EnqueueKernel call;
  const EventId event = client.events().acquire();
  call.command = on(queue, event);
  call.kernel = kernel;
  call.dimensions = 1;
  call.global_size.x = 16;
  client.send(call);
  EXPECT_EQ(end(event), CL_INVALID_KERNEL_ARGS);
}

TEST_F(OpenClTest, ProfiledCommandsTellTheirTimes) {
  const auto kernel = make_kernel("scale");
  const auto profiled = make_queue(CL_QUEUE_PROFILING_ENABLE);
  const auto buffer = make_buffer(std::vector<float>(1024, 1.0F));
  const EventId event = client.events().acquire();
  scale(profiled, kernel, buffer, 2.0F, 1024, event);
  EXPECT_EQ(client.wait(event), CL_COMPLETE);
  const auto times = client.events().times(event);
  EXPECT_GT(times.queued, 0U);
  EXPECT_LE(times.queued, times.submitted);
  EXPECT_LE(times.submitted, times.started);
  EXPECT_LT(times.started, times.ended);
  EXPECT_LE(times.ended, times.completed);
}

}  // namespace
}  // namespace fairgv::vgpu
