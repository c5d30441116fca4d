// The names of kernels in the form that people know.
#include <gtest/gtest.h>

#include "runtime/vgpu/issue/kernel_name.hpp"

namespace fairgv::vgpu {
namespace {

TEST(KernelName, IsTheFunctionsWithoutItsParameters) {
  EXPECT_EQ(kernel_name("_Z9matrixMulPfS_i"), "matrixMul");
  EXPECT_EQ(kernel_name("_ZN5image4blurEPf"), "image::blur");
}

// nvcc gives a file's nameless namespace a name of its own making.
TEST(KernelName, LeavesNamespacesWithoutANameOut) {
  EXPECT_EQ(kernel_name("_ZN9workloads4cuda39_GLOBAL__N__1872c867_10_hotspot_cu_main7advanceEPfPKfS4_ii"),
            "workloads::cuda::advance");
  EXPECT_EQ(kernel_name("_ZN12_GLOBAL__N_14blurEPf"), "blur");
}

TEST(KernelName, LeavesTemplateArgumentsAndReturnTypesOut) {
  EXPECT_EQ(kernel_name("_Z6reduceIfLj512EEvPT_S1_j"), "reduce");  // void reduce<float, 512u>(...)
  EXPECT_EQ(kernel_name("_ZN4sums3AddIiE3runIfEEvPT_"),
            "sums::Add::run");  // void sums::Add<int>::run<float>(...)
  EXPECT_EQ(kernel_name("_ZN12_GLOBAL__N_14blurINS_3BoxEEEvPT_"), "blur");  // of a type that is local, too
}

TEST(KernelName, OfATextThatIsNoCppSymbolStaysAsItIs) {
  EXPECT_EQ(kernel_name("vector_add"), "vector_add");
  EXPECT_EQ(kernel_name("_Znonsense"), "_Znonsense");
  EXPECT_EQ(kernel_name(""), "");
}

}  // namespace
}  // namespace fairgv::vgpu
