// The output of the PTX slicer: exact texts, the entries that it refuses and why, and that the toolkit's
// assembler takes every text.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <tuple>
#include <vector>

#include "slicing/ptx/lexer.hpp"
#include "slicing/ptx/parser.hpp"
#include "slicing/ptx_slicing/rewrite.hpp"
#include "tests/cuda/slicing/samples.hpp"
#include "tests/harness/seed.hpp"

namespace {

using namespace fairgv::slicing;
using namespace fairgv::slicing_test;

struct Rewritten {
  std::string text;
  std::map<std::string, SlicedEntry> entries;

  bool sliceable(const std::string& name) const { return entries.at(name).sliceable; }
  const std::string& reason(const std::string& name) const { return entries.at(name).reason; }
  bool hidden(const std::string& name) const { return entries.at(name).hidden.has_value(); }
};

Rewritten rewritten(std::string_view text, RewriteOptions options = {}) {
  auto result = rewrite_for_slicing(text, options);
  if (const auto* error = std::get_if<RewriteError>(&result)) {
    ADD_FAILURE() << "line " << error->line << ": " << error->message;
    return {};
  }
  auto& module = std::get<SlicedModule>(result);
  Rewritten answer{.text = std::move(module.text), .entries = {}};
  for (SlicedEntry& entry : module.entries) answer.entries[entry.name] = std::move(entry);
  return answer;
}

std::string header() {
  return ".version 8.7\n.target sm_75\n.address_size 64\n";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(PtxSlicing, AnEntryGetsACopyWithOneHiddenParameterBehindItsOwn) {
  const std::string text = header() +
                           ".visible .entry k (.param .u64 out, .param .u8 c)\n"
                           "{ .reg .b32 %r<3>;\n"
                           "mov.u32 %r1, %ctaid.y;\n"
                           "mov.u32 %r2, %nctaid.x; // of %nctaid.x\n"
                           "ret; }\n";
  const Rewritten module = rewritten(text);
  EXPECT_EQ(module.text,
            text +
                ".visible .entry fairgv_part_of_k (.param .u64 out, .param .u8 c,"
                " .param .align 4 .b8 fairgv_part_hidden[24])\n"
                "{ .reg .b32 %fairgv_part_ctaid_y, %fairgv_part_nctaid_x, %fairgv_part_own;"
                " ld.param.u32 %fairgv_part_ctaid_y, [fairgv_part_hidden+4];"
                " mov.u32 %fairgv_part_own, %ctaid.y;"
                " add.u32 %fairgv_part_ctaid_y, %fairgv_part_ctaid_y, %fairgv_part_own;"
                " ld.param.u32 %fairgv_part_nctaid_x, [fairgv_part_hidden+12];  .reg .b32 %r<3>;\n"
                "mov.u32 %r1, %fairgv_part_ctaid_y;\n"
                "mov.u32 %r2, %fairgv_part_nctaid_x; // of %nctaid.x\n"
                "ret; }\n");
  const SlicedEntry& entry = module.entries.at("k");
  EXPECT_TRUE(entry.sliceable) << entry.reason;
  ASSERT_TRUE(entry.hidden);
  EXPECT_EQ(entry.part_name, "fairgv_part_of_k");
  EXPECT_EQ(entry.hidden->index, 2U);
  EXPECT_EQ(entry.hidden->offset, 12U);
  EXPECT_EQ(entry.hidden->counts_offset, 24U);
  EXPECT_EQ(entry.own_parameter_bytes, 9U);
  EXPECT_EQ(entry.parameter_bytes, 36U);
}

TEST(PtxSlicing, NamesOfTheModuleAreNotTaken) {
  const Rewritten module = rewritten(kEntry);
  EXPECT_TRUE(module.sliceable("scale"));
  EXPECT_TRUE(contains(module.text, "[fairgv_part1_hidden+16]"));
  EXPECT_TRUE(contains(module.text, "mov.u32 %fairgv_part_ctaid_x, %fairgv_part1_ctaid_x; add"));
  EXPECT_TRUE(contains(module.text, "%r2, %fairgv_part1_nctaid_y;"));
  EXPECT_TRUE(contains(module.text, "// three )\n, .param .align 4 .b8 fairgv_part1_hidden[24])"));
}

TEST(PtxSlicing, NamesThatBeginWithAPercentSignHaveCopiesToo) {
  const std::string body = " () { .reg .b32 %r; mov.u32 %r, %ctaid.x; ret; }\n";
  const Rewritten module = rewritten(header() + ".entry %k" + body + ".entry k" + body);
  EXPECT_EQ(module.entries.at("%k").part_name, "fairgv_part_named_k");
  EXPECT_EQ(module.entries.at("k").part_name, "fairgv_part_of_k");
  EXPECT_TRUE(contains(module.text, ".entry fairgv_part_named_k (.param"));
}

TEST(PtxSlicing, FunctionsGetTheValuesThatTheyNeedFromTheirCallers) {
  const Rewritten module = rewritten(kFunctions);
  for (const char* name : {"cut", "bare"}) {
    EXPECT_TRUE(module.sliceable(name)) << module.reason(name);
    EXPECT_TRUE(module.hidden(name));
  }
  EXPECT_TRUE(module.sliceable("silent"));
  EXPECT_FALSE(module.hidden("silent"));
  EXPECT_FALSE(module.sliceable("whole"));
  EXPECT_EQ(module.reason("whole"), "it reads %envreg2, as synchronisation of the whole grid does");
  const std::string& text = module.text;
  // Each function is declared and defined with the values that it reads and no more; in a circle; and through
  // `both`.
  EXPECT_TRUE(contains(text, "fairgv_part_of_column (.param .b32 weight, .param .b32 fairgv_part_ctaid_x);"));
  EXPECT_TRUE(
      contains(text, "fairgv_part_of_column (.param .b32 weight, .param .b32 fairgv_part_ctaid_x)\n{"));
  EXPECT_TRUE(contains(text, ".func fairgv_part_of_circle (.param .b32 fairgv_part_nctaid_z);"));
  EXPECT_TRUE(contains(text, "@!%call call fairgv_part_of_circle, (fairgv_part_nctaid_z_argument); }"));
  EXPECT_TRUE(contains(text,
                       "fairgv_part_of_both (.param .b64 p, .param .b32 fairgv_part_ctaid_x, .param .b32 "
                       "fairgv_part_nctaid_z)"));
  EXPECT_TRUE(contains(text, "@%p call fairgv_part_of_circle, (fairgv_part_nctaid_z_argument); }"));
  EXPECT_TRUE(contains(text, "\tin0\n\t, fairgv_part_ctaid_x_argument); }"));
  // A function that reads none of the values has no copy, nor has a kernel that is not cut.
  for (const char* name : {"quiet", "silent", "whole"}) {
    EXPECT_FALSE(contains(text, std::string("fairgv_part_of_") + name)) << name;
  }
  EXPECT_EQ(module.entries.at("silent").part_name, "");
}

TEST(PtxSlicing, WhatIsCalledThroughItsAddressKeepsItsParameters) {
  const Rewritten module = rewritten(kPointers);
  EXPECT_EQ(
      module.reason("indirect"),
      "it calls functions through their addresses, so maybe reader, which depends on %ctaid or %nctaid");
  EXPECT_EQ(module.reason("direct"),
            "it calls reader, which depends on %ctaid or %nctaid and must keep its parameters");
  EXPECT_TRUE(module.sliceable("beside")) << module.reason("beside");
  EXPECT_FALSE(contains(module.text, "fairgv_part_of_reader"));
}

TEST(PtxSlicing, FunctionsOfAModuleThatIsLinkedKeepTheirParameters) {
  const std::string text = header() +
                           ".visible .func shown () { .reg .b32 %a; mov.u32 %a, %ctaid.x; ret; }\n"
                           ".func own () { .reg .b32 %a; mov.u32 %a, %ctaid.x; ret; }\n"
                           ".entry a () { call shown, (); ret; }\n"
                           ".entry b () { call own, (); ret; }\n";
  const Rewritten alone = rewritten(text);
  EXPECT_TRUE(alone.sliceable("a")) << alone.reason("a");
  EXPECT_TRUE(alone.sliceable("b")) << alone.reason("b");
  const Rewritten linked = rewritten(text, {.linked = true});
  EXPECT_FALSE(linked.sliceable("a"));
  EXPECT_TRUE(linked.sliceable("b")) << linked.reason("b");
  EXPECT_TRUE(contains(linked.text, ".func fairgv_part_of_own ("));
  EXPECT_FALSE(contains(linked.text, "fairgv_part_of_shown"));
}

TEST(PtxSlicing, EntriesThatNeedTheWholeGridAreNamedWithTheReason) {
  const Rewritten clusters = rewritten(kClusters);
  EXPECT_EQ(clusters.reason("asks"), "it reads %clusterid.x");
  EXPECT_EQ(clusters.reason("waits"), "it uses clusters of blocks (barrier.cluster.arrive)");
  EXPECT_EQ(clusters.reason("said"), "it is launched in clusters of blocks (.reqnctapercluster)");
  EXPECT_EQ(clusters.reason("chained"), "it overlaps with other launches (griddepcontrol)");
  EXPECT_TRUE(clusters.sliceable("plain"));

  const Rewritten unusual = rewritten(kUnusual);
  EXPECT_EQ(unusual.reason("vector"), "it reads %ctaid in a way that is not rewritten (mov.v4.u32)");
  EXPECT_EQ(unusual.reason("narrow"), "it reads %ctaid.x in a way that is not rewritten (mov.u16)");
  EXPECT_TRUE(unusual.sliceable("constant"));
  EXPECT_FALSE(unusual.hidden("constant"));
  EXPECT_TRUE(unusual.hidden("halves"));

  const Rewritten calls =
      rewritten(header() +
                ".extern .func elsewhere ();\n.extern .func cudaCGSynchronize ();\n"
                ".extern .func cudaLaunchDeviceV2 ();\n.extern .func free (.param .b64 p);\n"
                ".func deep () { call elsewhere, (); ret; }\n"
                ".alias second, first;\n.func second ();\n"
                ".func first () { .reg .b32 %r; mov.u32 %r, %ctaid.x; ret; }\n"
                ".entry a () { call deep, (); ret; }\n"
                ".entry b () { call cudaCGSynchronize, (); ret; }\n"
                ".entry c () { call cudaLaunchDeviceV2, (); ret; }\n"
                ".entry d () { .param .b64 x; call free, (x); ret; }\n"
                ".entry e () { call second, (); ret; }\n"
                ".entry f () { .reg .b32 %r; mov.u32 %r, %ctaid.x; ret; }\n"
                ".global .u64 address = f;\n");
  EXPECT_EQ(calls.reason("a"), "it calls deep, which calls elsewhere, whose body is not in the module");
  EXPECT_EQ(calls.reason("b"), "it synchronises the whole grid (cudaCGSynchronize)");
  EXPECT_EQ(calls.reason("c"), "it launches kernels itself (cudaLaunchDeviceV2)");
  EXPECT_TRUE(calls.sliceable("d")) << calls.reason("d");
  EXPECT_EQ(
      calls.reason("e"),
      "it calls second, which calls first, which depends on %ctaid or %nctaid and must keep its parameters");
  EXPECT_EQ(calls.reason("f"), "it may be launched by device code: its address is taken");
}

TEST(PtxSlicing, AModuleWithoutReadersStaysAsItIs) {
  const std::string text = header() + ".visible .entry k () { ret; }\n// %ctaid.x\n";
  EXPECT_EQ(rewritten(text).text, text);
}

TEST(PtxSlicing, ParametersThatLeaveNoRoomStay) {
  const auto sized = [](const std::string& version, const std::string& target, unsigned bytes) {
    return rewritten(".version " + version + "\n.target " + target +
                     "\n.address_size 64\n.entry k (.param .b8 p[" + std::to_string(bytes) +
                     "]) { .reg .b32 %r; mov.u32 %r, %ctaid.x; ret; }\n");
  };
  const std::tuple<const char*, const char*, unsigned> limits[] = {
      {"8.0", "sm_75", 4096}, {"8.1", "sm_60", 4096}, {"8.1", "sm_75", 32764}, {"9.0", "sm_90a", 32764}};
  for (const auto& [version, target, most] : limits) {
    EXPECT_TRUE(sized(version, target, most - 24).sliceable("k")) << version << " " << target;
    const Rewritten full = sized(version, target, most - 23);
    EXPECT_EQ(full.reason("k"), "it has no room for another parameter");
    EXPECT_FALSE(contains(full.text, "fairgv_part"));
  }
}

TEST(PtxSlicing, ParametersLieWhereCudaLaysThem) {
  const auto place = [](const std::string& parameters) {
    const Rewritten module =
        rewritten(header() + ".entry k (" + parameters + ") { .reg .b32 %r; mov.u32 %r, %ctaid.x; ret; }\n");
    return module.entries.at("k").hidden.value_or(HiddenParameterPlace{}).offset;
  };
  EXPECT_EQ(place(""), 0U);
  EXPECT_EQ(place(".param .u16 a"), 4U);
  EXPECT_EQ(place(".param .u8 a, .param .f64 b"), 16U);
  EXPECT_EQ(place(".param .u8 a, .param .align 16 .b8 b[17], .param .u8 c"), 36U);
  EXPECT_EQ(place(".param .u32 a, .param .v4 .f32 b"), 32U);
  EXPECT_EQ(place(".param .u64 .ptr .global .align 16 a, .param .texref t, .param .f16 h[3]"), 24U);
}

TEST(PtxSlicing, WhatIsNoPtxIsAnErrorWithItsLine) {
  const auto result = rewrite_for_slicing(header() + "\n.entry k ( {\n");
  ASSERT_TRUE(std::holds_alternative<RewriteError>(result));
  EXPECT_EQ(std::get<RewriteError>(result).line, 5);
  const auto twice = rewrite_for_slicing(header() + ".func f () { ret; }\n.func f () { ret; }\n");
  ASSERT_TRUE(std::holds_alternative<RewriteError>(twice));
  EXPECT_EQ(std::get<RewriteError>(twice).line, 5);
}

bool ends_list_with_comma(std::string_view text) {
  const auto tokens = ptx::tokenize(text);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == "," && tokens[i + 1].text == ")") return true;
  }
  return false;
}

