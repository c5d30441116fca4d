// Graphs built by hand: what runs in which order, what changes afterwards, and what is refused.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "fixture.hpp"

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

CUDA_MEMCPY3D linear(CUmemorytype to_type, void* to, CUdeviceptr to_device, CUmemorytype from_type,
                     const void* from, CUdeviceptr from_device, std::size_t bytes) {
  CUDA_MEMCPY3D p{};
  p.dstMemoryType = to_type;
  p.dstHost = to;
  p.dstDevice = to_device;
  p.dstPitch = bytes;
  p.srcMemoryType = from_type;
  p.srcHost = from;
  p.srcDevice = from_device;
  p.srcPitch = bytes;
  p.WidthInBytes = bytes;
  p.Height = 1;
  p.Depth = 1;
  return p;
}
CUDA_MEMCPY3D upload_of(CUdeviceptr to, const void* from, std::size_t bytes) {
  return linear(CU_MEMORYTYPE_DEVICE, nullptr, to, CU_MEMORYTYPE_HOST, from, 0, bytes);
}
CUDA_MEMCPY3D download_of(void* to, CUdeviceptr from, std::size_t bytes) {
  return linear(CU_MEMORYTYPE_HOST, to, 0, CU_MEMORYTYPE_DEVICE, nullptr, from, bytes);
}

}  // namespace

class Graphs : public WithModule {
 protected:
  void SetUp() override {
    WithModule::SetUp();
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuGraphCreate(&graph_, 0));
    number_ = allocate(4);
    ASSERT_OK(cuMemsetD32(number_, 0, 1));
    ASSERT_OK(cuCtxSynchronize());
  }
  void TearDown() override {
    if (graph_ != nullptr) {
      EXPECT_OK(cuGraphDestroy(graph_));
    }
    WithModule::TearDown();
  }

  /// A kernel node's parameters: the number, and a digit that is put behind it.
  struct Append {
    Append(Graphs& test, unsigned of_digit, CUdeviceptr of_number = 0)
        : number(of_number != 0 ? of_number : test.number_), digit(of_digit) {
      node.func = test.function("append");
      node.gridDimX = node.gridDimY = node.gridDimZ = 1;
      node.blockDimX = node.blockDimY = node.blockDimZ = 1;
      node.kernelParams = arguments;
    }
    CUdeviceptr number;
    unsigned digit;
    void* arguments[2] = {&number, &digit};
    CUDA_KERNEL_NODE_PARAMS node{};
  };

  CUgraphNode append(CUgraph graph, std::vector<CUgraphNode> before, unsigned digit) {
    const Append parameters(*this, digit);
    CUgraphNode node = nullptr;
    EXPECT_OK(cuGraphAddKernelNode(&node, graph, before.data(), before.size(), &parameters.node));
    return node;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
    return executable;
  }
  /// What launches make of the number 0.
  unsigned number_after(CUgraphExec executable, int launches = 1) {
    EXPECT_OK(cuMemsetD32Async(number_, 0, 1, stream_));
    for (int at = 0; at < launches; ++at) EXPECT_OK(cuGraphLaunch(executable, stream_));
    EXPECT_OK(cuStreamSynchronize(stream_));
    return download<unsigned>(number_, 1)[0];
  }
  std::vector<CUgraphNode> nodes_of(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    EXPECT_OK(cuGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
  }

  CUstream stream_ = nullptr;
  CUgraph graph_ = nullptr;
  CUdeviceptr number_ = 0;
};

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
  // The other way to give them.
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

// The program's own memory counts when the copy's turn comes, not when the graph is launched.
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
    // What launches under way use stays until they have ended.
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
  // Behind a stream that is gone, too.
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
  // A whole child: of the same shape, or not at all.
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

