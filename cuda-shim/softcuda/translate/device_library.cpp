#include "cuda-shim/softcuda/translate/device_library.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "cuda-shim/softcuda/translate/call_graph.hpp"
#include "slicing/ptx/parser.hpp"

namespace fairgv::softcuda {
namespace {

using slicing::ptx::Function;

// cuda_device_runtime_api.h, "cudaCG...": the groups of a cooperative launch, as compilers call them that do
// not put them in place. A handle is the address of the grid's barrier, 0 without one. The barrier's second
// word counts arrivals: the first block adds what makes the sum of all blocks 2^31, so that the last arrival
// turns the highest bit, and the next round needs no other beginning.
constexpr std::string_view kGroups = R"ptx(
.version 7.0
.target sm_75
.address_size 64

.func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {
  .reg .b32 %scope, %high, %low;
  .reg .b64 %barrier;
  .reg .pred %other;
  ld.param.u32 %scope, [scope];
  mov.u32 %high, %envreg1;
  mov.u32 %low, %envreg2;
  mov.b64 %barrier, {%low, %high};
  setp.ne.u32 %other, %scope, 1;
  selp.b64 %barrier, 0, %barrier, %other;
  st.param.b64 [handle], %barrier;
  ret;
}

.func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {
  .reg .b64 %barrier;
  .reg .b32 %a, %b, %c, %blocks, %first, %old, %now;
  .reg .pred %p;
  ld.param.u64 %barrier, [handle];
  setp.eq.u64 %p, %barrier, 0;
  @%p bra NONE;
  bar.sync 0;
  mov.u32 %a, %tid.x;
  mov.u32 %b, %tid.y;
  mov.u32 %c, %tid.z;
  or.b32 %a, %a, %b;
  or.b32 %a, %a, %c;
  setp.ne.u32 %p, %a, 0;
  @%p bra TOGETHER;
  mov.u32 %a, %nctaid.x;
  mov.u32 %b, %nctaid.y;
  mov.u32 %c, %nctaid.z;
  mul.lo.u32 %blocks, %a, %b;
  mul.lo.u32 %blocks, %blocks, %c;
  mov.u32 %a, %ctaid.x;
  mov.u32 %b, %ctaid.y;
  mov.u32 %c, %ctaid.z;
  or.b32 %a, %a, %b;
  or.b32 %a, %a, %c;
  setp.eq.u32 %p, %a, 0;
  sub.u32 %first, 0x80000001, %blocks;
  selp.u32 %first, %first, 1, %p;
  membar.gl;
  atom.global.add.u32 %old, [%barrier+4], %first;
WAIT:
  ld.volatile.global.u32 %now, [%barrier+4];
  xor.b32 %now, %now, %old;
  setp.ge.s32 %p, %now, 0;
  @%p bra WAIT;
  membar.gl;
TOGETHER:
  bar.sync 0;
  st.param.b32 [error], 0;
  ret;
NONE:
  st.param.b32 [error], 1;
  ret;
}

.func (.param .b32 error) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle) {
  .reg .b64 %at;
  .reg .b32 %n, %m;
  .reg .pred %p;
  mov.u32 %n, %nctaid.x;
  mov.u32 %m, %nctaid.y;
  mul.lo.u32 %n, %n, %m;
  mov.u32 %m, %nctaid.z;
  mul.lo.u32 %n, %n, %m;
  mov.u32 %m, %ntid.x;
  mul.lo.u32 %n, %n, %m;
  mov.u32 %m, %ntid.y;
  mul.lo.u32 %n, %n, %m;
  mov.u32 %m, %ntid.z;
  mul.lo.u32 %n, %n, %m;
  ld.param.u64 %at, [threads];
  setp.ne.u64 %p, %at, 0;
  @%p st.u32 [%at], %n;
  ld.param.u64 %at, [grids];
  setp.ne.u64 %p, %at, 0;
  @%p st.u32 [%at], 1;
  st.param.b32 [error], 0;
  ret;
}

.func (.param .b32 error) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle) {
  .reg .b64 %at;
  .reg .b32 %n, %m, %size;
  .reg .pred %p;
  mov.u32 %n, %ctaid.z;
  mov.u32 %size, %nctaid.y;
  mov.u32 %m, %ctaid.y;
  mad.lo.u32 %n, %n, %size, %m;
  mov.u32 %size, %nctaid.x;
  mov.u32 %m, %ctaid.x;
  mad.lo.u32 %n, %n, %size, %m;
  mov.u32 %size, %ntid.z;
  mov.u32 %m, %tid.z;
  mad.lo.u32 %n, %n, %size, %m;
  mov.u32 %size, %ntid.y;
  mov.u32 %m, %tid.y;
  mad.lo.u32 %n, %n, %size, %m;
  mov.u32 %size, %ntid.x;
  mov.u32 %m, %tid.x;
  mad.lo.u32 %n, %n, %size, %m;
  ld.param.u64 %at, [thread];
  setp.ne.u64 %p, %at, 0;
  @%p st.u32 [%at], %n;
  ld.param.u64 %at, [grid];
  setp.ne.u64 %p, %at, 0;
  @%p st.u32 [%at], 0;
  st.param.b32 [error], 0;
  ret;
}
)ptx";

