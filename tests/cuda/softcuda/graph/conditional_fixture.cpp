#include "tests/cuda/softcuda/graph/conditional_fixture.hpp"

namespace {

// set: the handle's value. decide: to a word modulo a number. tick: takes 1 from a word, and goes on until
// that is 0. mix: a = 3 a + b + c. count: adds 1. trap: a fault.
constexpr const char* kSetters = R"ptx(
.version 8.3
.target sm_75
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);

.visible .entry set (.param .u64 handle, .param .u32 value) {
  .reg .b64 %h;
  .reg .b32 %v;
  ld.param.u64 %h, [handle];
  ld.param.u32 %v, [value];
  .param .b64 a;
  .param .b32 b;
  st.param.b64 [a], %h;
  st.param.b32 [b], %v;
  call.uni cudaGraphSetConditional, (a, b);
  ret;
}

.visible .entry decide (.param .u64 handle, .param .u64 word, .param .u32 modulus) {
  .reg .b64 %h, %w;
  .reg .b32 %v, %m;
  ld.param.u64 %h, [handle];
  ld.param.u64 %w, [word];
  ld.param.u32 %m, [modulus];
  ld.global.u32 %v, [%w];
  rem.u32 %v, %v, %m;
  .param .b64 a;
  .param .b32 b;
  st.param.b64 [a], %h;
  st.param.b32 [b], %v;
  call.uni cudaGraphSetConditional, (a, b);
  ret;
}

.visible .entry tick (.param .u64 handle, .param .u64 word) {
  .reg .b64 %h, %w;
  .reg .b32 %v;
  ld.param.u64 %h, [handle];
  ld.param.u64 %w, [word];
  ld.global.u32 %v, [%w];
  sub.u32 %v, %v, 1;
  st.global.u32 [%w], %v;
  .param .b64 a;
  .param .b32 b;
  st.param.b64 [a], %h;
  st.param.b32 [b], %v;
  call.uni cudaGraphSetConditional, (a, b);
  ret;
}

.visible .entry mix (.param .u64 a, .param .u64 b, .param .u32 c) {
  .reg .b64 %a, %b;
  .reg .b32 %x, %y, %z;
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
  ld.param.u32 %z, [c];
  ld.global.u32 %x, [%a];
  ld.global.u32 %y, [%b];
  mad.lo.u32 %x, %x, 3, %y;
  add.u32 %x, %x, %z;
  st.global.u32 [%a], %x;
  ret;
}

.visible .entry count (.param .u64 word) {
  .reg .b64 %w;
  .reg .b32 %v;
  ld.param.u64 %w, [word];
  ld.volatile.global.u32 %v, [%w];
  add.u32 %v, %v, 1;
  st.volatile.global.u32 [%w], %v;
  ret;
}

.visible .entry fall () {
  trap;
}
)ptx";

}  // namespace

void Conditionals::SetUp() {
  Graphs::SetUp();
  load();
}

void Conditionals::load() {
  ASSERT_OK(cuModuleLoadData(&setters_, kSetters));
}

CUgraphConditionalHandle Conditionals::handle_of(CUgraph graph, unsigned value, unsigned flags) {
  CUgraphConditionalHandle handle = 0;
  EXPECT_OK(cuGraphConditionalHandleCreate(&handle, graph, context_, value, flags));
  return handle;
}

std::vector<CUgraph> Conditionals::conditional(CUgraph graph, std::vector<CUgraphNode> before,
                                               CUgraphConditionalHandle handle,
                                               CUgraphConditionalNodeType type, unsigned size,
                                               CUgraphNode* node) {
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  p.conditional.ctx = context_;
  CUgraphNode made = nullptr;
  const CUresult code = cuGraphAddNode(&made, graph, before.data(), nullptr, before.size(), &p);
  EXPECT_OK(code);
  if (node != nullptr) *node = made;
  if (code != CUDA_SUCCESS) return {};
  return {p.conditional.phGraph_out, p.conditional.phGraph_out + size};
}

CUresult Conditionals::try_conditional(CUgraph graph, CUgraphConditionalHandle handle,
                                       CUgraphConditionalNodeType type, unsigned size, CUcontext context) {
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  p.conditional.ctx = context;
  CUgraphNode node = nullptr;
  return cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &p);
}

CUDA_KERNEL_NODE_PARAMS Conditionals::parameters(const char* name, void** arguments) {
  CUDA_KERNEL_NODE_PARAMS p{};
  EXPECT_OK(cuModuleGetFunction(&p.func, setters_, name));
  p.gridDimX = p.gridDimY = p.gridDimZ = 1;
  p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  p.kernelParams = arguments;
  return p;
}

CUgraphNode Conditionals::fill(CUgraph graph, std::vector<CUgraphNode> before, CUdeviceptr address,
                               unsigned value) {
  const CUDA_MEMSET_NODE_PARAMS p{address, 0, value, 4, 1, 1};
  CUgraphNode node = nullptr;
  EXPECT_OK(cuGraphAddMemsetNode(&node, graph, before.data(), before.size(), &p, context_));
  return node;
}

CUgraphExec Conditionals::endless(CUgraph graph, CUdeviceptr word, bool fails) {
  const auto handle = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const auto bodies = conditional(graph, {}, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
  const CUgraphNode counts = kernel(bodies.at(0), {}, "count", word);
  if (fails) kernel(bodies[0], {counts}, "fall");
  return instantiate(graph);
}