TEST_F(Graphs, AnExecutableTakesTheParametersOfAGraphOfTheSameShape) {
  append(graph_, {append(graph_, {}, 1)}, 2);
  const CUgraphExec executable = instantiate(graph_);
  CUgraph other = nullptr;
  ASSERT_OK(cuGraphCreate(&other, 0));
  const CUgraphNode second = append(other, {}, 4);
  const CUgraphNode first = append(other, {}, 3);
  // In another order of adding: the edges say what corresponds.
  ASSERT_OK(cuGraphAddDependencies(other, &first, &second, nullptr, 1));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_OK(cuGraphExecUpdate(executable, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_SUCCESS, info.result);
  EXPECT_EQ(34U, number_after(executable));
  const CUgraphNode third = append(other, {second}, 5);
  EXPECT_CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
  EXPECT_EQ(nullptr, info.errorNode);
  EXPECT_OK(cuGraphDestroyNode(third));
  EXPECT_OK(cuGraphDestroyNode(second));
  CUgraphNode empty = nullptr;
  ASSERT_OK(cuGraphAddEmptyNode(&empty, other, &first, 1));
  EXPECT_CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, info.result);
  EXPECT_EQ(empty, info.errorNode);
  EXPECT_EQ(34U, number_after(executable)) << "an update that fails changes nothing";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecUpdate(executable, nullptr, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR, info.result);
  EXPECT_OK(cuGraphDestroy(other));
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, CopiesAndFillsCanBeChangedWithinLimits) {
  const CUdeviceptr from = allocate(64);
  const CUdeviceptr to = allocate(64);
  const CUdeviceptr other = allocate(64);
  const CUDA_MEMSET_NODE_PARAMS filling{from, 0, 0x01020304, 4, 16, 1};
  CUgraphNode fill = nullptr;
  ASSERT_OK(cuGraphAddMemsetNode(&fill, graph_, nullptr, 0, &filling, context_));
  auto copying = linear(CU_MEMORYTYPE_DEVICE, nullptr, to, CU_MEMORYTYPE_DEVICE, nullptr, from, 64);
  CUgraphNode copy = nullptr;
  ASSERT_OK(cuGraphAddMemcpyNode(&copy, graph_, &fill, 1, &copying, context_));
  CUDA_MEMSET_NODE_PARAMS read_fill{};
  EXPECT_OK(cuGraphMemsetNodeGetParams(fill, &read_fill));
  EXPECT_EQ(0, std::memcmp(&filling, &read_fill, sizeof filling));
  CUDA_MEMCPY3D read_copy{};
  EXPECT_OK(cuGraphMemcpyNodeGetParams(copy, &read_copy));
  EXPECT_EQ(0, std::memcmp(&copying, &read_copy, sizeof copying));

  const CUgraphExec executable = instantiate(graph_);
  copying.dstDevice = other;
  EXPECT_OK(cuGraphExecMemcpyNodeSetParams(executable, copy, &copying, context_));
  const CUDA_MEMSET_NODE_PARAMS refilling{from, 0, 7, 1, 64, 1};
  EXPECT_OK(cuGraphExecMemsetNodeSetParams(executable, fill, &refilling, context_));
  EXPECT_OK(cuMemsetD8(to, 1, 64));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(std::vector<unsigned char>(64, 7), download<unsigned char>(other, 64));
  EXPECT_EQ(std::vector<unsigned char>(64, 1), download<unsigned char>(to, 64));
  std::array<unsigned char, 64> host{};
  const auto to_host = download_of(host.data(), from, 64);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(executable, copy, &to_host, context_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(executable, fill, &copying, context_));
  EXPECT_OK(cuGraphExecDestroy(executable));

  CUDA_MEMSET_NODE_PARAMS bad = filling;
  bad.elementSize = 3;
  CUgraphNode none = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&none, graph_, nullptr, 0, &bad, context_));
  bad = filling;
  bad.width = 17;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&none, graph_, nullptr, 0, &bad, context_));
  copying.WidthInBytes = 65;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemcpyNode(&none, graph_, nullptr, 0, &copying, context_));
}

TEST_F(Graphs, ALaunchWhoseMemoryIsGoneIsRefusedWhole) {
  const CUdeviceptr memory = allocate(64);
  append(graph_, {}, 1);
  const CUDA_MEMSET_NODE_PARAMS filling{memory, 0, 1, 1, 64, 1};
  CUgraphNode fill = nullptr;
  ASSERT_OK(cuGraphAddMemsetNode(&fill, graph_, nullptr, 0, &filling, context_));
  const CUgraphExec executable = instantiate(graph_);
  EXPECT_EQ(1U, number_after(executable));
  EXPECT_OK(cuMemFree(memory));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(1U, download<unsigned>(number_, 1)[0]);
  EXPECT_OK(cuGraphNodeSetEnabled(executable, fill, 0));
  EXPECT_EQ(1U, number_after(executable));
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, NodesCanBeDisabled) {
  const CUgraphNode first = append(graph_, {}, 1);
  append(graph_, {first}, 2);
  CUgraphNode empty = nullptr;
  ASSERT_OK(cuGraphAddEmptyNode(&empty, graph_, nullptr, 0));
  const CUgraphExec executable = instantiate(graph_);
  unsigned enabled = 0;
  EXPECT_OK(cuGraphNodeGetEnabled(executable, first, &enabled));
  EXPECT_EQ(1U, enabled);
  EXPECT_OK(cuGraphNodeSetEnabled(executable, first, 0));
  EXPECT_OK(cuGraphNodeGetEnabled(executable, first, &enabled));
  EXPECT_EQ(0U, enabled);
  EXPECT_EQ(2U, number_after(executable));
  EXPECT_OK(cuGraphNodeSetEnabled(executable, first, 1));
  EXPECT_EQ(12U, number_after(executable));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(executable, empty, 0));
  EXPECT_OK(cuGraphExecDestroy(executable));
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

