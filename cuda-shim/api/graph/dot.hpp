// A graph as a drawing (cuGraphDebugDotPrint).
#pragma once

namespace fairgv::cuda {

class Graph;

/// Writes it to a file, in the language of Graphviz. False: it cannot be written.
bool write_dot(const Graph& graph, const char* path);

}  // namespace fairgv::cuda
