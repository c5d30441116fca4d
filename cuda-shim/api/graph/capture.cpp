#include "cuda-shim/api/graph/capture.hpp"

#include <algorithm>
#include <unordered_set>

#include "cuda-shim/api/command.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/graph/executable.hpp"
#include "cuda-shim/api/graph/graph.hpp"
#include "cuda-shim/api/memory/copy_sides.hpp"

namespace fairgv::cuda {
namespace {

CUresult invalidate(CaptureSequence& sequence, CUresult code) {
  sequence.is_invalid = true;
  return code;
}

bool has_blocking_stream_of(const CaptureSequence& sequence, const StreamGroup& group) {
  return std::ranges::any_of(sequence.branches, [&group](const CaptureBranch& branch) {
    return branch.stream->kind() == StreamKind::blocking && branch.stream->group().get() == &group;
  });
}

/// Whether every branch's tips are behind the tips of the first branch.
bool is_joined(const CaptureSequence& sequence) {
  std::unordered_set<const GraphNode*> reached;
  std::vector<const GraphNode*> next;
  const auto reach = [&](const std::vector<GraphNode*>& nodes) {
    for (const GraphNode* const node : nodes) {
      if (reached.insert(node).second) next.push_back(node);
    }
  };
  reach(sequence.branches.front().tips);
  while (!next.empty()) {
    const GraphNode* const node = next.back();
    next.pop_back();
    reach(node->dependencies);
  }
  return std::ranges::all_of(sequence.branches, [&reached](const CaptureBranch& branch) {
    return std::ranges::all_of(branch.tips, [&](const GraphNode* tip) { return reached.contains(tip); });
  });
}

void add_tips(std::vector<GraphNode*>& tips, const std::vector<GraphNode*>& others) {
  for (GraphNode* const other : others) {
    if (std::ranges::find(tips, other) == tips.end()) tips.push_back(other);
  }
}

}  // namespace

CUstreamCaptureMode& thread_capture_mode() {
  static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

Captures::Found Captures::find(const Stream& stream) const {
  for (const auto& sequence : sequences_) {
    for (CaptureBranch& branch : sequence->branches) {
      if (branch.stream.get() == &stream) return {sequence.get(), &branch};
    }
  }
  return {};
}

/// Whether the legacy stream would have to wait for commands that are only being captured.
bool Captures::is_implicit(const Stream& stream) const {
  if (stream.kind() != StreamKind::legacy) return false;
  return std::ranges::any_of(sequences_, [&stream](const auto& sequence) {
    return has_blocking_stream_of(*sequence, *stream.group());
  });
}

/// False: the stream is not being captured. Without `found`, the code is the answer.
bool Captures::enter(const Stream& stream, Found& found, CUresult& code) {
  if (is_implicit(stream)) {
    for (const auto& sequence : sequences_) {
      if (has_blocking_stream_of(*sequence, *stream.group())) sequence->is_invalid = true;
    }
    code = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return true;
  }
  const Found entered = find(stream);
  if (entered.sequence == nullptr) return false;
  code = entered.sequence->is_invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  if (code == CUDA_SUCCESS) found = entered;
  return true;
}

template <typename Work>
CUresult Captures::add(const Found& found, Work&& of_node) {
  NodeWork work = std::forward<Work>(of_node);
  if (found.sequence->graph->is_in_body && !fits_in_body(work))
    return invalidate(*found.sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const auto& node = found.sequence->graph->add(std::move(work), found.branch->tips);
  graphs_.enter_node(node);
  found.branch->tips = {node.get()};
  return CUDA_SUCCESS;
}

template <typename Act>
bool Captures::in_capture(const Stream& stream, CUresult& code, Act act) {
  const std::lock_guard guard(graphs_.lock);
  Found found;
  if (!enter(stream, found, code)) return false;
  if (found.sequence != nullptr) act(found);
  return true;
}

bool Captures::take(Driver&, const std::shared_ptr<Stream>& stream, LaunchCommand& command, CUresult& code) {
  return in_capture(*stream, code, [&](const Found& found) { code = add(found, std::move(command)); });
}

bool Captures::take(Driver&, const std::shared_ptr<Stream>& stream, const CopyCommand& command,
                    CUresult& code) {
  return in_capture(*stream, code, [&](const Found& found) {
    if (!command.async) {
      code = invalidate(*found.sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    } else {
      code = add(found, CopyNode{describe_copy(command.to, command.from, command.extent)});
    }
  });
}

bool Captures::take(Driver& driver, const std::shared_ptr<Stream>& stream, const FillCommand& command,
                    CUresult& code) {
  return in_capture(*stream, code, [&](const Found& found) {
    if (!command.async) {
      code = invalidate(*found.sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    } else if (code = check_fill(driver, command.fill); code == CUDA_SUCCESS) {
      code = add(found, command);
    }
  });
}

bool Captures::take(Driver&, const std::shared_ptr<Stream>& stream, const HostCommand& command,
                    CUresult& code) {
  return in_capture(*stream, code, [&](const Found& found) { code = add(found, command); });
}

bool Captures::take(Driver&, const std::shared_ptr<Stream>& stream, Executable& launched, CUresult& code) {
  return in_capture(*stream, code, [&](const Found& found) {
    auto graph = launched.as_graph();
    // Such a graph cannot be a part of another one.
    code = graph->has_conditional_nodes() ? invalidate(*found.sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
                                          : add(found, ChildNode{std::move(graph)});
  });
}

bool Captures::take(Driver&, const std::shared_ptr<Stream>& stream, const AllocateNode& node,
                    CUresult& code) {
  return in_capture(*stream, code, [&](const Found& found) { code = add(found, node); });
}

bool Captures::take(Driver&, const std::shared_ptr<Stream>& stream, const FreeNode& node, CUresult& code) {
  return in_capture(*stream, code, [&](const Found& found) { code = add(found, node); });
}

bool Captures::take(Driver&, const std::shared_ptr<Stream>& stream, const RecordCommand& command,
                    CUresult& code) {
  return in_capture(*stream, code, [&](const Found& found) {
    if (command.event->owner != stream->group()->owner()) {
      code = CUDA_ERROR_INVALID_HANDLE;
    } else if (command.external) {
      code = add(found, command);
    } else {
      auto sequence = *std::ranges::find(sequences_, found.sequence, [](const auto& s) { return s.get(); });
      command.event->record(
          std::make_shared<const CapturedRecord>(CapturedRecord{std::move(sequence), found.branch->tips}));
    }
  });
}

bool Captures::take(Driver&, const std::shared_ptr<Stream>& stream, const WaitCommand& command,
                    CUresult& code) {
  const std::lock_guard guard(graphs_.lock);
  Found found;
  if (!enter(*stream, found, code)) return join(stream, command, code);
  if (found.sequence != nullptr) code = wait(found, command);
  return true;
}

/// A stream that is not being captured waits.
bool Captures::join(const std::shared_ptr<Stream>& stream, const WaitCommand& command, CUresult& code) {
  const auto record = command.event->captured();
  if (!record || record->sequence->is_over || command.external) return false;
  CaptureSequence& sequence = *record->sequence;
  if (sequence.is_invalid) {
    code = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  } else if (stream->kind() == StreamKind::legacy) {
    code = invalidate(sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  } else {
    sequence.branches.push_back({stream, record->tips, {}, {}});
    code = CUDA_SUCCESS;
  }
  return true;
}

CUresult Captures::wait(const Found& found, const WaitCommand& command) {
  if (command.external) return add(found, command);
  const auto record = command.event->captured();
  if (!record || record->sequence->is_over)
    return invalidate(*found.sequence, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  if (record->sequence.get() != found.sequence) {
    record->sequence->is_invalid = true;
    return invalidate(*found.sequence, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  add_tips(found.branch->tips, record->tips);
  return CUDA_SUCCESS;
}

CUresult Captures::refuse(const std::shared_ptr<Stream>& stream) {
  const std::lock_guard guard(graphs_.lock);
  Found found;
  CUresult code = CUDA_SUCCESS;
  if (!enter(*stream, found, code) || found.sequence == nullptr) return code;
  return invalidate(*found.sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult Captures::refuse(const StreamGroup& group) {
  const std::lock_guard guard(graphs_.lock);
  CUresult code = CUDA_SUCCESS;
  for (const auto& sequence : sequences_) {
    const bool is_in_it = std::ranges::any_of(sequence->branches, [&group](const CaptureBranch& branch) {
      return branch.stream->group().get() == &group;
    });
    if (is_in_it) code = invalidate(*sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  return code;
}

CUresult Captures::refuse(const Event& event) {
  const auto record = event.captured();
  if (!record) return CUDA_SUCCESS;
  const std::lock_guard guard(graphs_.lock);
  return invalidate(*record->sequence, CUDA_ERROR_CAPTURED_EVENT);
}

CUresult Captures::refuse_unsafe() {
  const CUstreamCaptureMode mine = thread_capture_mode();
  if (mine == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const std::lock_guard guard(graphs_.lock);
  CUresult code = CUDA_SUCCESS;
  for (const auto& sequence : sequences_) {
    const bool is_own = sequence->thread == std::this_thread::get_id();
    const bool forbids =
        is_own ? sequence->mode != CU_STREAM_CAPTURE_MODE_RELAXED
               : sequence->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && mine == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (forbids) code = invalidate(*sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  return code;
}

CUresult Captures::begin(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode,
                         const std::shared_ptr<Graph>& graph, std::vector<GraphNode*> tips) {
  if (stream->kind() == StreamKind::legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (find(*stream).sequence != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  static std::atomic<std::uint64_t> next_id{1};  // relaxed: only uniqueness counts
  auto sequence = std::make_shared<CaptureSequence>();
  sequence->id = next_id.fetch_add(1, std::memory_order_relaxed);
  sequence->graph = graph ? graph : std::make_shared<Graph>();
  sequence->graph->is_captured_into = true;
  sequence->is_graph_given = graph != nullptr;
  sequence->mode = mode;
  sequence->thread = std::this_thread::get_id();
  sequence->branches.push_back({stream, std::move(tips), {}, {}});
  if (!graph) graphs_.enter(sequence->graph);
  sequences_.push_back(std::move(sequence));
  count_.fetch_add(1, std::memory_order_release);
  return CUDA_SUCCESS;
}

Captures::Remains Captures::finish(CaptureSequence& sequence, bool keeps_graph) {
  sequence.is_over = true;
  sequence.graph->is_captured_into = false;
  if (!keeps_graph && !sequence.is_graph_given) graphs_.leave(*sequence.graph);
  Remains remains{std::move(sequence.graph), std::move(sequence.branches)};
  count_.fetch_sub(1, std::memory_order_release);
  std::erase_if(sequences_, [&sequence](const auto& other) { return other.get() == &sequence; });
  return remains;
}

CUresult Captures::end(const std::shared_ptr<Stream>& stream, CUgraph* graph) {
  Remains remains;
  const std::lock_guard guard(graphs_.lock);
  const Found found = find(*stream);
  if (found.sequence == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  CaptureSequence& sequence = *found.sequence;
  if (graph == nullptr && !sequence.is_graph_given) return CUDA_ERROR_INVALID_VALUE;
  // As in NVIDIA's driver, the capture is then lost, too.
  if (found.branch != &sequence.branches.front())
    return invalidate(sequence, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  if (sequence.mode != CU_STREAM_CAPTURE_MODE_RELAXED && sequence.thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  const CUresult code = sequence.is_invalid   ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                        : is_joined(sequence) ? CUDA_SUCCESS
                                              : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  if (code == CUDA_SUCCESS && graph != nullptr) *graph = sequence.graph->handle();
  remains = finish(sequence, code == CUDA_SUCCESS);
  return code;
}

CUresult Captures::info(const std::shared_ptr<Stream>& stream, Info& info) {
  const std::lock_guard guard(graphs_.lock);
  if (is_implicit(*stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  const Found found = find(*stream);
  if (found.sequence == nullptr) return CUDA_SUCCESS;
  info.id = found.sequence->id;
  info.status =
      found.sequence->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (found.sequence->is_invalid) return CUDA_SUCCESS;
  CaptureBranch& branch = *found.branch;
  branch.told_tips.clear();
  for (GraphNode* const tip : branch.tips) branch.told_tips.push_back(tip->handle());
  branch.told_edges.assign(branch.tips.size(), {});
  info.graph = found.sequence->graph->handle();
  info.tips = branch.told_tips.data();
  info.edges = branch.told_edges.data();
  info.count = branch.tips.size();
  return CUDA_SUCCESS;
}

CUresult Captures::update_tips(const std::shared_ptr<Stream>& stream, const CUgraphNode* nodes,
                               std::size_t count, bool replace) {
  const std::lock_guard guard(graphs_.lock);
  const Found found = find(*stream);
  if (found.sequence == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (found.sequence->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<GraphNode*> named;
  if (!graphs_.find_nodes(*found.sequence->graph, nodes, count, named)) return CUDA_ERROR_INVALID_VALUE;
  if (replace) found.branch->tips.clear();
  add_tips(found.branch->tips, named);
  return CUDA_SUCCESS;
}

void Captures::forget(const Stream& stream) {
  if (!any()) return;
  Remains remains;
  const std::lock_guard guard(graphs_.lock);
  const Found found = find(stream);
  if (found.sequence != nullptr && found.branch == &found.sequence->branches.front())
    remains = finish(*found.sequence, false);
}

void Captures::forget(const StreamGroup& group) {
  if (!any()) return;
  std::vector<Remains> remains;
  const std::lock_guard guard(graphs_.lock);
  const Sequences all = sequences_;
  for (const auto& sequence : all) {
    if (sequence->branches.front().stream->group().get() == &group)
      remains.push_back(finish(*sequence, false));
  }
}

}  // namespace fairgv::cuda
