// The PTX reader: the parts that it keeps, the texts that it refuses, and that printing and reading again
// changes nothing. Also the texts that the translator refuses, by line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <variant>

#include "cuda-shim/softcuda/translate/translate.hpp"
#include "slicing/ptx/parser.hpp"
#include "slicing/ptx/printer.hpp"
#include "tests/cuda/ptx/refusal.hpp"
#include "tests/harness/seed.hpp"

namespace {

using namespace fairgv::slicing::ptx;
using fairgv::ptx_test::refusal_of;
using fairgv::softcuda::translate;

// A module with one of everything that the reader knows.
constexpr std::string_view kModule = R"(// a comment
.version 8.3
.target sm_90a, debug
.address_size 64
.file 1 "a file.cu"
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 8 .u64 table[2][2] = {{1, generic(text)+1}, {2}};
.visible .const .f32 factors[3] = {0f3F800000, 1.5, -2.0e3};
.global .align 1 .b8 text[4] = {0x61, 98U, 0143, 0b1100100};
.global .attribute(.managed) .u32 managed;
.func (.param .align 8 .b8 out[16]) helper (.param .b32 x) .noreturn
{
  ret;
}
.visible .entry kernel (
  .param .u64 .ptr .global .align 16 pointer,
  .param .align 8 .b8 block[24]
)
.maxntid 256, 1, 1
.minnctapersm 2
{
  .reg .pred %p<3>;
  .reg .b32 %r<10>, %only;
  .local .align 16 .b8 depot[32];
  .loc 1 7 3
  .pragma "nounroll";
start:
  @%p1 bra other;
  @!%p2 ld.global.nc.L2::128B.v4.u32 {%r1, %r2, _, %r4}, [pointer+-16];
  setp.lt.and.s32 %p1|%p2, %r1, -5, !%p0;
  /* a comment
     of two lines */ { .param .b64 p; call.uni (p), helper, (p, p); }
targets: .branchtargets start, other;
  brx.idx %r1, targets;
other:
  mov.b32 %r5, dynamic+4;
  ret;
}
)";

Module read(std::string_view text) {
  auto parsed = parse(text);
  if (auto* error = std::get_if<ParseError>(&parsed)) {
    ADD_FAILURE() << "line " << error->line << ": " << error->message;
    return {};
  }
  return std::move(std::get<Module>(parsed));
}

const Function& kernel_of(const Module& module) {
  for (const auto& item : module.items) {
    if (const auto* function = std::get_if<Function>(&item); function != nullptr && function->entry)
      return *function;
  }
  throw std::runtime_error("no entry");
}

TEST(PtxReader, PrintingAndReadingAgainGivesTheSameModule) {
  const std::string text(kModule);
  const Module module = read(text);
  EXPECT_EQ(module.items.size(), 9u);
  const Module again = read(print(module));
  EXPECT_TRUE(again == module) << print(module);
  EXPECT_EQ(print(again), print(module));
}

TEST(PtxReader, StatementsKnowTheirPlaceInTheText) {
  const std::string text(kModule);
  const Module module = read(text);
  const Function& kernel = kernel_of(module);
  EXPECT_EQ(text.substr(kernel.span.begin, 14), ".visible .entr");
  EXPECT_EQ(text[kernel.body_span.begin], '{');
  EXPECT_EQ(text[kernel.body_span.end - 1], '}');
  std::size_t instructions = 0;
  for (const Statement& statement : kernel.body->statements) {
    const auto* instruction = std::get_if<Instruction>(&statement.content);
    if (instruction == nullptr) continue;
    ++instructions;
    const std::string source = text.substr(statement.span.begin, statement.span.end - statement.span.begin);
    EXPECT_NE(source.find(instruction->opcode[0]), std::string::npos) << source;
    EXPECT_EQ(source.back(), ';');
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(statement.span.begin), '\n');
    EXPECT_EQ(statement.span.line, line);
  }
  EXPECT_EQ(instructions, 6u);
}

