// OpenCL C as tenants write it, and other text: the worker looks for reasons not to cut its kernels, and puts
// a prelude in front of it.
#include <string>

#include "runtime/vgpu/opencl/programs/recipe.hpp"
#include "slicing/opencl_c.hpp"
#include "slicing/program_variables.hpp"
#include "tests/fuzz/records.hpp"

namespace fairgv::fuzz {
namespace {

void run_sources(Input input) {
  const std::string text(input.begin(), input.end());
  for (std::uint32_t dimensions = 1; dimensions <= 3; ++dimensions) {
    const std::string source = slicing::sliceable_source(text, dimensions);
    expect(source.ends_with(text), "the program's own text stays as it is");
  }
  (void)slicing::why_not_sliceable(text);
  (void)slicing::may_define_variables(text);
  (void)slicing::may_have_program_variables(text);
  const std::string kept = vgpu::opencl::without_option(text, "-w");
  expect(kept.size() <= text.size(), "options without one are no longer than with it");
}

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

std::vector<Bytes> sources_seeds() {
  return {bytes_of("__kernel void a(__global float* x) { x[get_global_id(0)] *= 2; }"),
          bytes_of("// c\n/* d */ #define F(x) x\\\n + 1\nconstant int k = 3; static int s;"),
          bytes_of("kernel void p(read_only pipe int q) { printf(\"a\\\"%d\", 'b'); }"),
          bytes_of("struct s { int a[2]; } v; typedef union { int b; } u; int f(void);"),
          bytes_of("-cl-std=CL2.0 -D \"A=b c\" -w -I/x")};
}

}  // namespace

const Target kSources{"sources", &run_sources, &sources_seeds, &mutate_bytes};

}  // namespace fairgv::fuzz
