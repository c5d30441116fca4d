// The worker's CUDA back end: the behaviour of launches, streams and modules that the CUDA front end relies
// on.
#include <array>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/integration/system/cuda_worker.hpp"

namespace fairgv::integration::cuda_worker {
namespace {

TEST_F(CudaWorker, CopiesLaunchesAndAnswersQueries) {
  load(kPtx);
  EXPECT_EQ(client->call(GetModule{module})->code, 0);
  const FunctionReply found = find("scale");
  ASSERT_EQ(found.code, 0);
  ASSERT_EQ(found.parameters.size(), 3U) << "the hidden one is not the program's";
  EXPECT_EQ(found.parameters[1].offset, 8U);
  EXPECT_EQ(found.parameters[2].bytes, 4U);
  EXPECT_GT(found.attributes.at(kSizeOfBlock), 0);
  EXPECT_FALSE(device.name.empty());
  EXPECT_GT(device.memory, 0U);

  constexpr std::uint32_t kCount = 100'000;
  const std::uint64_t data = allocate(kCount * 4);
  ASSERT_NE(data, 0U);
  write(legacy, data, numbers(kCount));
  scale(legacy, data, kCount, 3);
  const auto result = read(legacy, data, kCount);
  for (std::uint32_t i = 0; i < kCount; i += 997) ASSERT_EQ(result[i], 4 * i);
  EXPECT_EQ(wire::cuda::AddressReply(*client->call(GetGlobal{module, "counter"})).bytes, 4U);
  client->send(FreeMemory{context, data});
  EXPECT_EQ(client->late_error(), 0U);
}

TEST_F(CudaWorker, ResultsAreTheSameIfLaunchesAreCutAtRandom) {
  slicing = "random:7";
  ASSERT_NO_FATAL_FAILURE(connect("bob", {}));
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  constexpr std::uint32_t kCount = 50'000;
  const std::uint64_t data = allocate(kCount * 4);
  write(legacy, data, numbers(kCount));
  for (int i = 0; i < 5; ++i) scale(legacy, data, kCount, 2);
  const auto result = read(legacy, data, kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(result[i], 63 * i);
}

TEST_F(CudaWorker, DoesNotNameTheFunctionsThatRunParts) {
  load(kPtx);
  const auto reply = client->call(GetFunctionNames{module});
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->code, 0);
  std::set<std::string> names;
  for (auto at = reply->names.begin(); at != reply->names.end();) {
    const auto end = std::find(at, reply->names.end(), '\0');
    names.emplace(at, end);
    at = end == reply->names.end() ? end : end + 1;
  }
  EXPECT_EQ(names, (std::set<std::string>{"fail", "scale"}));
  EXPECT_EQ(find("fairgv_part_of_scale").code, 0) << "there is no such function, and nothing was tested";
}

TEST_F(CudaWorker, OrdersTheDefaultStreamAmongTheBlockingStreams) {
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  const wire::ObjectId first = make_stream(StreamKind::blocking);
  const wire::ObjectId second = make_stream(StreamKind::blocking);
  constexpr std::uint32_t kCount = 200'000;
  const std::uint64_t data = allocate(kCount * 4);
  write(legacy, data, numbers(kCount));
  scale(first, data, kCount, 1);   // 2 i
  scale(legacy, data, kCount, 2);  // 5 i
  scale(second, data, kCount, 3);  // 16 i
  const auto result = read(legacy, data, kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(result[i], 16 * i);
}

TEST_F(CudaWorker, WorkOfTheProgramHoldsUpOnlyItsOwnStream) {
  const wire::ObjectId other = make_stream(StreamKind::non_blocking);
  const wire::EventId work = client->events().acquire();
  client->send(wire::EnqueueHostWork{{legacy, work, {}}});
  const wire::EventId behind = client->events().acquire();
  client->send(wire::EnqueueMarker{{legacy, behind, {}}});
  EXPECT_EQ(finish(other), session::kComplete);
  EXPECT_EQ(client->wait_for_grant(work), session::kRunning);
  EXPECT_EQ(client->events().status(behind), session::kQueued);
  client->send(wire::EndAccess{work});
  EXPECT_EQ(client->wait(behind), session::kComplete);
  EXPECT_GE(client->events().times(behind).ended, client->events().times(work).ended);
  EXPECT_NE(client->events().times(behind).ended, 0U) << "records of events have a time";
}

TEST_F(CudaWorker, AReleasedDefaultStreamMayBeFollowedByAnotherWhileItsWorkIsUnderWay) {
  const wire::ObjectId blocking = make_stream(StreamKind::blocking);
  const wire::EventId work = client->events().acquire();
  client->send(wire::EnqueueHostWork{{legacy, work, {}}});
  write(legacy, allocate(sizeof(std::uint32_t)), numbers(1));
  client->send(wire::ReleaseObject{legacy});
  legacy = make_stream(StreamKind::legacy);
  EXPECT_EQ(client->wait_for_grant(work), session::kRunning);
  std::vector<wire::EventId> later;
  for (const wire::ObjectId stream : {blocking, legacy}) {
    later.push_back(client->events().acquire());
    client->send(wire::EnqueueMarker{{stream, later.back(), {}}});
  }
  ASSERT_TRUE(client->call(wire::Ping{})) << "the session is lost";
  for (const wire::EventId event : later) EXPECT_EQ(client->events().status(event), session::kQueued);
  client->send(wire::EndAccess{work});
  for (const wire::EventId event : later) EXPECT_EQ(client->wait(event), session::kComplete);
}

TEST_F(CudaWorker, ReportsTheErrorsOfAModule) {
  load("this is no module");
  EXPECT_GT(client->call(GetModule{module})->code, 0);
  EXPECT_GT(find("scale").code, 0);
  load(kPtx);
  EXPECT_EQ(find("nothing").code, kNotFound);
}

TEST_F(CudaWorker, ReportsAKernelsErrorLate) {
  load(kPtx);
  ASSERT_EQ(find("fail").code, 0);
  Launch launch;
  launch.command.queue = legacy;
  launch.function = function;
  client->send(launch);
  finish(legacy);
  EXPECT_EQ(ring::LateError::code(client->late_error()), static_cast<std::uint32_t>(kIllegalInstruction));
  // The error stays, and later launches do not run.
  launch.command.completion = client->events().acquire();
  client->send(launch);
  EXPECT_EQ(code_of(client->wait(launch.command.completion)), kIllegalInstruction);
}

TEST_F(CudaWorker, EndsASessionThatNamesUnknownObjects) {
  const std::vector<std::function<void()>> lies{
      [&] {
        client->send(FreeMemory{context, 0x1234});
      },
      [&] { scale(legacy, 0, 1, 1); },  // no function
      [&] {
        copy(legacy, {Space::arena, 0, ~std::uint64_t{0} - 8}, {Space::device, 0, 0}, 4096);
      },
      [&] {
        copy(context, {Space::device, 0, 0}, {Space::device, 0, 0}, 1);
      },
      [&] {
        client->send(CreateStream{client->new_object(), context, StreamKind::legacy, 0});
      },
      [&] { client->send(UnpinArena{0}); },
      [&] {
        client->send(wire::CreateContext{client->new_object(), {}});
      },  // OpenCL's call
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(connect("liar", {}));
    lies[i]();
    EXPECT_TRUE(is_over());
  }
}

TEST_F(CudaWorker, SharesTheDeviceWithProgramsOfOpencl) {
  auto other = start_long_program("bob");
  ASSERT_TRUE(progresses(other));
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  constexpr std::uint32_t kCount = 100'000;
  const std::uint64_t data = allocate(kCount * 4);
  write(legacy, data, numbers(kCount));
  for (int i = 0; i < 200; ++i) scale(legacy, data, kCount, 1);
  EXPECT_EQ(read(legacy, data, kCount)[5], 5U * 201);
  EXPECT_TRUE(progresses(other));
  const auto report = ps();
  EXPECT_EQ(report["devices"].size(), 1U) << "one device for both APIs: " << report["devices"].dump();
  EXPECT_GT(tenant("alice")["device_time_ns"][0].get<std::uint64_t>(), 0U);
}

}  // namespace
}  // namespace fairgv::integration::cuda_worker