TEST(PtxReader, WhateverTheTextIsTheAnswerIsAModuleOrAnErrorWithItsLine) {
  std::mt19937_64 generator(fairgv::harness::printed_seed());
  const std::string text(kModule);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = text;
    for (std::size_t changes = generator() % 4; changes-- > 0;) {
      const std::size_t at = generator() % damaged.size();
      switch (generator() % 3) {
        case 0:
          damaged[at] = static_cast<char>(generator() % 128);
          break;
        case 1:
          damaged.erase(at, generator() % 40);
          break;
        default:
          damaged.insert(at, damaged.substr(generator() % damaged.size(), generator() % 40));
      }
    }
    if (generator() % 2 == 0) damaged.resize(generator() % damaged.size());
    auto parsed = parse(damaged);
    if (const auto* error = std::get_if<ParseError>(&parsed)) {
      EXPECT_GT(error->line, 0);
      EXPECT_FALSE(error->message.empty());
    }
    // The translator does not fail on the rest either.
    const auto translation = translate(damaged);
    if (!translation) {
      EXPECT_FALSE(translation.error().text().empty());
    }
  }
}

TEST(PtxReader, NestingWithoutEndIsRefused) {
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  EXPECT_TRUE(
      std::holds_alternative<ParseError>(parse(head + ".global .b8 a[] = " + std::string(100000, '{'))));
  EXPECT_TRUE(std::holds_alternative<ParseError>(parse(head + ".entry e() " + std::string(100000, '{'))));
}

// ---- texts that the translator refuses

std::string refusal(const std::string& statement) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .b16 %h<4>;\n" +
      statement + "\nret;\n}\n";
  return refusal_of(text);
}

TEST(PtxTranslator, WhatItCannotDoIsNamedWithItsLine) {
  const char* refused[] = {
      "sured.b.1d.add.u32.trap [%rd1, {%r1}], %r2;",
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};",
      "mov.u32 %r1, %nothing0;",
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], %r2;",
      "atom.global.exch.b128 %rd1, [%rd2], %rd3;",
      "barrier.cluster.arrive.aligned;",
      "shfl.up.b32 %r1, %r2, 1, 0;",
      "add.s32 %r1, %r2, nothing;",
      "call %r1;",
      "ld.global.u64 %r1, [%rd1];",
      "frobnicate.u32 %r1, %r2;",
  };
  for (const char* statement : refused) {
    const std::string text = refusal(statement);
    EXPECT_TRUE(text.starts_with("PTX line 10: `")) << statement << " -> " << text;
    const std::string opcode(statement, std::string_view(statement).find(' ') == std::string_view::npos
                                            ? 8
                                            : std::string_view(statement).find(' '));
    EXPECT_NE(text.find(opcode), std::string::npos) << text;
  }
}

TEST(PtxTranslator, AKernelThatLaunchesKernelsIsToldSoInWords) {
  const auto refusal = [](const std::string& function) {
    return refusal_of(".version 7.0\n.target sm_75\n.address_size 64\n.extern .func " + function +
                      "();\n.visible .entry k() {\ncall " + function + ", ();\nret;\n}\n");
  };
  const std::string in_words = "kernels that launch kernels (dynamic parallelism) are not supported";
  for (const char* const each :
       {"cudaLaunchDevice", "cudaLaunchDeviceV2_ptsz", "cudaGetParameterBufferV2", "__cudaCDP2LaunchDeviceV2",
        "cnpLaunchDevice", "__cuda_syscall_cnpGetParameterBuffer"}) {
    const std::string text = refusal(each);
    EXPECT_NE(text.find(in_words), std::string::npos) << each << ": " << text;
    EXPECT_NE(text.find(std::string(each) + " is not provided"), std::string::npos) << text;
  }
  for (const char* const each : {"launch", "__cuda_syscall_other"}) {
    const std::string text = refusal(each);
    EXPECT_EQ(text.find(in_words), std::string::npos) << text;
    EXPECT_NE(text.find(std::string(each) + " is not provided"), std::string::npos) << text;
  }
}