TEST_F(Graphs, WhatIsWrongOrNotThereIsSaid) {
  CUgraphNode node = append(graph_, {}, 1);
  const CUgraphNode next = append(graph_, {node}, 2);
  ASSERT_OK(cuGraphAddDependencies(graph_, &next, &node, nullptr, 1));
  CUgraphExec executable = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&executable, graph_, 0));
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&executable, graph_, &parameters));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, parameters.result_out);
  EXPECT_TRUE(parameters.hErrNode_out == node || parameters.hErrNode_out == next);
  EXPECT_OK(cuGraphRemoveDependencies(graph_, &next, &node, nullptr, 1));
  EXPECT_OK(cuGraphInstantiateWithParams(&executable, graph_, &parameters));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_SUCCESS, parameters.result_out);
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecDestroy(executable));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED,
              cuGraphInstantiate(&executable, graph_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));

  CUgraphNode none = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(nullptr, 0));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(&graph, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&none, nullptr, nullptr, 0));
  const std::array twice{node, node};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&none, graph_, twice.data(), 2));
  Append parameters_of_kernel(*this, 1);
  parameters_of_kernel.node.blockDimX = 1U << 20U;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuGraphAddKernelNode(&none, graph_, nullptr, 0, &parameters_of_kernel.node));
  CUgraphEdgeData edge{};
  edge.from_port = 1;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphRemoveDependencies(graph_, &node, &next, &edge, 1));
  CUgraphNodeParams allocation{};
  allocation.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&none, graph_, nullptr, nullptr, 0, &allocation));
  CUgraphConditionalHandle conditional = 0;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphConditionalHandleCreate(&conditional, graph_, context_, 0, 0));
  CUgraphNodeParams empty{};
  empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(node, &empty));
  EXPECT_OK(cuGraphAddNode(&none, graph_, nullptr, nullptr, 0, &empty));
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
  // It goes on a thread of the driver's, for which no call waits.
  while (destroyed.load() == 0) std::this_thread::yield();
  EXPECT_EQ(1, destroyed.load());
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuUserObjectRetain(object, 1));
}

TEST_F(Graphs, OldVersionsOfTheCallsDoTheSame) {
  const auto find = [](const char* name, int version) {
    void* function = nullptr;
    EXPECT_OK(cuGetProcAddress(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
    return function;
  };
  const auto add =
      reinterpret_cast<CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                                    const CUDA_KERNEL_NODE_PARAMS_v1*)>(find("cuGraphAddKernelNode", 11000));
  const auto connect =
      reinterpret_cast<CUresult (*)(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t)>(
          find("cuGraphAddDependencies", 12000));
  const auto instantiate_11 =
      reinterpret_cast<CUresult (*)(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t)>(
          find("cuGraphInstantiate", 11000));
  const auto update =
      reinterpret_cast<CUresult (*)(CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*)>(
          find("cuGraphExecUpdate", 11000));
  const Append now(*this, 1);
  const CUDA_KERNEL_NODE_PARAMS_v1 old{now.node.func, 1, 1, 1, 1, 1, 1, 0, now.node.kernelParams, nullptr};
  CUgraphNode first = nullptr;
  CUgraphNode second = nullptr;
  EXPECT_OK(add(&first, graph_, nullptr, 0, &old));
  second = append(graph_, {}, 2);
  EXPECT_OK(connect(graph_, &first, &second, 1));
  CUgraphExec executable = nullptr;
  CUgraphNode error = first;
  std::array<char, 8> log{'x'};
  EXPECT_OK(instantiate_11(&executable, graph_, &error, log.data(), log.size()));
  EXPECT_EQ(nullptr, error);
  EXPECT_EQ('\0', log[0]);
  EXPECT_EQ(12U, number_after(executable));
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
  EXPECT_OK(update(executable, graph_, &error, &result));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_SUCCESS, result);
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, AreDrawn) {
  append(graph_, {append(graph_, {}, 1)}, 2);
  const auto path = std::filesystem::temp_directory_path() / ("graph-" + std::to_string(::getpid()) + ".dot");
  EXPECT_OK(cuGraphDebugDotPrint(graph_, path.c_str(), 0));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::filesystem::remove(path);
  EXPECT_EQ(0U, text.find("digraph"));
  EXPECT_NE(std::string::npos, text.find("kernel append"));
  EXPECT_NE(std::string::npos, text.find(" -> "));
  EXPECT_CODE(CUDA_ERROR_OPERATING_SYSTEM, cuGraphDebugDotPrint(graph_, "/nowhere/graph.dot", 0));
}
