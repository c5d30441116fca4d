// The prelude in front of a source, and the sources that are left alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "slicing/opencl_c.hpp"
#include "slicing/source_words.hpp"

namespace {

using fairgv::slicing::prelude;
using fairgv::slicing::sliceable_source;
using fairgv::slicing::SourceWords;
using fairgv::slicing::why_not_sliceable;

std::vector<std::string> words_of(std::string_view source) {
  SourceWords words(source);
  std::vector<std::string> all;
  while (const auto word = words.next()) all.emplace_back(*word);
  return all;
}

TEST(SlicingSource, KeepsTheSourceAndItsLineNumbers) {
  const std::string source = "kernel void k() {}\n";
  const std::string rewritten = sliceable_source(source, 2);
  EXPECT_TRUE(rewritten.ends_with("#endif\n#line 1\n" + source));
  EXPECT_EQ(rewritten, prelude(2) + source);
}

TEST(SlicingSource, WordsAreIdentifiersOutsideOfCommentsAndLiterals) {
  EXPECT_EQ(words_of("int a_1=0x1Fu; // b\n/* c\n d */ e(\"f \\\" g\", 'h')i"),
            (std::vector<std::string>{"int", "a_1", "e", "i"}));
}

TEST(SlicingSource, AWordMayBeSplicedFromTwoLines) {
  EXPECT_EQ(words_of("get_\\\nglobal_\\\r\nid"), std::vector<std::string>{"get_global_id"});
  EXPECT_EQ(words_of("// comment \\\n still a comment\nend"), std::vector<std::string>{"end"});
}

TEST(SlicingSource, AnUnclosedCommentOrLiteralEndsWithTheTextOrTheLine) {
  EXPECT_EQ(words_of("a /* b"), std::vector<std::string>{"a"});
  EXPECT_EQ(words_of("a \"b \\"), std::vector<std::string>{"a"});
  EXPECT_EQ(words_of("#error don't\nb"), (std::vector<std::string>{"error", "don", "b"}));
  EXPECT_EQ(words_of("a //"), std::vector<std::string>{"a"});
}

TEST(SlicingSource, OrdinaryProgramsAreSliceable) {
  EXPECT_EQ(why_not_sliceable(""), std::nullopt);
  EXPECT_EQ(why_not_sliceable("#define GID get_global_id(0)\n"
                              "kernel void k(global int* pipe) { pipe[GID] = get_group_id(0); }"),
            std::nullopt);
  EXPECT_EQ(why_not_sliceable("// enqueue_kernel\nconstant char s[] = \"asm #undef get_group_id\";"),
            std::nullopt);
}

TEST(SlicingSource, AKernelThatMustRunWholeSaysWhy) {
  EXPECT_EQ(why_not_sliceable("void f() { enqueue_kernel(q, 0, r, ^{}); }"),
            "it enqueues kernels on the device");
  EXPECT_EQ(why_not_sliceable("read_pipe(p, &x);"), "it uses pipes");
  EXPECT_EQ(why_not_sliceable("work_group_reserve_read_pipe(p, 1);"), "it uses pipes");
  EXPECT_EQ(why_not_sliceable("sub_group_commit_write_pipe(p, r);"), "it uses pipes");
  EXPECT_EQ(why_not_sliceable("__asm__ volatile (\"\");"), "it has inline assembly");
  EXPECT_EQ(why_not_sliceable("# undef /* ! */ get_num_groups"), "it redefines a work-item function");
  EXPECT_EQ(why_not_sliceable("#define get_global_id(d) ((int)get_global_id(d))"),
            "it redefines a work-item function");
  EXPECT_EQ(why_not_sliceable("int x = __builtin_amdgcn_workgroup_id_x();"),
            "it reads work-group numbers past OpenCL C");
}

}  // namespace