// Found by fuzzing: the values of such variables were written where nothing had been laid out.
TEST(PtxTranslator, OnlyVariablesThatLieInTheModuleHaveInitialValues) {
  const auto error_of = [](const std::string& variable) {
    return refusal_of(".version 8.7\n.target sm_75\n.address_size 64\n.global .u32 first = 7;\n" + variable +
                      "\n");
  };
  EXPECT_EQ(error_of(".global .u32 last[2] = {1, 2};"), "");
  EXPECT_EQ(error_of(".const .u32 last = 1;"), "");
  for (const char* const variable :
       {".shared .align 4 .u32 g[4] = {1, 2, 3, 4};", ".extern .global .u32 g[4] = {1, 2, 3, 4};",
        ".extern .global .u32 first = 1;"}) {
    const std::string text = error_of(variable);
    EXPECT_NE(text.find("line 5"), std::string::npos) << variable << ": " << text;
    EXPECT_NE(text.find("initial values"), std::string::npos) << variable << ": " << text;
  }
}

TEST(PtxTranslator, AVariableThatCannotBeHadRefusesTheKernelsThatNameIt) {
  const auto translation = translate(
      ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref t;\n.global .u32 g;\n"
      ".entry uses()\n{\n.reg .b64 %d;\nmov.u64 %d, t;\nret;\n}\n"
      ".entry other()\n{\n.reg .b64 %d;\nmov.u64 %d, g;\nret;\n}\n");
  ASSERT_TRUE(translation) << translation.error().text();
  ASSERT_EQ(translation.value().kernels.size(), 1u);
  EXPECT_EQ(translation.value().kernels[0].name, "other");
  ASSERT_EQ(translation.value().refused.size(), 2u);
  EXPECT_EQ(translation.value().refused[0].name, "t");
  EXPECT_FALSE(translation.value().refused[0].kernel);
  EXPECT_EQ(translation.value().refused[1].name, "uses");
  EXPECT_TRUE(translation.value().refused[1].kernel);
  EXPECT_NE(translation.value().refused[1].error.text().find("texture"), std::string::npos);
}

TEST(PtxTranslator, PointersToFunctionsAreTheSameEverywhereInTheirModule) {
  const auto translation = translate(
      ".version 8.0\n.target sm_75\n.address_size 64\n.func f();\n.func g();\n.alias h, g;\n"
      ".global .u64 table[3] = {f, g, h};\n"
      ".global .u8 bytes[8] = {0xFF(g), 0xFF00(g), 0xFF0000(g), 0xFF000000(g), 0xFF00000000(g), "
      "0xFF0000000000(g), 0xFF000000000000(g), 0xFF00000000000000(g)};\n"
      ".func f()\n{\nret;\n}\n.func g()\n{\nret;\n}\n");
  ASSERT_TRUE(translation) << translation.error().text();
  ASSERT_TRUE(translation.value().refused.empty()) << translation.value().refused[0].error.text();
  std::uint64_t values[4];
  ASSERT_EQ(translation.value().data.size(), sizeof values);
  std::memcpy(values, translation.value().data.data(), sizeof values);
  EXPECT_NE(values[0], 0u);
  EXPECT_NE(values[1], 0u);
  EXPECT_NE(values[0], values[1]);
  EXPECT_EQ(values[1], values[2]);
  EXPECT_EQ(values[1], values[3]);
}

TEST(PtxTranslator, TheLayoutOfParametersIsThatOfCuda) {
  const auto translation = translate(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k$1(.param .u8 a, .param .u64 b, "
      ".param .align 4 .b8 "
      "c[6], .param .u16 d)\n.reqntid 32, 2, 1\n{\n.shared .b8 s[5];\n.reg .b32 %r<2>;\nmov.u32 %r1, "
      "s;\nret;\n}\n");
  ASSERT_TRUE(translation) << translation.error().text();
  const auto& kernel = translation.value().kernels.at(0);
  EXPECT_EQ(kernel.name, "k$1");
  ASSERT_EQ(kernel.parameters.size(), 4u);
  const std::uint32_t offsets[] = {0, 8, 16, 22};
  const std::uint32_t sizes[] = {1, 8, 6, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(kernel.parameters[i].offset, offsets[i]);
    EXPECT_EQ(kernel.parameters[i].size, sizes[i]);
  }
  EXPECT_EQ(kernel.parameter_bytes, 24u);
  EXPECT_EQ(kernel.static_shared_bytes, 5u);
  EXPECT_EQ(kernel.required_threads[0], 32u);
  EXPECT_EQ(kernel.required_threads[1], 2u);
}

}  // namespace