// Tenants may send anything: words of good modules, left out, doubled and exchanged.
TEST(PtxSlicing, AnyTextIsRewrittenToOneThatCanBeReadOrRefused) {
  std::mt19937_64 random(fairgv::harness::printed_seed());
  std::size_t read = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string_view sample =
        std::array{kEntry, kFunctions, kPointers, kClusters, kUnusual}[random() % 5];
    const auto tokens = ptx::tokenize(sample);
    std::string text(sample);
    for (auto changes = random() % 3 + 1; changes > 0; --changes) {
      const ptx::Span from = tokens[random() % tokens.size()].span;
      const ptx::Span to = tokens[random() % tokens.size()].span;
      const std::string word(sample.substr(from.begin, from.end - from.begin));
      const std::size_t at = std::min(to.begin, text.size());
      text.replace(at, random() % 2 == 0 ? 0 : std::min(to.end - to.begin, text.size() - at), word);
    }
    const auto result = rewrite_for_slicing(text, {.linked = random() % 4 == 0});
    if (const auto* error = std::get_if<RewriteError>(&result)) {
      EXPECT_GT(error->line, 0) << text;
      continue;
    }
    ++read;
    if (ends_list_with_comma(text)) continue;  // the reader accepts it, ptxas takes neither text
    const auto again = ptx::parse(std::get<SlicedModule>(result).text);
    ASSERT_TRUE(std::holds_alternative<ptx::Module>(again)) << text;
    EXPECT_TRUE(std::get<SlicedModule>(result).text.starts_with(text));
  }
  EXPECT_GT(read, 100U);
}

