#include "cuda-shim/api/graph/dot.hpp"

#include <fstream>
#include <string>

#include "cuda-shim/api/graph/graph.hpp"
#include "cuda-shim/api/graph/graph_memory.hpp"

namespace fairgv::cuda {
namespace {

std::string label(const GraphNode& node) {
  struct Label {
    std::string operator()(const EmptyNode&) const { return "empty"; }
    std::string operator()(const LaunchCommand& launch) const {
      const auto side = [](const std::uint32_t(&sides)[3]) {
        return std::to_string(sides[0]) + "x" + std::to_string(sides[1]) + "x" + std::to_string(sides[2]);
      };
      return "kernel " + launch.function->facts().name + "\\n" + side(launch.shape.grid) + " blocks of " +
             side(launch.shape.block);
    }
    std::string operator()(const CopyNode& node) const {
      const CUDA_MEMCPY3D& p = node.copy;
      return "memcpy\\n" + std::to_string(p.WidthInBytes) + "x" + std::to_string(p.Height) + "x" +
             std::to_string(p.Depth) + " bytes";
    }
    std::string operator()(const FillCommand& command) const {
      const Fill& fill = command.fill;
      return "memset\\n" + std::to_string(fill.rows) + " rows of " +
             std::to_string(fill.count * fill.element) + " bytes";
    }
    std::string operator()(const HostCommand&) const { return "host function"; }
    std::string operator()(const ChildNode& child) const {
      return "graph of " + std::to_string(child.graph->nodes().size()) + " nodes";
    }
    std::string operator()(const RecordCommand&) const { return "event record"; }
    std::string operator()(const WaitCommand&) const { return "event wait"; }
    std::string operator()(const AllocateNode& node) const {
      return "allocation\\n" + std::to_string(node.memory->parameters().bytesize) + " bytes";
    }
    std::string operator()(const FreeNode&) const { return "free"; }
    std::string operator()(const ConditionalNode& node) const {
      const char* const kind = node.type == CU_GRAPH_COND_TYPE_IF      ? "if"
                               : node.type == CU_GRAPH_COND_TYPE_WHILE ? "while"
                                                                       : "switch";
      return std::string(kind) + " of " + std::to_string(node.bodies.size()) + " graphs";
    }
  };
  return std::visit(Label{}, node.work);
}

}  // namespace

bool write_dot(const Graph& graph, const char* path) {
  std::ofstream file(path);
  file << "digraph {\n";
  for (const auto& node : graph.nodes()) {
    file << "  node" << node->id << " [shape=box, label=\"" << label(*node) << "\"];\n";
    for (const GraphNode* const from : node->dependencies)
      file << "  node" << from->id << " -> node" << node->id << ";\n";
  }
  file << "}\n";
  file.close();
  return !file.fail();
}

}  // namespace fairgv::cuda
