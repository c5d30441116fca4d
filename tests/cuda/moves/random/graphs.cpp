// Graphs of a random CUDA program: captured from streams, or made node by node.
#include <algorithm>
#include <array>
#include <utility>

#include "tests/cuda/moves/random/commands.hpp"
#include "tests/cuda/moves/random/deeds.hpp"

namespace fairgv::moves::cuda {
namespace {

constexpr std::size_t kMostGraphs = 5;
constexpr std::uint32_t kMostRoundsInGraphs = 2'000;

/// All that its commands touch stays while it is there.
void finish(World& world, const std::shared_ptr<Graph>& graph) {
  FAIRGV_CHECKED(cuGraphInstantiate(&graph->exec, graph->graph, 0));
  const auto add = [&](const std::shared_ptr<Resource>& each) {
    auto& all = graph->touched;
    if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
  };
  for (const Command& command : graph->commands) {
    for (const auto& each : command.reads) add(each);
    for (const auto& each : command.writes) add(each);
  }
  for (const auto& each : graph->touched) ++each->holders;
  world.graphs.push_back(graph);
}

bool shares_memory(const Command& a, const Command& b) {
  const auto touches = [](const Command& command, const std::shared_ptr<Resource>& wanted) {
    return std::find(command.reads.begin(), command.reads.end(), wanted) != command.reads.end() ||
           std::find(command.writes.begin(), command.writes.end(), wanted) != command.writes.end();
  };
  return std::any_of(a.writes.begin(), a.writes.end(), [&](const auto& each) { return touches(b, each); }) ||
         std::any_of(b.writes.begin(), b.writes.end(), [&](const auto& each) { return touches(a, each); });
}

}  // namespace

void capture_graph(World& world) {
  if (world.graphs.size() == kMostGraphs) return;
  const auto graph = std::make_shared<Graph>();
  for (std::uint64_t more = world.random.between(1, 5); more > 0; --more) {
    if (auto command = any_command(world)) graph->commands.push_back(std::move(*command));
  }
  if (graph->commands.empty()) return;
  world.open_gates();
  std::array<CUstream, 2> streams{};
  for (CUstream& stream : streams) FAIRGV_CHECKED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUevent fork = nullptr, join = nullptr;
  for (CUevent* const event : {&fork, &join}) FAIRGV_CHECKED(cuEventCreate(event, CU_EVENT_DISABLE_TIMING));
  FAIRGV_CHECKED(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  std::size_t next = 0;
  // Two that have nothing to do with each other may run side by side.
  if (graph->commands.size() > 1 && !shares_memory(graph->commands[0], graph->commands[1])) {
    FAIRGV_CHECKED(cuEventRecord(fork, streams[0]));
    FAIRGV_CHECKED(cuStreamWaitEvent(streams[1], fork, 0));
    graph->commands[next++].issue(streams[1]);
    graph->commands[next++].issue(streams[0]);
    FAIRGV_CHECKED(cuEventRecord(join, streams[1]));
    FAIRGV_CHECKED(cuStreamWaitEvent(streams[0], join, 0));
  }
  for (; next < graph->commands.size(); ++next) graph->commands[next].issue(streams[0]);
  FAIRGV_CHECKED(cuStreamEndCapture(streams[0], &graph->graph));
  for (const CUevent event : {fork, join}) FAIRGV_CHECKED(cuEventDestroy(event));
  for (const CUstream stream : streams) FAIRGV_CHECKED(cuStreamDestroy(stream));
  if (world.random.one_in(3)) {
    CUgraph clone = nullptr;
    FAIRGV_CHECKED(cuGraphClone(&clone, graph->graph));
    FAIRGV_CHECKED(cuGraphDestroy(std::exchange(graph->graph, clone)));
  }
  finish(world, graph);
}

/// A chain: a kernel, a fill of other memory, and the kernel again.
void build_graph(World& world) {
  if (world.graphs.size() == kMostGraphs || world.modules.empty() || world.buffers.empty()) return;
  const auto module = world.random.of(world.modules);
  const auto data = world.random.of(world.buffers);
  const auto filled = world.random.of(world.buffers);
  if (data->kind == Buffer::Kind::of_stream || filled->kind == Buffer::Kind::of_stream) return;
  world.open_gates();
  const auto graph = std::make_shared<Graph>();
  FAIRGV_CHECKED(cuGraphCreate(&graph->graph, 0));
  CUcontext context = nullptr;
  FAIRGV_CHECKED(cuCtxGetCurrent(&context));
  Work work{module->function("work"), data->address, data->numbers,
            static_cast<std::uint32_t>(world.random.below(kMostRoundsInGraphs))};
  void* arguments[3];
  const CUDA_KERNEL_NODE_PARAMS kernel = work.node(arguments);
  std::array<CUgraphNode, 3> nodes{};
  FAIRGV_CHECKED(cuGraphAddKernelNode(&nodes[0], graph->graph, nullptr, 0, &kernel));
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = filled->address;
  fill.value = static_cast<unsigned>(world.random.next());
  fill.elementSize = sizeof(std::uint32_t);
  fill.width = world.random.between(1, filled->numbers);
  fill.height = 1;
  FAIRGV_CHECKED(cuGraphAddMemsetNode(&nodes[1], graph->graph, &nodes[0], 1, &fill, context));
  FAIRGV_CHECKED(cuGraphAddKernelNode(&nodes[2], graph->graph, &nodes[1], 1, &kernel));
  graph->commands.push_back({{}, {module}, {data, filled}});
  graph->changeable = nodes[world.random.one_in(2) ? 0 : 2];
  graph->changeable_data = data;
  graph->changeable_function = work.function;
  finish(world, graph);
}

void launch_graph(World& world) {
  if (world.graphs.empty()) return;
  const auto graph = world.random.of(world.graphs);
  const Number stream = world.any_stream();
  std::vector<std::shared_ptr<Resource>> writes = graph->touched;
  writes.push_back(graph);
  world.begin(stream, {}, writes);
  FAIRGV_CHECKED(cuGraphLaunch(graph->exec, world.handle(stream)));
}

void change_graph(World& world) {
  if (world.graphs.empty()) return;
  const auto graph = world.random.of(world.graphs);
  if (graph->changeable == nullptr) return;
  Work work{graph->changeable_function, graph->changeable_data->address, graph->changeable_data->numbers,
            static_cast<std::uint32_t>(world.random.below(kMostRoundsInGraphs))};
  void* arguments[3];
  const CUDA_KERNEL_NODE_PARAMS kernel = work.node(arguments);
  FAIRGV_CHECKED(cuGraphExecKernelNodeSetParams(graph->exec, graph->changeable, &kernel));
}

void destroy(World& world, Graph& graph) {
  world.begin_on_host(graph, true);
  FAIRGV_CHECKED(cuGraphExecDestroy(graph.exec));
  FAIRGV_CHECKED(cuGraphDestroy(graph.graph));
  for (const auto& each : graph.touched) --each->holders;
}

void destroy_graph(World& world) {
  if (world.graphs.empty()) return;
  std::swap(world.graphs[world.random.below(world.graphs.size())], world.graphs.back());
  destroy(world, *world.graphs.back());
  world.graphs.pop_back();
}

}  // namespace fairgv::moves::cuda
