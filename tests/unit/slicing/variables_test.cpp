// The recognition of sources that may have variables which outlive a launch.
#include <gtest/gtest.h>

#include "slicing/program_variables.hpp"

namespace {

using fairgv::slicing::may_define_variables;
using fairgv::slicing::may_have_program_variables;

TEST(SlicingVariables, OrdinaryProgramsHaveNone) {
  for (const char* source : {
           "",
           "kernel void k(global int* out) { int x = 3; local int y[4]; out[0] = x; }",
           "int helper(int a); int helper(int a) { return a; }",
           "typedef struct { int a; } S; typedef int T; struct R { int b; }; struct F;",
           "constant int table[2] = {1, 2}; __constant float pi = 3.14f;",
           "constant sampler_t s = CLK_FILTER_NEAREST; const sampler_t t = 0;",
           "__attribute__((overloadable)) int f(int a) { return a; }",
           "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k() {}",
           "kernel void __attribute__((vec_type_hint(float4))) k() {} ;",
           "struct R f(struct R r) { return r; } enum E { a, b = 2 };",
           "#define COUNTER global int counter = 0;\n#pragma OPENCL EXTENSION all : enable\n",
           "// int x;\n/* global int y; */ kernel void k() { char* s = \"static\"; }",
           "kernel void k(global int* out, constant int* in) { for (int i = 0; i < 3; ++i) { out[i] = 0; } }",
       }) {
    EXPECT_FALSE(may_define_variables(source)) << source;
  }
}

TEST(SlicingVariables, VariablesOutsideOfFunctionsAreSeen) {
  for (const char* source : {
           "global int counter; kernel void k() {}",
           "int counter = 0;",
           "kernel void k() {} global int table[4] = {1, 2, 3, 4};",
           "__global float4 v __attribute__((aligned(64)));",
           "struct S { int a; } s;",
           "struct S s;",
           "static int hidden;",
           "global atomic_int a = ATOMIC_VAR_INIT(0);",
           "int f(void) { return 0; } int x;",
       }) {
    EXPECT_TRUE(may_define_variables(source)) << source;
  }
}

TEST(SlicingVariables, StaticVariablesOfFunctionsAreSeen) {
  EXPECT_TRUE(may_define_variables("kernel void k() { static global int n; n++; }"));
  EXPECT_TRUE(may_define_variables("int f() { if (1) { static int n; return n++; } return 0; }"));
  EXPECT_FALSE(may_define_variables("static int f() { return 0; }"));
}

TEST(SlicingVariables, AMacroThatCouldBeAnythingCountsAsOne) {
  EXPECT_TRUE(may_define_variables("DECLARE(counter); kernel void k() {}"));
  EXPECT_TRUE(may_define_variables("DECLARE(counter) kernel void k() {}"));
}

TEST(SlicingVariables, AnUnfinishedSourceIsReadToItsEnd) {
  EXPECT_FALSE(may_define_variables("kernel void k( {"));
  EXPECT_FALSE(may_define_variables(")}]"));
  EXPECT_TRUE(may_define_variables(")}] int x;"));
}

TEST(SlicingVariables, OnlySinceOpenClC20) {
  EXPECT_FALSE(may_have_program_variables(""));
  EXPECT_FALSE(may_have_program_variables("-cl-std=CL1.2 -DX=1"));
  EXPECT_TRUE(may_have_program_variables("-cl-std=CL2.0"));
  EXPECT_TRUE(may_have_program_variables("-DX -cl-std=CL3.0"));
  EXPECT_TRUE(may_have_program_variables("-cl-std=CL1.2 -cl-std=CLC++"));
}

}  // namespace