TEST(PtxSlicing, TheHiddenParameterSaysFirstBlockAndWholeGrid) {
  const HiddenParameter parameter = hidden_parameter({9, 8, 7}, {.first = {3, 0, 6}, .groups = {2, 8, 1}});
  EXPECT_EQ(parameter.first, (std::array<std::uint32_t, 3>{3, 0, 6}));
  EXPECT_EQ(parameter.counts, (std::array<std::uint32_t, 3>{9, 8, 7}));
}

// ---- with the toolkit

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// All modules: the samples, and nvcc's output for the programs.
std::map<std::string, std::string> modules() {
  std::map<std::string, std::string> all = {{"entry", std::string(kEntry)},
                                            {"functions", std::string(kFunctions)},
                                            {"pointers", std::string(kPointers)},
                                            {"clusters", std::string(kClusters)},
                                            {"unusual", std::string(kUnusual)}};
#ifdef FAIRGV_PTX_PROGRAMS
  for (const char* name : {"grids", "grids_debug", "refused"}) {
    all[name] = contents(std::filesystem::path(FAIRGV_PTX_PROGRAMS) / (std::string(name) + ".ptx"));
    EXPECT_FALSE(all[name].empty()) << name;
  }
#endif
  return all;
}

TEST(PtxSlicing, TheTextItselfStays) {
  for (const auto& [name, text] : modules()) EXPECT_TRUE(rewritten(text).text.starts_with(text)) << name;
}

