// Linking PTX: which names meet, which are kept apart, and what is refused. nvlink 13.0 gives the same
// answers on what ptxas makes of these texts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cuda-shim/softcuda/link/linker.hpp"
#include "cuda-shim/softcuda/translate/translate.hpp"
#include "slicing/ptx/parser.hpp"
#include "slicing/ptx/printer.hpp"

namespace fairgv::softcuda::link {
namespace {

struct Text {
  std::string body;
  Inclusion inclusion = Inclusion::kWhole;
  std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
};

Unit unit_of(const std::string& name, const Text& text) {
  auto parsed = slicing::ptx::parse(text.head + text.body);
  if (const auto* error = std::get_if<slicing::ptx::ParseError>(&parsed))
    ADD_FAILURE() << "line " << error->line << ": " << error->message;
  auto* const module = std::get_if<slicing::ptx::Module>(&parsed);
  return make_unit(name, module != nullptr ? std::move(*module) : slicing::ptx::Module{}, text.inclusion);
}

/// Units called a, b, c, ...
struct Linked {
  explicit Linked(std::initializer_list<Text> texts) {
    Linker linker;
    char name = 'a';
    for (const Text& input : texts) {
      for (std::string& each : linker.add(unit_of(std::string(1, name++), input)))
        errors.push_back(std::move(each));
    }
    module = linker.link(errors);
    if (errors.empty()) text = print(module);
  }

  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
  int count(std::string_view part) const {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
  std::string error() const {
    std::string lines;
    for (const std::string& each : errors) lines += (lines.empty() ? "" : "\n") + each;
    return lines;
  }

  Messages errors;
  slicing::ptx::Module module;
  std::string text;
};

/// The toolkit's assembler takes the text, where it is installed; the translator does in any case.
void expect_valid(const Linked& linked) {
  ASSERT_EQ(linked.error(), "");
  const Translation translation = translate(linked.text);
  ASSERT_TRUE(translation) << translation.error().text() << "\n" << linked.text;
#ifdef FAIRGV_PTXAS
  const std::string file = testing::TempDir() + "link_test_" + std::to_string(getpid()) + ".ptx";
  std::ofstream(file) << linked.text;
  const int status = std::system(("'" FAIRGV_PTXAS "' -arch=sm_90 -o /dev/null '" + file + "'").c_str());
  EXPECT_EQ(status, 0) << linked.text;
  std::remove(file.c_str());
#endif
}

constexpr const char* kCallsF =
    ".extern .func (.param .b32 r) f(.param .b32 x);\n.extern .global .u32 v;\n"
    ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>;\n.reg .b64 %d<2>;\nld.param.u64 %d1, [p];\n"
    "ld.global.u32 %r1, [v];\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\n"
    "call (b), f, (a);\nld.param.b32 %r2, [b];\n}\nst.global.u32 [%d1], %r2;\nret;\n}\n";
constexpr const char* kDefinesF =
    ".visible .global .u32 v = 5;\n.visible .func (.param .b32 r) f(.param .b32 x) {\n.reg .b32 %r<2>;\n"
    "ld.param.b32 %r1, [x];\nst.param.b32 [r], %r1;\nret;\n}\n";
constexpr const char* kEmptyKernel = ".visible .entry empty() { ret; }\n";

TEST(PtxLink, NamesOfOtherUnitsAreFoundInEitherOrder) {
  for (const Linked& linked : {Linked({{kCallsF}, {kDefinesF}}), Linked({{kDefinesF}, {kCallsF}})}) {
    expect_valid(linked);
    EXPECT_EQ(linked.count(".extern"), 0);
    EXPECT_EQ(linked.count("v = 5"), 1);
    EXPECT_EQ(translate(linked.text).value().kernels.size(), 1U) << linked.text;
  }
}

TEST(PtxLink, WhatNothingDefinesIsNamed) {
  EXPECT_EQ(Linked({{kEmptyKernel}, {kCallsF}}).error(),
            "Undefined reference to 'f' in 'b'\nUndefined reference to 'v' in 'b'");
  // Only what is used counts.
  expect_valid(Linked({{".extern .func f();\n.extern .global .u32 v;\n" + std::string(kEmptyKernel)}}));
  // Declared without .extern.
  EXPECT_EQ(
      Linked({{".func f();\n.visible .entry k() { call f, (); ret; }"}, {".visible .func f() { ret; }"}})
          .error(),
      "Undefined reference to 'f' in 'a'");
}

TEST(PtxLink, TwoDefinitionsOfOneNameAreRefused) {
  const Linked linked({{kDefinesF}, {kDefinesF}});
  EXPECT_EQ(linked.error(),
            "Multiple definition of 'f' in 'b', first defined in 'a'\n"
            "Multiple definition of 'v' in 'b', first defined in 'a'");
  EXPECT_EQ(Linked({{kEmptyKernel}, {kEmptyKernel}}).error(),
            "Multiple definition of 'empty' in 'b', first defined in 'a'");
}

TEST(PtxLink, AStrongDefinitionCountsMoreThanAWeakOne) {
  const std::string reads =
      ".extern .global .u32 v;\n.visible .entry k(.param .u64 p) { .reg .u32 %r<2>; "
      "ld.global.u32 %r1, [v]; st.global.u32 [v], %r1; ret; }\n";
  for (const Linked& linked :
       {Linked({{reads}, {".weak .global .u32 v = 1;"}, {".visible .global .u32 v = 2;"}}),
        Linked({{reads}, {".visible .global .u32 v = 2;"}, {".weak .global .u32 v = 1;"}})}) {
    expect_valid(linked);
    EXPECT_TRUE(linked.has("v = 2")) << linked.text;
    EXPECT_FALSE(linked.has("v = 1")) << linked.text;
  }
  const Linked weak({{reads}, {".weak .global .u32 v = 1;"}, {".weak .global .u32 v = 3;"}});
  EXPECT_TRUE(weak.has("v = 1")) << weak.text;  // the first
  EXPECT_FALSE(weak.has("v = 3")) << weak.text;
}

TEST(PtxLink, UsesOfAWeakFunctionThatGivesWayReachTheOther) {
  const Linked linked({{".weak .func f() { trap; }\n.visible .entry k() { call f, (); ret; }"},
                       {".visible .func f() { ret; }"}});
  expect_valid(linked);
  EXPECT_FALSE(linked.has("trap")) << linked.text;
}

TEST(PtxLink, CommonMemoryIsOneOfTheLargestSizeAndAlignment) {
  const Linked linked({{".common .global .align 4 .b8 c[8];" + std::string(kEmptyKernel)},
                       {".common .global .align 16 .b8 c[4];"},
                       {".common .global .align 4 .b8 c[20];"}});
  expect_valid(linked);
  EXPECT_EQ(linked.count("c["), 1) << linked.text;
  EXPECT_TRUE(linked.has(".align 16 .b8 c[20]")) << linked.text;
  const Linked defined(
      {{".common .global .u32 c;" + std::string(kEmptyKernel)}, {".visible .global .u32 c = 3;"}});
  EXPECT_TRUE(defined.has("c = 3")) << defined.text;
  EXPECT_FALSE(defined.has(".common")) << defined.text;
}

TEST(PtxLink, UnitsThatDisagreeAreRefused) {
  const std::string reads = ".visible .entry k() { .reg .u32 %r<2>; ld.u32 %r1, [v]; ret; }";
  EXPECT_EQ(Linked({{".extern .global .u64 v;" + reads}, {".visible .global .u32 v = 3;"}}).error(),
            "Size doesn't match for 'v' in 'b', first specified in 'a'\nUndefined reference to 'v' in 'a'");
  EXPECT_EQ(Linked({{".weak .global .u32 v = 1;"}, {".weak .global .u64 v = 1;"}}).error(),
            "Size doesn't match for 'v' in 'b', first specified in 'a'");
  EXPECT_EQ(Linked({{".weak .const .u32 v = 1;"}, {".weak .global .u32 v = 1;"}}).error(),
            "Memory space doesn't match for 'v' in 'b', first specified in 'a'");
  EXPECT_EQ(Linked({{".weak .global .u32 v = 1;"}, {".weak .func v() { ret; }"}}).error(),
            "Memory space doesn't match for 'v' in 'b', first specified in 'a'");
  EXPECT_EQ(Linked({{".weak .func f(.param .b32 a) { ret; }"}, {".weak .func f() { ret; }"}}).error(),
            "Prototype doesn't match for 'f' in 'b', first specified in 'a'");
  // An array whose size is not said agrees with every size.
  expect_valid(
      Linked({{".extern .global .u32 v[];" + reads}, {".visible .global .u32 v[4] = {1, 2, 3, 4};"}}));
}

TEST(PtxLink, PrivateNamesAreKeptApart) {
  const std::string text =
      ".global .align 1 .b8 $str[4] = {97, 98, 99, 0};\n.global .u64 table[1] = {generic($str)};\n"
      ".func (.param .b64 r) helper() { .reg .b64 %d<2>; mov.u64 %d1, $str; cvta.global.u64 %d1, %d1; "
      "st.param.b64 [r], %d1; ret; }\n"
      ".visible .entry NAME() { .reg .b64 %d<3>; { .param .b64 x; call (x), helper, (); "
      "ld.param.b64 %d1, [x]; } ld.global.u64 %d2, [table]; ret; }\n";
  const auto named = [&text](const std::string& name) {
    std::string copy = text;
    return copy.replace(copy.find("NAME"), 4, name);
  };
  const Linked linked({{named("one")}, {named("two")}, {".visible .func helper() { ret; }"}});
  expect_valid(linked);
  // The name that all units know stays; of the others the first has it, unless it is taken.
  EXPECT_TRUE(linked.has("call (x), helper$2, ()")) << linked.text;
  EXPECT_TRUE(linked.has("call (x), helper$3, ()")) << linked.text;
  EXPECT_TRUE(linked.has("generic($str)")) << linked.text;
  EXPECT_TRUE(linked.has("generic($str$2)")) << linked.text;
  EXPECT_TRUE(linked.has("[table$2]")) << linked.text;
}

TEST(PtxLink, NamesThatFunctionsDeclareThemselvesAreNotTheModules) {
  const std::string text =
      ".global .u32 a = 1;\n.visible .entry NAME(.param .u32 b) { .reg .u32 a; .reg .pred p; "
      "ld.param.u32 a, [b]; c: setp.eq.u32 p, a, 0; @p bra c; { .shared .u32 d; st.shared.u32 [d], a; } ret; "
      "}\n"
      ".global .u32 b = 2;\n.global .u32 c = 3;\n.global .u32 d = 4;\n";
  std::string other = text;
  std::string one = text;
  const Linked linked(
      {{one.replace(one.find("NAME"), 4, "k1")}, {other.replace(other.find("NAME"), 4, "k2")}});
  expect_valid(linked);
  EXPECT_EQ(linked.count("ld.param.u32 a, [b];"), 2) << linked.text;
  EXPECT_EQ(linked.count("bra c;"), 2) << linked.text;
  EXPECT_EQ(linked.count("st.shared.u32 [d], a;"), 2) << linked.text;
  EXPECT_TRUE(linked.has("a$2 = 1")) << linked.text;
}

TEST(PtxLink, ANewNameIsNobodysElse) {
  const Linked linked({{".global .u32 a = 1;" + std::string(kEmptyKernel)},
                       {".global .u32 a = 2;\n.visible .global .u32 a$2 = 3;\n"},
                       {".global .u32 a$3 = 4;\n"}});
  expect_valid(linked);
  for (const char* definition : {" a = 1", " a$4 = 2", " a$2 = 3", " a$3 = 4"})
    EXPECT_TRUE(linked.has(definition)) << definition << "\n" << linked.text;
}

TEST(PtxLink, FunctionsOfTheDriverStayDeclared) {
  const std::string text =
      ".extern .func (.param .b64 r) malloc(.param .b64 x);\n.extern .shared .align 4 .b8 s[];\n"
      ".visible .entry NAME() { .reg .b64 %d<2>; .reg .u32 %r<2>; ld.shared.u32 %r1, [s]; "
      "{ .param .b64 a; .param .b64 b; st.param.b64 [a], 8; call (b), malloc, (a); } ret; }\n";
  std::string one = text;
  std::string two = text;
  two.replace(two.find(".align 4"), 8, ".align 16");
  const Linked linked({{one.replace(one.find("NAME"), 4, "k1")}, {two.replace(two.find("NAME"), 4, "k2")}});
  expect_valid(linked);
  EXPECT_EQ(linked.count(".extern"), 2) << linked.text;  // each once
  EXPECT_TRUE(linked.has(".extern .shared .align 16 .b8 s[]")) << linked.text;
}

TEST(PtxLink, MembersOfLibrariesComeInWhenTheyAreNeeded) {
  const Text member{kDefinesF, Inclusion::kMember};
  const Text other{".visible .global .u32 w = 9;\n.visible .entry of_other() { ret; }", Inclusion::kMember};
  const Linked linked({{kCallsF}, other, member});
  expect_valid(linked);
  EXPECT_FALSE(linked.has("w = 9")) << linked.text;
  // Members need members, also earlier ones; a second one of the same name stays out.
  const Text needs_other{
      ".extern .global .u32 w;\n.visible .global .u32 v = 5;\n"
      ".visible .func (.param .b32 r) f(.param .b32 x) { .reg .u32 %r<2>; "
      "ld.global.u32 %r1, [w]; st.param.b32 [r], %r1; ret; }",
      Inclusion::kMember};
  const Linked chain({{kCallsF}, other, needs_other, member});
  expect_valid(chain);
  EXPECT_TRUE(chain.has("w = 9")) << chain.text;
  EXPECT_TRUE(chain.has("of_other")) << chain.text;
  EXPECT_EQ(chain.count("v = 5"), 1) << chain.text;
}

TEST(PtxLink, OfTheDeviceRuntimeComesInWhatIsReached) {
  const std::string runtime =
      ".func helper() { ret; }\n.visible .func (.param .b32 r) cudaGetDevice(.param .b64 p) { call helper, "
      "(); ret; }\n"
      ".visible .func (.param .b64 r) cudaGetParameterBufferV2() { ret; }\n.entry memset_kernel() { ret; }\n";
  const Text unit{runtime, Inclusion::kWhole, ".version 9.0\n.target sm_121\n.address_size 64\n"};
  const Linked without({{kEmptyKernel}, unit});
  expect_valid(without);
  EXPECT_EQ(without.count(".func"), 0) << without.text;
  EXPECT_TRUE(without.has(".version 8.0\n.target sm_75\n")) << without.text;
  const Linked with({{".extern .func (.param .b32 r) cudaGetDevice(.param .b64 p);\n"
                      ".visible .entry k() { { .param .b32 r; .param .b64 p; st.param.b64 [p], 0; "
                      "call (r), cudaGetDevice, (p); } ret; }"},
                     unit});
  expect_valid(with);
  EXPECT_TRUE(with.has("helper")) << with.text;
  EXPECT_FALSE(with.has("memset_kernel")) << with.text;
  EXPECT_FALSE(with.has("cudaGetParameterBufferV2")) << with.text;
  EXPECT_TRUE(with.has(".version 9.0\n.target sm_75\n")) << with.text;
}

TEST(PtxLink, VersionAndTargetAreTheHighest) {
  const auto head = [](const char* version, const char* target) {
    return std::string(".version ") + version + "\n.target " + target + "\n.address_size 64\n";
  };
  const Linked linked({{kEmptyKernel, Inclusion::kWhole, head("7.8", "sm_75, debug")},
                       {"", Inclusion::kWhole, head("8.1", "sm_70, texmode_independent")},
                       {"", Inclusion::kWhole, head("8.0", "sm_90")}});
  EXPECT_TRUE(linked.has(".version 8.1\n.target sm_90, texmode_independent\n")) << linked.text;
  EXPECT_EQ(Linked({{"", Inclusion::kWhole, ".version 6.0\n.target sm_50\n.address_size 32\n"}}).error(),
            "'a' has addresses of 32 bits: only 64-bit modules are supported");
}

TEST(PtxLink, DebugInformationIsLeftOut) {
  const std::string text =
      ".visible .entry k() {\n.loc 1 3 2\n{\n.loc 1 4 2\nret;\n}\n}\n.file 1 \"k.cu\"\n"
      ".section .debug_str {\n.b8 97\n}\n";
  const Linked linked({{text}, {".visible .global .u32 v = 1;\n.file 1 \"v.cu\""}});
  expect_valid(linked);
  for (const char* word : {".loc", ".file", ".section"}) EXPECT_FALSE(linked.has(word)) << linked.text;
}

TEST(PtxLink, AddressesInInitialValuesMeetToo) {
  const Linked linked(
      {{".extern .func f();\n.extern .global .u64 b;\n.visible .global .u64 a[2] = {generic(b), f};\n"
        ".visible .entry k() { .reg .b64 %d<2>; ld.global.u64 %d1, [a]; ret; }"},
       {".visible .func f() { ret; }\n.visible .global .u64 b = 7;\n"}});
  expect_valid(linked);
  EXPECT_LT(linked.text.find("b = 7"), linked.text.find("a[2]")) << linked.text;
}

TEST(PtxLink, CallTablesAndAliasesNameFunctionsOfTheirUnit) {
  const std::string text =
      ".func f() { ret; }\n.func g() { ret; }\n.visible .func NAME1();\n.alias NAME1, g;\n"
      ".visible .entry NAME2() { .reg .b64 %d<2>; mov.u64 %d1, f; t: .calltargets f, g;\n"
      "call %d1, (), t; ret; }\n";
  const auto named = [&text](const std::string& name) {
    std::string copy = text;
    for (std::size_t at = copy.find("NAME"); at != std::string::npos; at = copy.find("NAME"))
      copy.replace(at, 4, name);
    return copy;
  };
  const Linked linked(
      {{named("x")}, {named("y")}, {".extern .func y1();\n.visible .entry z() { call y1, (); ret; }"}});
  ASSERT_EQ(linked.error(), "");
  EXPECT_TRUE(linked.has(".calltargets f , g")) << linked.text;
  EXPECT_TRUE(linked.has(".calltargets f$2 , g$2")) << linked.text;
  EXPECT_TRUE(linked.has(".alias x1 , g ;")) << linked.text;
  EXPECT_TRUE(linked.has(".alias y1 , g$2 ;")) << linked.text;
}

TEST(PtxLink, ARefusedUnitIsLeftOut) {
  Linker linker;
  EXPECT_TRUE(linker.add(unit_of("a", {kEmptyKernel})).empty());
  EXPECT_FALSE(
      linker.add(unit_of("b", {kEmptyKernel + std::string(".visible .global .u32 v = 1;")})).empty());
  Messages errors;
  EXPECT_EQ(print(linker.link(errors)).find(" v "), std::string::npos);
  EXPECT_TRUE(errors.empty());
}

}  // namespace
}  // namespace fairgv::softcuda::link
