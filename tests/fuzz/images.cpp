// Images that CUDA programs load: fatbins, and PTX, which the worker reads, rewrites so that kernels can run
// in parts, and translates. All of them come from tenants.
#include <cstring>
#include <string>

#include "cuda-shim/softcuda/link/containers.hpp"
#include "cuda-shim/softcuda/link/linker.hpp"
#include "cuda-shim/softcuda/translate/translate.hpp"
#include "runtime/fatbin/fatbin.hpp"
#include "slicing/ptx/parser.hpp"
#include "slicing/ptx/printer.hpp"
#include "slicing/ptx_slicing/rewrite.hpp"
#include "tests/fuzz/records.hpp"

namespace fairgv::fuzz {
namespace {

constexpr std::string_view kHead = ".version 8.0\n.target sm_75\n.address_size 64\n";

constexpr std::string_view kKernelText =
    ".global .align 4 .u32 g[4] = {1, 2, 3, 4};\n"
    ".const .u64 p = g;\n"
    ".func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a]; mov.u32 %r2, "
    "%ctaid.x;\n"
    "  add.s32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }\n"
    ".visible .entry k(.param .u64 out, .param .align 8 .b8 s[12]) .maxntid 128 {\n"
    "  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .b64 %d<4>; .shared .align 8 .b8 m[64];\n"
    "  mov.u32 %r1, %nctaid.y; mov.u32 %r2, %tid.x; setp.lt.and.u32 %p1, %r1, %r2, !%p0;\n"
    "  @%p1 bra L; call.uni (%r3), twice, (%r1); bar.sync 0;\n"
    "L: cvt.rn.f32.u32 %f1, %r3; fma.rn.f32 %f2, %f1, 0f3F800000, %f1; ld.param.u64 %d1, [out];\n"
    "  cvta.to.global.u64 %d2, %d1; st.global.v2.f32 [%d2+8], {%f1, %f2}; ret; }\n";

std::string text() {
  return std::string(kHead) + std::string(kKernelText);
}

/// A fatbin with one stored text, in the layout of fatbin.hpp.
std::string container(std::string payload) {
  payload.resize((payload.size() + 8) / 8 * 8);
  constexpr std::uint32_t kEntryHeader = 64;
  std::string bytes(fatbin::kFatbinHeaderBytes + kEntryHeader, '\0');
  const auto put = [&bytes](std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  put(0, fatbin::kFatbinMagic);
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{fatbin::kFatbinHeaderBytes});
  put(8, std::uint64_t{kEntryHeader + payload.size()});
  put(16, std::uint16_t{1});
  put(18, std::uint16_t{1});
  put(20, kEntryHeader);
  put(24, std::uint64_t{payload.size()});
  put(44, std::uint32_t{75});
  return bytes + payload;
}

/// With a text that has the same names, and with one that it may need.
void link_text(std::string_view ptx) {
  using softcuda::link::Inclusion;
  softcuda::link::Linker linker;
  const auto add = [&linker](std::string_view unit, Inclusion inclusion) {
    auto parsed = slicing::ptx::parse(unit);
    if (auto* const module = std::get_if<slicing::ptx::Module>(&parsed))
      (void)linker.add(softcuda::link::make_unit("unit", std::move(*module), inclusion));
  };
  add(ptx, Inclusion::kWhole);
  add(text(), Inclusion::kWhole);
  add(ptx, Inclusion::kMember);
  add(text(), Inclusion::kMember);
  softcuda::link::Messages errors;
  const slicing::ptx::Module module = linker.link(errors);
  if (errors.empty()) (void)slicing::ptx::print(module);
}

void read_text(std::string_view ptx) {
  (void)slicing::ptx::parse(ptx);
  const auto sliced = slicing::rewrite_for_slicing(ptx);
  if (const auto* const module = std::get_if<slicing::SlicedModule>(&sliced)) {
    for (const slicing::SlicedEntry& entry : module->entries) {
      expect(!entry.hidden || entry.hidden->offset + 24 <= entry.parameter_bytes,
             "the hidden parameter has room");
      expect(entry.hidden.has_value() != entry.part_name.empty(), "who has one has a copy that takes it");
      expect(entry.sliceable || !entry.reason.empty(), "who is not sliceable is told why");
    }
    const bool is_ptx = std::holds_alternative<slicing::ptx::Module>(slicing::ptx::parse(module->text));
    expect(is_ptx, "rewritten PTX is PTX");
  }
  (void)softcuda::translate(ptx);
  link_text(ptx);
}

void run_images(Input input) {
  const auto bytes = std::as_bytes(input);
  (void)softcuda::link::members_of_archive(bytes);
  (void)softcuda::link::fatbins_of_object(bytes);
  if (fatbin::fatbin_bytes(bytes)) {
    const auto ptx = fatbin::ptx_of_fatbin(bytes, 80);
    if (ptx && ptx->text) read_text(*ptx->text);
    return;
  }
  const std::string ptx(input.begin(), input.end());
  read_text(ptx);
}

std::vector<Bytes> images_seeds() {
  std::vector<Bytes> all;
  for (const std::string& seed : {text(), std::string(kHead), container(text())}) {
    all.emplace_back(seed.begin(), seed.end());
  }
  return all;
}

}  // namespace

const Target kImages{"images", &run_images, &images_seeds, &mutate_bytes};

}  // namespace fairgv::fuzz