#ifdef FAIRGV_PTX_PROGRAMS
TEST(PtxSlicing, WhatNvccWritesIsSlicedOrRefusedForTheRightReason) {
  for (const char* name : {"grids", "grids_debug"}) {
    for (const auto& [entry, sliced] : rewritten(modules().at(name)).entries) {
      EXPECT_TRUE(sliced.sliceable) << entry << ": " << sliced.reason;
      EXPECT_EQ(sliced.hidden.has_value(), entry != "placeless") << entry;
      if (sliced.hidden) {
        EXPECT_EQ(sliced.hidden->index, 4U);
        EXPECT_EQ(sliced.hidden->offset, 24U);
      }
    }
  }
  const Rewritten refused = rewritten(modules().at("refused"));
  EXPECT_TRUE(contains(refused.reason("whole_grid_waits"), "%envreg")) << refused.reason("whole_grid_waits");
  EXPECT_TRUE(contains(refused.reason("launches_child"), "launches kernels itself"))
      << refused.reason("launches_child");
  EXPECT_TRUE(contains(refused.reason("child"), "may be launched by device code")) << refused.reason("child");
  EXPECT_TRUE(contains(refused.reason("calls_pointer"), "through their addresses"))
      << refused.reason("calls_pointer");
  EXPECT_TRUE(refused.sliceable("ordinary")) << refused.reason("ordinary");
}
#endif