// The handle is the address of a word (api/graph/conditional/condition.hpp).
constexpr std::string_view kConditions = R"ptx(
.version 7.0
.target sm_75
.address_size 64

.func cudaGraphSetConditional(.param .b64 handle, .param .b32 value) {
  .reg .b64 %word;
  .reg .b32 %value;
  ld.param.u64 %word, [handle];
  ld.param.u32 %value, [value];
  st.volatile.global.u32 [%word], %value;
  ret;
}
)ptx";

void add_functions(std::map<std::string, Function>& functions, std::string_view text) {
  auto parsed = slicing::ptx::parse(text);
  if (auto* module = std::get_if<slicing::ptx::Module>(&parsed)) {
    for (auto& item : module->items) {
      if (auto* function = std::get_if<Function>(&item)) functions[function->name] = std::move(*function);
    }
  }
}

std::map<std::string, Function> library() {
  std::map<std::string, Function> functions;
  add_functions(functions, kGroups);
  add_functions(functions, kConditions);
  // The name of later releases.
  Function later = functions["cudaCGSynchronize"];
  later.name = "cudaCGSynchronizeGrid";
  functions[later.name] = std::move(later);
  return functions;
}

// cuda_device_runtime_api.h: the runtime that kernels have of their own ("CUDA nested parallelism"), as
// compilers call it, and what the toolkit's part of it (libcudadevrt.a) calls in turn.
bool is_of_nested_launches(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {"cudaLaunchDevice", "cudaGetParameterBuffer", "__cudaCDP",
                                              "cnp", "__cuda_syscall_cnp"};
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [name](std::string_view beginning) { return name.starts_with(beginning); });
}

}  // namespace

std::string why_not_provided(const std::string& function) {
  const std::string missing = "the device function " + function + " is not provided";
  if (!is_of_nested_launches(function)) return missing;
  return "kernels that launch kernels (dynamic parallelism) are not supported: " + missing;
}

void define_device_functions(slicing::ptx::Module& module) {
  static const std::map<std::string, Function> functions = library();
  std::set<std::string> defined;
  for (const auto& item : module.items) {
    const auto* const function = std::get_if<Function>(&item);
    if (function != nullptr && function->body) defined.insert(function->name);
  }
  for (auto& item : module.items) {
    auto* const function = std::get_if<Function>(&item);
    const auto found = function != nullptr ? functions.find(function->name) : functions.end();
    if (found == functions.end() || !(signature_of(*function) == signature_of(found->second))) continue;
    if (function->body || defined.insert(function->name).second) *function = found->second;
  }
}

}  // namespace fairgv::softcuda
