// Graphs built by hand: the order in which nodes run, the data that the graph keeps, and events in it.
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "graph_fixture.hpp"

namespace {

/// Numbers in the order in which host nodes ran.
struct Log {
  std::mutex lock;
  std::vector<int> numbers;
};
struct Entry {
  Log* log;
  int number;
  static void write(void* data) {
    const auto* const entry = static_cast<Entry*>(data);
    const std::lock_guard guard(entry->log->lock);
    entry->log->numbers.push_back(entry->number);
  }
};

}  // namespace

TEST_F(Graphs, NodesRunBehindThoseThatTheyDependOn) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int kNodes = 40;
  Log log;
  std::vector<Entry> entries(kNodes);
  std::vector<CUgraphNode> nodes(kNodes);
  for (int at = 0; at < kNodes; ++at) {
    entries[static_cast<std::size_t>(at)] = {&log, at};
    const CUDA_HOST_NODE_PARAMS host{&Entry::write, &entries[static_cast<std::size_t>(at)]};
    ASSERT_OK(cuGraphAddHostNode(&nodes[static_cast<std::size_t>(at)], graph_, nullptr, 0, &host));
  }
  std::vector<int> rank(kNodes);
  for (int at = 0; at < kNodes; ++at) rank[static_cast<std::size_t>(at)] = at;
  std::ranges::shuffle(rank, random);
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t from = 0; from < kNodes; ++from) {
    for (std::size_t to = 0; to < kNodes; ++to) {
      if (rank[from] >= rank[to] || random() % 8 != 0) continue;
      ASSERT_OK(cuGraphAddDependencies(graph_, &nodes[from], &nodes[to], nullptr, 1));
      edges.emplace_back(from, to);
    }
  }
  const CUgraphExec executable = instantiate(graph_);
  ASSERT_OK(cuGraphLaunch(executable, stream_));
  ASSERT_OK(cuStreamSynchronize(stream_));
  ASSERT_EQ(std::size_t{kNodes}, log.numbers.size());
  std::array<std::size_t, kNodes> place{};
  for (std::size_t at = 0; at < kNodes; ++at) place[static_cast<std::size_t>(log.numbers[at])] = at;
  for (const auto& [from, to] : edges) EXPECT_LT(place[from], place[to]) << from << " " << to;
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, AreAskedForWhatTheyHold) {
  const CUgraphNode first = append(graph_, {}, 1);
  const CUgraphNode second = append(graph_, {first}, 2);
  CUgraphNode empty = nullptr;
  const std::array before{first, second};
  ASSERT_OK(cuGraphAddEmptyNode(&empty, graph_, before.data(), 2));
  EXPECT_EQ((std::vector<CUgraphNode>{first, second, empty}), nodes_of(graph_));
  std::array<CUgraphNode, 4> list{};
  std::size_t count = list.size();
  EXPECT_OK(cuGraphGetRootNodes(graph_, list.data(), &count));
  EXPECT_EQ(1U, count);
  EXPECT_EQ((std::array<CUgraphNode, 4>{first}), list);
  std::array<CUgraphEdgeData, 4> data{};
  count = list.size();
  EXPECT_OK(cuGraphNodeGetDependencies(empty, list.data(), data.data(), &count));
  EXPECT_EQ(2U, count);
  EXPECT_EQ((std::array<CUgraphNode, 4>{first, second}), list);
  count = 1;
  EXPECT_OK(cuGraphNodeGetDependentNodes(first, list.data(), nullptr, &count));
  EXPECT_EQ(1U, count);
  EXPECT_EQ(second, list[0]);
  std::array<CUgraphNode, 4> to{};
  count = to.size();
  EXPECT_OK(cuGraphGetEdges(graph_, list.data(), to.data(), nullptr, &count));
  EXPECT_EQ(3U, count);
  EXPECT_EQ((std::array<CUgraphNode, 4>{first, first, second}), list);
  EXPECT_EQ((std::array<CUgraphNode, 4>{second, empty, empty}), to);
  CUgraphNodeType type{};
  EXPECT_OK(cuGraphNodeGetType(empty, &type));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_EMPTY, type);

  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph_, &first, &second, nullptr, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph_, &first, &first, nullptr, 1));
  EXPECT_OK(cuGraphRemoveDependencies(graph_, &first, &second, nullptr, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph_, &first, &second, nullptr, 1));
  EXPECT_OK(cuGraphDestroyNode(second));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(second));
  EXPECT_EQ((std::vector<CUgraphNode>{first, empty}), nodes_of(graph_));
  EXPECT_OK(cuGraphGetEdges(graph_, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(1U, count);
}

TEST_F(Graphs, ArgumentsAreThoseOfTheMomentWhenTheNodeWasMade) {
  Append parameters(*this, 7);
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters.node));
  parameters.digit = 9;
  // The other way to give the arguments.
  struct {
    CUdeviceptr number;
    unsigned digit;
  } packed{number_, 3};
  std::size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  parameters.node.kernelParams = nullptr;
  parameters.node.extra = extra;
  CUgraphNode second = nullptr;
  ASSERT_OK(cuGraphAddKernelNode(&second, graph_, &node, 1, &parameters.node));
  packed.digit = 4;
  const CUgraphExec executable = instantiate(graph_);
  EXPECT_EQ(73U, number_after(executable));
  EXPECT_EQ(7373U, number_after(executable, 2));

  CUDA_KERNEL_NODE_PARAMS read{};
  ASSERT_OK(cuGraphKernelNodeGetParams(node, &read));
  EXPECT_EQ(parameters.node.func, read.func);
  EXPECT_EQ(number_, *static_cast<CUdeviceptr*>(read.kernelParams[0]));
  EXPECT_EQ(7U, *static_cast<unsigned*>(read.kernelParams[1]));
  // An executable graph is a copy.
  unsigned other = 5;
  read.kernelParams[1] = &other;
  EXPECT_OK(cuGraphKernelNodeSetParams(node, &read));
  EXPECT_EQ(73U, number_after(executable));
  const Append five(*this, 5);
  EXPECT_OK(cuGraphExecKernelNodeSetParams(executable, second, &five.node));
  EXPECT_EQ(75U, number_after(executable));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(executable, stream_));
}

