#include "cuda-shim/api/graph/node_work.hpp"

#include "cuda-shim/api/code/library.hpp"
#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/graph/conditional/choice.hpp"
#include "cuda-shim/api/graph/conditional/condition.hpp"
#include "cuda-shim/api/graph/graph_memory.hpp"
#include "cuda-shim/api/graph/graphs.hpp"
#include "cuda-shim/api/memory/copy_sides.hpp"

namespace fairgv::cuda {
namespace {

template <typename From>
CUDA_KERNEL_NODE_PARAMS newest(const From& p) {
  return {p.func,      p.gridDimX,       p.gridDimY,     p.gridDimZ, p.blockDimX, p.blockDimY,
          p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra,    p.kern,      p.ctx};
}

CUresult child_work(Driver& driver, const CUDA_CHILD_GRAPH_NODE_PARAMS& p, NodeWork& work) {
  if (p.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(driver.graphs.lock);
  const auto graph = driver.graphs.graphs.find(p.graph);
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  if (graph->is_one_of_a_kind()) return CUDA_ERROR_NOT_SUPPORTED;
  work = ChildNode{graph->copy()};
  return CUDA_SUCCESS;
}

CUresult conditional_work(Driver& driver, CUDA_CONDITIONAL_NODE_PARAMS& p, NodeWork& work) {
  CUresult code = CUDA_SUCCESS;
  const auto context = named_or_current(driver, p.ctx, code);
  if (!context) return code;
  ConditionalNode node{driver.graphs.find_condition(p.handle), p.type, {}, {}};
  if (!node.condition || node.condition->owner() != context->handle() || !is_body_count(p.type, p.size))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned body = 0; body < p.size; ++body)
    node.handles.push_back(node.bodies.emplace_back(std::make_shared<Graph>())->handle());
  p.phGraph_out = node.handles.data();
  work = std::move(node);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult check_place(const Graph& graph, const NodeWork& work) {
  if (graph.is_in_body && !fits_in_body(work)) return CUDA_ERROR_NOT_SUPPORTED;
  const auto* const conditional = std::get_if<ConditionalNode>(&work);
  if (conditional == nullptr) return CUDA_SUCCESS;
  const auto made_for = conditional->condition->graph();
  return made_for && made_for->holds(graph) && !conditional->condition->is_used ? CUDA_SUCCESS
                                                                                : CUDA_ERROR_INVALID_VALUE;
}

CUresult kernel_work(Driver& driver, const CUDA_KERNEL_NODE_PARAMS& p, NodeWork& work) {
  CUresult code = CUDA_SUCCESS;
  // A function already belongs to a context.
  const auto context = named_or_current(driver, p.func != nullptr ? nullptr : p.ctx, code);
  if (!context) return code;
  const auto handle = p.func != nullptr ? p.func : reinterpret_cast<CUfunction>(p.kern);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  LaunchCommand launch;
  launch.function = find_function(driver, *context, handle, code);
  if (!launch.function) return code;
  if (launch.function->handle() != handle) launch.kernel = reinterpret_cast<CUkernel>(handle);
  launch.shape = {{p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ}};
  launch.shape.dynamic_shared = p.sharedMemBytes;
  code = check_shape(driver, launch.function->module().device(), *launch.function, launch.shape);
  if (code == CUDA_SUCCESS)
    code = gather_parameters(*launch.function, p.kernelParams, p.extra, launch.parameters);
  if (code == CUDA_SUCCESS) work = std::move(launch);
  return code;
}

CUresult copy_work(Driver& driver, const CUDA_MEMCPY3D& p, CUcontext context, NodeWork& work) {
  CUresult code = CUDA_SUCCESS;
  if (!named_or_current(driver, context, code)) return code;
  Place to;
  Place from;
  Extent extent;
  code = find_places(driver, p, to, from, extent);
  if (code == CUDA_SUCCESS) work = CopyNode{p};
  return code;
}

CUresult fill_work(Driver& driver, const CUDA_MEMSET_NODE_PARAMS& p, CUcontext context, NodeWork& work) {
  CUresult code = CUDA_SUCCESS;
  if (!named_or_current(driver, context, code)) return code;
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return CUDA_ERROR_INVALID_VALUE;
  const Fill fill{p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
  code = check_fill(driver, fill);
  if (code == CUDA_SUCCESS) work = FillCommand{fill};
  return code;
}

CUresult host_work(const CUDA_HOST_NODE_PARAMS& p, NodeWork& work) {
  if (p.fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  work = HostCommand{p.fn, p.userData};
  return CUDA_SUCCESS;
}

CUresult allocate_work(Driver& driver, CUDA_MEM_ALLOC_NODE_PARAMS& p, NodeWork& work) {
  CUresult code = CUDA_SUCCESS;
  const auto context = current_context(code);
  if (!context) return code;
  AllocateNode node;
  code = GraphMemory::make(driver, *context, p, node.memory);
  if (code != CUDA_SUCCESS) return code;
  p.dptr = node.memory->parameters().dptr;
  work = std::move(node);
  return CUDA_SUCCESS;
}

CUresult free_work(Driver& driver, CUdeviceptr address, NodeWork& work) {
  const auto allocation = driver.memory.find_begin(address);
  if (!allocation || allocation->kind != MemoryKind::graph) return CUDA_ERROR_INVALID_VALUE;
  work = FreeNode{address};
  return CUDA_SUCCESS;
}

CUresult any_work(Driver& driver, CUgraphNodeParams& p, NodeWork& work) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return kernel_work(driver, newest(p.kernel), work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return p.memcpy.flags != 0 ? CUDA_ERROR_INVALID_VALUE
                                 : copy_work(driver, p.memcpy.copyParams, p.memcpy.copyCtx, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return fill_work(driver,
                       {p.memset.dst, p.memset.pitch, p.memset.value, p.memset.elementSize, p.memset.width,
                        p.memset.height},
                       p.memset.ctx, work);
    case CU_GRAPH_NODE_TYPE_HOST:
      return host_work({p.host.fn, p.host.userData}, work);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return child_work(driver, p.graph, work);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      work = EmptyNode{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      CUDA_MEM_ALLOC_NODE_PARAMS older{p.alloc.poolProps, p.alloc.accessDescs, p.alloc.accessDescCount,
                                       p.alloc.bytesize, 0};
      const CUresult code = allocate_work(driver, older, work);
      if (code == CUDA_SUCCESS) p.alloc.dptr = older.dptr;
      return code;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return free_work(driver, p.free.dptr, work);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return event_work<WaitCommand>(driver, p.eventWait.event, work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_work<RecordCommand>(driver, p.eventRecord.event, work);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return conditional_work(driver, p.conditional, work);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

void keep_attributes(const NodeWork& before, NodeWork& after) {
  const auto* const old_launch = std::get_if<LaunchCommand>(&before);
  auto* const launch = std::get_if<LaunchCommand>(&after);
  if (old_launch == nullptr || launch == nullptr) return;
  launch->shape.cooperative = old_launch->shape.cooperative;
  launch->shape.priority = old_launch->shape.priority;
  for (std::size_t at = 0; at < 3; ++at) launch->shape.cluster[at] = old_launch->shape.cluster[at];
}

CUDA_KERNEL_NODE_PARAMS describe(GraphNode& node, LaunchCommand& launch) {
  node.parameter_pointers.clear();
  auto* const bytes = reinterpret_cast<std::byte*>(launch.parameters.data());
  for (const ParameterPlace& place : launch.function->facts().parameters)
    node.parameter_pointers.push_back(bytes + place.offset);
  const auto& [grid, block, shared, cluster, cooperative, priority] = launch.shape;
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = launch.function->handle();
  p.gridDimX = grid[0];
  p.gridDimY = grid[1];
  p.gridDimZ = grid[2];
  p.blockDimX = block[0];
  p.blockDimY = block[1];
  p.blockDimZ = block[2];
  p.sharedMemBytes = static_cast<unsigned>(shared);
  p.kernelParams = node.parameter_pointers.empty() ? nullptr : node.parameter_pointers.data();
  p.kern = launch.kernel;
  p.ctx = launch.function->module().owner();
  return p;
}

CUDA_MEMSET_NODE_PARAMS describe(const FillCommand& command) {
  const Fill& fill = command.fill;
  return {fill.address, fill.pitch, fill.value, static_cast<unsigned>(fill.element), fill.count, fill.rows};
}

}  // namespace fairgv::cuda
