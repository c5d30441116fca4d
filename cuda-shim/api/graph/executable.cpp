#include "cuda-shim/api/graph/executable.hpp"

#include <algorithm>
#include <utility>

#include "cuda-shim/api/graph/conditional/body_step.hpp"
#include "cuda-shim/api/graph/conditional/launch_of_conditions.hpp"
#include "cuda-shim/api/graph/graph_memory.hpp"
#include "cuda-shim/api/graph/node_work.hpp"
#include "cuda-shim/api/memory/copy_sides.hpp"

namespace fairgv::cuda {
namespace {

bool is_host(CUmemorytype type) {
  return type == CU_MEMORYTYPE_HOST;
}

/// A unified address may be in any memory but an array.
bool same_kind(CUmemorytype one, CUmemorytype other) {
  if (one == CU_MEMORYTYPE_ARRAY || other == CU_MEMORYTYPE_ARRAY) return one == other;
  if (one == CU_MEMORYTYPE_UNIFIED || other == CU_MEMORYTYPE_UNIFIED) return true;
  return is_host(one) == is_host(other);
}

/// Whether the stream's context has not ended.
bool is_of_a_context(const Driver& driver, const Stream& stream) {
  const auto context = driver.contexts.find(stream.group()->owner());
  return context && context->group() == stream.group();
}

/// The changes that cuGraphExecUpdate and the calls for single nodes do not allow.
CUgraphExecUpdateResult check_change(const LaunchCommand& before, const LaunchCommand& after) {
  if (before.function->module().owner() != after.function->module().owner())
    return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
  return before.shape.cooperative == after.shape.cooperative ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                             : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
}

CUgraphExecUpdateResult check_change(const CopyNode& before, const CopyNode& after) {
  const CUDA_MEMCPY3D& one = before.copy;
  const CUDA_MEMCPY3D& other = after.copy;
  return same_kind(one.srcMemoryType, other.srcMemoryType) &&
                 same_kind(one.dstMemoryType, other.dstMemoryType)
             ? CU_GRAPH_EXEC_UPDATE_SUCCESS
             : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

CUgraphExecUpdateResult check_change(const FillCommand& before, const FillCommand& after) {
  const Fill& one = before.fill;
  const Fill& other = after.fill;
  if (one.rows == 1 && other.rows == 1) return CU_GRAPH_EXEC_UPDATE_SUCCESS;
  const bool same = one.rows == other.rows && one.count == other.count && one.element == other.element &&
                    one.pitch == other.pitch;
  return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

CUgraphExecUpdateResult check_change(const AllocateNode& before, const AllocateNode& after) {
  return before.memory == after.memory ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                       : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

CUgraphExecUpdateResult check_change(const FreeNode& before, const FreeNode& after) {
  return before.address == after.address ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                         : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/// Everything else may change.
template <typename Same>
CUgraphExecUpdateResult check_change(const Same&, const Same&) {
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/// Whether a graph has allocated the memory, and nothing has freed it.
bool may_be_freed(const Driver& driver, CUdeviceptr address) {
  const auto allocation = driver.memory.find_begin(address);
  if (!allocation) return false;
  const GraphHold hold = allocation->hold.load(std::memory_order_acquire);
  return hold == GraphHold::live || hold == GraphHold::orphan;
}

/// The handle goes with the graph.
CUgraphExecUpdateResult check_change(const ConditionalNode& before, const ConditionalNode& after) {
  const bool same = before.type == after.type && before.bodies.size() == after.bodies.size() &&
                    before.condition->owner() == after.condition->owner();
  return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/// A node of a cycle in the graph, or in one within it; null: there is none.
GraphNode* node_on_cycle(const Graph& graph) {
  const auto order = topological_order(graph.dependencies());
  if (order.on_cycle) return graph.nodes()[*order.on_cycle].get();
  for (const auto& node : graph.nodes()) {
    for (const auto& inner : inner_graphs(node->work)) {
      if (GraphNode* const found = node_on_cycle(*inner); found != nullptr) return found;
    }
  }
  return nullptr;
}

/// The graphs within a node stay; their nodes take over by themselves.
void take_over(NodeWork& work, const NodeWork& like) {
  if (auto* const conditional = std::get_if<ConditionalNode>(&work)) {
    conditional->condition = std::get<ConditionalNode>(like).condition;
  } else if (!std::holds_alternative<ChildNode>(work)) {
    work = like;
  }
}

CUgraphExecUpdateResult check_change(const NodeWork& before, const NodeWork& after) {
  if (before.index() != after.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  return std::visit(
      [&after](const auto& work) {
        return check_change(work, std::get<std::decay_t<decltype(work)>>(after));
      },
      before);
}

}  // namespace

bool Executable::plan(Graph& graph, Steps& steps, GraphNode*& on_cycle) {
  const auto order = topological_order(graph.dependencies());
  if (order.on_cycle) {
    on_cycle = graph.nodes()[*order.on_cycle].get();
    return false;
  }
  for (const std::size_t number : order.nodes) {
    GraphNode* const node = graph.nodes()[number].get();
    nodes_.emplace(node->origin, node);
    if (const auto* const child = std::get_if<ChildNode>(&node->work)) {
      if (!plan(*child->graph, steps, on_cycle)) return false;
      continue;
    }
    Step& step = *steps.emplace_back(std::make_unique<Step>());
    step.node = node;
    steps_of_nodes_.emplace(node, &step);
    const auto* const conditional = std::get_if<ConditionalNode>(&node->work);
    if (conditional == nullptr) continue;
    conditional_steps_.push_back(&step);
    for (const auto& body : conditional->bodies) {
      if (!plan(*body, step.bodies.emplace_back(), on_cycle)) return false;
    }
  }
  return true;
}

std::shared_ptr<Executable> Executable::make(const Graph& graph, unsigned long long flags,
                                             GraphNode*& on_cycle) {
  auto made = std::make_shared<Executable>(flags);
  made->graph_ = graph.copy();
  GraphNode* copy_on_cycle = nullptr;
  if (made->plan(*made->graph_, made->steps_, copy_on_cycle)) return made;
  // For a cycle in a graph within it no node of this graph is reported.
  for (const auto& node : graph.nodes()) {
    if (node->id == copy_on_cycle->origin) on_cycle = node.get();
  }
  return nullptr;
}

CUresult Executable::check(Driver& driver, Context& context, Step& step, FoundPlaces& found,
                           MemoryThere& there) const {
  if (const auto* const launch = std::get_if<LaunchCommand>(&step.node->work)) {
    return launch->function->module().owner() == context.handle() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  }
  if (const auto* const node = std::get_if<CopyNode>(&step.node->work)) {
    const CUresult code = find_places(driver, node->copy, found.to, found.from, found.extent);
    if (code != CUDA_SUCCESS || is_empty(found.extent)) return code;
    return step.detour.prepare(driver, context, found.to, found.from, found.extent);
  }
  if (const auto* const fill = std::get_if<FillCommand>(&step.node->work))
    return find_filled(driver, fill->fill, found.filled);
  if (const auto* const node = std::get_if<AllocateNode>(&step.node->work)) {
    // Memory that an earlier launch has allocated is to be freed first (cuGraphLaunch).
    const bool frees_itself = (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    if (node->memory->is_live() && !frees_itself) return CUDA_ERROR_INVALID_VALUE;
    there[node->memory->parameters().dptr] = true;
    return CUDA_SUCCESS;
  }
  if (const auto* const node = std::get_if<FreeNode>(&step.node->work)) {
    const auto known = there.find(node->address);
    const bool is_there = known != there.end() ? known->second : may_be_freed(driver, node->address);
    there[node->address] = false;
    return is_there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  if (const auto* const record = std::get_if<RecordCommand>(&step.node->work))
    return record->event->owner == context.handle() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  if (const auto* const wait = std::get_if<WaitCommand>(&step.node->work))
    return wait->event->is_captured() ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
  if (const auto* const conditional = std::get_if<ConditionalNode>(&step.node->work))
    return conditional->condition->owner() == context.handle() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  return CUDA_SUCCESS;
}

CUresult Executable::check(Driver& driver, Context& context, const Steps& steps,
                           std::vector<Checked>& checked, MemoryThere& there) const {
  checked.reserve(steps.size());
  for (const auto& step : steps) {
    if (!step->is_enabled) continue;
    Checked& added = checked.emplace_back();
    added.step = step.get();
    CUresult code = check(driver, context, *step, added.places, there);
    if (code != CUDA_SUCCESS) return code;
    added.bodies.resize(step->bodies.size());
    for (std::size_t body = 0; body < step->bodies.size(); ++body) {
      code = check(driver, context, step->bodies[body], added.bodies[body], there);
      if (code != CUDA_SUCCESS) return code;
    }
  }
  return CUDA_SUCCESS;
}

/// A copy, because the executable graph may be changed while its bodies run.
ConditionalPlan Executable::plan_of(const Checked& checked) {
  const auto& node = std::get<ConditionalNode>(checked.step->node->work);
  ConditionalPlan plan{node.condition, node.type, {}};
  for (const auto& steps : checked.bodies) {
    auto& body = plan.bodies.emplace_back();
    for (const Checked& inner : steps) {
      if (std::holds_alternative<ConditionalNode>(inner.step->node->work)) {
        body.push_back({EmptyNode{}, {}, {}, std::make_shared<const ConditionalPlan>(plan_of(inner))});
      } else {
        body.push_back({inner.step->node->work, inner.places, inner.step->detour, nullptr});
      }
    }
  }
  return plan;
}

CUresult Executable::launch(Driver& driver, Context& context, const std::shared_ptr<Stream>& stream) {
  const std::lock_guard guard(lock_);
  // All checks come first: a launch happens whole or not at all.
  std::vector<Checked> checked;
  MemoryThere there;
  if (const CUresult code = check(driver, context, steps_, checked, there); code != CUDA_SUCCESS) return code;
  if (last_stream_ && last_stream_ != stream && is_of_a_context(driver, *last_stream_)) {
    const auto before = driver.scheduler.mark(last_stream_, nullptr);
    if (!before->done()) driver.scheduler.mark(stream, before);
  }
  last_stream_ = stream;
  if (conditional_steps_.empty()) return enqueue_all(driver, stream, checked);
  const LaunchOfConditions launch(conditions());
  CUresult code = launch.begin(driver, stream);
  if (code == CUDA_SUCCESS) code = enqueue_all(driver, stream, checked);
  launch.end(driver, stream);
  return code;
}

CUresult Executable::enqueue_all(Driver& driver, const std::shared_ptr<Stream>& stream,
                                 const std::vector<Checked>& checked) {
  for (const Checked& each : checked) {
    const Step& step = *each.step;
    const CUresult code = std::holds_alternative<ConditionalNode>(step.node->work)
                              ? driver.conductor.enqueue(stream, plan_of(each))
                              : enqueue_step(driver, stream, step.node->work, each.places, step.detour);
    if (code != CUDA_SUCCESS) return code;
  }
  return CUDA_SUCCESS;
}

std::vector<std::shared_ptr<Condition>> Executable::conditions() const {
  std::vector<std::shared_ptr<Condition>> conditions;
  for (const Step* const step : conditional_steps_)
    conditions.push_back(std::get<ConditionalNode>(step->node->work).condition);
  return conditions;
}

std::shared_ptr<Graph> Executable::as_graph() {
  const std::lock_guard guard(lock_);
  // Disabled nodes are made empty while the graph is copied.
  std::vector<std::pair<GraphNode*, NodeWork>> disabled;
  for (const auto& step : steps_) {
    if (!step->is_enabled) disabled.emplace_back(step->node, std::exchange(step->node->work, EmptyNode{}));
  }
  auto graph = graph_->copy();
  for (auto& [node, work] : disabled) node->work = std::move(work);
  return graph;
}

Executable::Update Executable::compare(const Graph& old_graph, const Graph& new_graph, Changes& changes) {
  const auto& nodes = new_graph.nodes();
  const Pairing pairs = pair_nodes(old_graph.dependencies(), new_graph.dependencies());
  if (!pairs.corresponds) {
    const auto node_of = [&nodes](const auto& number) { return number ? nodes[*number].get() : nullptr; };
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node_of(pairs.node), node_of(pairs.from)};
  }
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    GraphNode* const before = old_graph.nodes()[pairs.old_of_new[at]].get();
    const auto result = check_change(before->work, nodes[at]->work);
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return {result, nodes[at].get(), nullptr};
    const auto inner = inner_graphs(before->work);
    for (std::size_t part = 0; part < inner.size(); ++part) {
      const auto compared = compare(*inner[part], *inner_graphs(nodes[at]->work)[part], changes);
      if (compared.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return compared;
    }
    changes.emplace_back(before, nodes[at].get());
  }
  return {};
}

Executable::Update Executable::update(const Graph& graph) {
  if (GraphNode* const node = node_on_cycle(graph); node != nullptr)
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, nullptr};
  const std::lock_guard guard(lock_);
  Changes changes;
  const Update result = compare(*graph_, graph, changes);
  if (result.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return result;
  for (const auto& [node, like] : changes) take_over(node->work, like->work);
  return result;
}

GraphNode* Executable::node_of(const GraphNode& original) {
  const auto found = nodes_.find(original.id);
  return found == nodes_.end() ? nullptr : found->second;
}

Executable::Step* Executable::step_of(const GraphNode& original) {
  const auto found = steps_of_nodes_.find(node_of(original));
  return found == steps_of_nodes_.end() ? nullptr : found->second;
}

CUresult Executable::set_work(const GraphNode& original, NodeWork work) {
  const std::lock_guard guard(lock_);
  const Step* const step = step_of(original);
  if (step == nullptr) return CUDA_ERROR_INVALID_VALUE;
  keep_attributes(step->node->work, work);
  if (check_change(step->node->work, work) != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  step->node->work = std::move(work);
  return CUDA_SUCCESS;
}

CUresult Executable::set_child(const GraphNode& original, const Graph& graph) {
  const std::lock_guard guard(lock_);
  const GraphNode* const node = node_of(original);
  const auto* const child = node != nullptr ? std::get_if<ChildNode>(&node->work) : nullptr;
  if (child == nullptr || node_on_cycle(graph) != nullptr) return CUDA_ERROR_INVALID_VALUE;
  Changes changes;
  if (compare(*child->graph, graph, changes).result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [inner, like] : changes) take_over(inner->work, like->work);
  return CUDA_SUCCESS;
}

CUresult Executable::set_enabled(const GraphNode& original, bool enabled) {
  const std::lock_guard guard(lock_);
  Step* const step = step_of(original);
  if (step == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const NodeWork& work = step->node->work;
  const bool can = std::holds_alternative<LaunchCommand>(work) || std::holds_alternative<CopyNode>(work) ||
                   std::holds_alternative<FillCommand>(work);
  if (!can) return CUDA_ERROR_INVALID_VALUE;
  step->is_enabled = enabled;
  return CUDA_SUCCESS;
}

CUresult Executable::enabled(const GraphNode& original, bool& enabled) {
  const std::lock_guard guard(lock_);
  const Step* const step = step_of(original);
  if (step == nullptr) return CUDA_ERROR_INVALID_VALUE;
  enabled = step->is_enabled;
  return CUDA_SUCCESS;
}

namespace {

bool keeps_objects(const Graph& graph) {
  return !graph.kept.empty() || graph.has_memory_nodes() ||
         std::ranges::any_of(graph.nodes(), [](const auto& node) {
           return std::ranges::any_of(inner_graphs(node->work),
                                      [](const auto& inner) { return keeps_objects(*inner); });
         });
}

}  // namespace

std::shared_ptr<Stream> Executable::needed_until_end_of(const Driver& driver) {
  const std::lock_guard guard(lock_);
  // Kernels set conditions. Bodies keep their own detours.
  const bool holds = keeps_objects(*graph_) || !conditional_steps_.empty() ||
                     std::ranges::any_of(steps_, [](const auto& step) { return !step->detour.is_empty(); });
  return holds && last_stream_ && is_of_a_context(driver, *last_stream_) ? last_stream_ : nullptr;
}

}  // namespace fairgv::cuda