// A copy uses the program's memory as it is when the copy's turn comes, not when the graph is launched.
TEST_F(Graphs, PageableMemoryIsReadAndWrittenInItsTurn) {
  constexpr std::size_t kCount = 50000;
  struct Host {
    std::vector<unsigned> sent = std::vector<unsigned>(kCount, 0);
    std::vector<unsigned> received = std::vector<unsigned>(kCount, 0);
    unsigned value = 0;
    bool was_right = true;
  } host;
  const CUdeviceptr memory = allocate(kCount * 4);
  CUgraphNode fill = nullptr;
  CUgraphNode up = nullptr;
  CUgraphNode kernel = nullptr;
  CUgraphNode down = nullptr;
  CUgraphNode check = nullptr;
  const CUDA_HOST_NODE_PARAMS filling{[](void* data) {
                                        auto& own = *static_cast<Host*>(data);
                                        std::ranges::fill(own.sent, ++own.value);
                                      },
                                      &host};
  ASSERT_OK(cuGraphAddHostNode(&fill, graph_, nullptr, 0, &filling));
  auto copy = upload_of(memory, host.sent.data(), kCount * 4);
  ASSERT_OK(cuGraphAddMemcpyNode(&up, graph_, &fill, 1, &copy, context_));
  CUdeviceptr values = memory;
  int count = kCount;
  void* arguments[] = {&values, &count};
  const CUDA_KERNEL_NODE_PARAMS launch{
      function("increment"), 500, 1, 1, 100, 1, 1, 0, arguments, nullptr, nullptr, nullptr};
  ASSERT_OK(cuGraphAddKernelNode(&kernel, graph_, &up, 1, &launch));
  copy = download_of(host.received.data(), memory, kCount * 4);
  ASSERT_OK(cuGraphAddMemcpyNode(&down, graph_, &kernel, 1, &copy, context_));
  const CUDA_HOST_NODE_PARAMS checking{
      [](void* data) {
        auto& own = *static_cast<Host*>(data);
        own.was_right = own.was_right && own.received == std::vector<unsigned>(kCount, own.value + 1);
      },
      &host};
  ASSERT_OK(cuGraphAddHostNode(&check, graph_, &down, 1, &checking));
  const CUgraphExec executable = instantiate(graph_);
  {
    Gate gate;
    ASSERT_OK(gate.close(stream_));
    for (int round = 0; round < 3; ++round) EXPECT_OK(cuGraphLaunch(executable, stream_));
    EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
    EXPECT_EQ(0U, host.value);
    // Objects that running launches use stay until the launches have ended.
    EXPECT_OK(cuGraphExecDestroy(executable));
  }
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_TRUE(host.was_right);
  EXPECT_EQ(std::vector<unsigned>(kCount, 4), host.received);
}

