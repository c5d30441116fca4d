// Sizes of kernel argument types, and the values that a described argument expects.
#include <gtest/gtest.h>

#include "icd/cl.hpp"
#include "icd/programs/argument_types.hpp"

namespace fairgv::icd {
namespace {

TEST(ArgumentTypes, BuiltInTypesHaveTheSizesOfTheHostTypes) {
  EXPECT_EQ(sizeof(cl_char), builtin_type_bytes("char"));
  EXPECT_EQ(sizeof(cl_uchar), builtin_type_bytes("unsigned char"));
  EXPECT_EQ(sizeof(cl_ushort), builtin_type_bytes("ushort"));
  EXPECT_EQ(sizeof(cl_half), builtin_type_bytes("half"));
  EXPECT_EQ(sizeof(cl_uint), builtin_type_bytes("unsigned int"));
  EXPECT_EQ(sizeof(cl_float), builtin_type_bytes("float"));
  EXPECT_EQ(sizeof(cl_ulong), builtin_type_bytes("ulong"));
  EXPECT_EQ(sizeof(cl_double), builtin_type_bytes("double"));
}

TEST(ArgumentTypes, VectorsHaveTheSizesOfTheHostVectors) {
  EXPECT_EQ(sizeof(cl_char2), builtin_type_bytes("char2"));
  EXPECT_EQ(sizeof(cl_float3), builtin_type_bytes("float3"));
  EXPECT_EQ(sizeof(cl_int4), builtin_type_bytes("int4"));
  EXPECT_EQ(sizeof(cl_short8), builtin_type_bytes("short8"));
  EXPECT_EQ(sizeof(cl_double16), builtin_type_bytes("double16"));
}

TEST(ArgumentTypes, NamesOfTheProgramHaveNoKnownSize) {
  for (const char* name :
       {"Record", "struct foo", "real_t", "int5", "float32", "unsigned int4", "", "float*", "4"}) {
    EXPECT_FALSE(builtin_type_bytes(name).has_value()) << name;
  }
}

TEST(ArgumentTypes, QualifiersDoNotMatter) {
  EXPECT_EQ(4U, builtin_type_bytes("const uint"));
  EXPECT_EQ(16U, builtin_type_bytes("__private const float4 "));
}

wire::KernelArgument argument(std::uint32_t address, const char* type) {
  wire::KernelArgument described;
  described.address_qualifier = address;
  described.type_name = type;
  return described;
}

TEST(ArgumentTypes, TheAddressSpaceDecidesWhatIsExpected) {
  EXPECT_EQ(ArgumentClass::memory, classify(argument(CL_KERNEL_ARG_ADDRESS_GLOBAL, "float*")).kind);
  EXPECT_EQ(ArgumentClass::memory, classify(argument(CL_KERNEL_ARG_ADDRESS_CONSTANT, "Record*")).kind);
  EXPECT_EQ(ArgumentClass::local, classify(argument(CL_KERNEL_ARG_ADDRESS_LOCAL, "int*")).kind);
  const ArgumentType value = classify(argument(CL_KERNEL_ARG_ADDRESS_PRIVATE, "float4"));
  EXPECT_EQ(ArgumentClass::value, value.kind);
  EXPECT_EQ(16U, value.bytes);
  EXPECT_EQ(0U, classify(argument(CL_KERNEL_ARG_ADDRESS_PRIVATE, "Record")).bytes);
}

TEST(ArgumentTypes, ImagesSamplersAndPipesAreNeitherBuffersNorValues) {
  wire::KernelArgument pipe = argument(CL_KERNEL_ARG_ADDRESS_GLOBAL, "int");
  pipe.type_qualifier = CL_KERNEL_ARG_TYPE_PIPE;
  EXPECT_EQ(ArgumentClass::pipe, classify(pipe).kind);
  EXPECT_EQ(ArgumentClass::image, classify(argument(CL_KERNEL_ARG_ADDRESS_GLOBAL, "image2d_t")).kind);
  EXPECT_EQ(ArgumentClass::sampler, classify(argument(CL_KERNEL_ARG_ADDRESS_PRIVATE, "sampler_t")).kind);
  EXPECT_EQ(ArgumentClass::value, classify(argument(CL_KERNEL_ARG_ADDRESS_PRIVATE, "image_size")).kind);
}

}  // namespace
}  // namespace fairgv::icd