#ifdef FAIRGV_PTXAS
// The assembler's message about a text; nothing if it takes the text.
std::string complaint(const std::string& text) {
  static int number = 0;
  const auto stem = std::filesystem::temp_directory_path() /
                    ("fairgv-slicing-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
  const std::string input = stem.string() + ".ptx";
  const std::string log = stem.string() + ".log";
  std::ofstream(input) << text;
  const std::size_t target = text.find(".target ") + 8;
  const std::string architecture = text.substr(target, text.find_first_of(" ,\n", target) - target);
  // Relocatable (-c): functions of other modules may be missing.
  const std::string command = std::string(FAIRGV_PTXAS) + " -c -arch " + architecture + " -o /dev/null " +
                              input + " > " + log + " 2>&1";
  const int status = std::system(command.c_str());
  const std::string words = contents(log);
  std::filesystem::remove(input);
  std::filesystem::remove(log);
  return status == 0 ? "" : words.empty() ? "ptxas did not run" : words;
}
#endif

TEST(PtxSlicing, TheToolkitsAssemblerTakesEveryRewrittenModule) {
#ifdef FAIRGV_PTXAS
  for (const auto& [name, text] : modules()) {
    EXPECT_EQ(complaint(text), "") << name << " as it came";
    EXPECT_EQ(complaint(rewritten(text).text), "") << name;
  }
#else
  GTEST_SKIP() << "no ptxas: the CUDA toolkit was not found when this was built";
#endif
}

}  // namespace