TEST_F(Graphs, LaunchesOfOneExecutableRunOneAfterTheOtherInWhateverStreams) {
  append(graph_, {append(graph_, {}, 1)}, 2);
  const CUgraphExec executable = instantiate(graph_);
  CUstream other = nullptr;
  ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  {
    Gate gate;
    ASSERT_OK(gate.close(stream_));
    EXPECT_OK(cuGraphLaunch(executable, stream_));
    EXPECT_OK(cuGraphLaunch(executable, other));
    EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(other));
  }
  EXPECT_OK(cuStreamSynchronize(other));
  EXPECT_EQ(1212U, download<unsigned>(number_, 1)[0]);
  // The same behind a stream that is gone.
  EXPECT_OK(cuGraphLaunch(executable, other));
  EXPECT_OK(cuStreamDestroy(other));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(12121212U, download<unsigned>(number_, 1)[0]);
  EXPECT_OK(cuGraphUpload(executable, stream_));
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, ChildGraphsAreCopiedWhenTheyAreAdded) {
  CUgraph child = nullptr;
  ASSERT_OK(cuGraphCreate(&child, 0));
  const CUgraphNode inner = append(child, {}, 2);
  append(child, {inner}, 3);
  const CUgraphNode first = append(graph_, {}, 1);
  CUgraphNode embedded = nullptr;
  ASSERT_OK(cuGraphAddChildGraphNode(&embedded, graph_, &first, 1, child));
  append(graph_, {embedded}, 4);
  append(child, {}, 9);
  const CUgraphExec executable = instantiate(graph_);
  EXPECT_EQ(1234U, number_after(executable));

  CUgraph own = nullptr;
  ASSERT_OK(cuGraphChildGraphNodeGetGraph(embedded, &own));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(own));
  const auto own_nodes = nodes_of(own);
  ASSERT_EQ(2U, own_nodes.size());
  const Append six(*this, 6);
  EXPECT_OK(cuGraphExecKernelNodeSetParams(executable, own_nodes[1], &six.node));
  EXPECT_EQ(1264U, number_after(executable));
  // A whole child is replaced by one of the same shape, or not at all.
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(executable, embedded, child));
  CUgraph like = nullptr;
  ASSERT_OK(cuGraphCreate(&like, 0));
  append(like, {append(like, {}, 7)}, 8);
  EXPECT_OK(cuGraphExecChildGraphNodeSetParams(executable, embedded, like));
  EXPECT_EQ(1784U, number_after(executable));
  EXPECT_OK(cuGraphDestroy(child));
  EXPECT_OK(cuGraphDestroy(like));
  EXPECT_EQ(1784U, number_after(executable));
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, ClonesAreApartAndTheirNodesFound) {
  const CUgraphNode first = append(graph_, {}, 1);
  const CUgraphNode second = append(graph_, {first}, 2);
  CUgraph clone = nullptr;
  ASSERT_OK(cuGraphClone(&clone, graph_));
  CUgraphNode twin = nullptr;
  EXPECT_OK(cuGraphNodeFindInClone(&twin, second, clone));
  const Append five(*this, 5);
  EXPECT_OK(cuGraphKernelNodeSetParams(twin, &five.node));
  EXPECT_OK(cuGraphDestroyNode(second));
  const CUgraphExec of_clone = instantiate(clone);
  const CUgraphExec of_original = instantiate(graph_);
  EXPECT_EQ(15U, number_after(of_clone));
  EXPECT_EQ(1U, number_after(of_original));
  CUgraphNode none = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&none, twin, graph_));
  EXPECT_OK(cuGraphDestroy(clone));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(clone));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(twin));
  EXPECT_OK(cuGraphExecDestroy(of_clone));
  EXPECT_OK(cuGraphExecDestroy(of_original));
}

TEST_F(Graphs, EventNodesRecordAndWait) {
  CUevent awaited = nullptr;
  CUevent recorded = nullptr;
  ASSERT_OK(cuEventCreate(&awaited, CU_EVENT_DEFAULT));
  ASSERT_OK(cuEventCreate(&recorded, CU_EVENT_DEFAULT));
  CUgraphNode wait = nullptr;
  CUgraphNode record = nullptr;
  ASSERT_OK(cuGraphAddEventWaitNode(&wait, graph_, nullptr, 0, awaited));
  const CUgraphNode kernel = append(graph_, {wait}, 1);
  ASSERT_OK(cuGraphAddEventRecordNode(&record, graph_, &kernel, 1, recorded));
  CUevent read = nullptr;
  EXPECT_OK(cuGraphEventWaitNodeGetEvent(wait, &read));
  EXPECT_EQ(awaited, read);
  EXPECT_OK(cuGraphEventRecordNodeGetEvent(record, &read));
  EXPECT_EQ(recorded, read);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphEventRecordNodeGetEvent(wait, &read));
  const CUgraphExec executable = instantiate(graph_);
  CUstream other = nullptr;
  ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  {
    Gate gate;
    ASSERT_OK(gate.close(other));
    EXPECT_OK(cuEventRecord(awaited, other));
    EXPECT_OK(cuGraphLaunch(executable, stream_));
    EXPECT_CODE(CUDA_ERROR_NOT_READY, cuEventQuery(recorded));
  }
  EXPECT_OK(cuEventSynchronize(recorded));
  EXPECT_EQ(1U, download<unsigned>(number_, 1)[0]);
  EXPECT_OK(cuGraphExecEventRecordNodeSetEvent(executable, record, awaited));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuStreamDestroy(other));
}

TEST_F(Graphs, UserObjectsLiveAsLongAsAGraphOrItsLaunchKeepsThem) {
  std::atomic<int> destroyed{0};
  CUuserObject object = nullptr;
  ASSERT_OK(cuUserObjectCreate(
      &object, &destroyed, [](void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(1); }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  EXPECT_OK(cuUserObjectRetain(object, 2));
  EXPECT_OK(cuUserObjectRelease(object, 2));
  EXPECT_OK(cuGraphRetainUserObject(graph_, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
  const CUgraphExec executable = instantiate(graph_);
  EXPECT_OK(cuGraphDestroy(graph_));
  graph_ = nullptr;
  EXPECT_EQ(0, destroyed.load());
  {
    Gate gate;
    ASSERT_OK(gate.close(stream_));
    EXPECT_OK(cuGraphLaunch(executable, stream_));
    EXPECT_OK(cuGraphExecDestroy(executable));
    EXPECT_EQ(0, destroyed.load());
  }
  EXPECT_OK(cuStreamSynchronize(stream_));
  // The destructor runs on one of the driver's threads, for which no call waits.
  while (destroyed.load() == 0) std::this_thread::yield();
  EXPECT_EQ(1, destroyed.load());
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuUserObjectRetain(object, 1));
}
