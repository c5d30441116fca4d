// The prelude in the driver's compiler: line numbers, warnings as errors, and programs that must not build
// with the prelude.
#include <regex>

#include "tests/integration/slicing/programs.hpp"

namespace fairgv::test {
namespace {

constexpr const char* kStandards[] = {"-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"};

class SlicingBuild : public SlicingPrograms {
 protected:
  struct Built {
    cl_int error;
    std::string log;
  };

  Built built(Form form, const std::string& source, const std::string& options) const {
    const ProgramHandle program = make_program(in_form(form, source));
    const cl_int error = clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr);
    std::size_t size = 0;
    EXPECT_EQ(CL_SUCCESS, clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size));
    std::string log(size, '\0');
    EXPECT_EQ(CL_SUCCESS,
              clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr));
    return {error, log};
  }

  void expect_only_the_original_builds(const std::string& source, const std::string& options) const {
    EXPECT_EQ(CL_SUCCESS, built(Form::kOriginal, source, options).error);
    EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, built(Form::kSliceable2D, source, options).error);
  }
};

std::string first_place(const std::string& log) {
  std::smatch place;
  return std::regex_search(log, place, std::regex(":[0-9]+:[0-9]+")) ? place.str() : "none in: " + log;
}

TEST_F(SlicingBuild, ErrorsAreOnTheSameLineAndColumn) {
  const std::string source =
      "// one\n\n\nkernel void k(global int* out) {\n"
      "  const size_t i = get_global_id(0);\n  out[i] = undeclared;\n}\n";
  for (const char* standard : kStandards) {
    const Built original = built(Form::kOriginal, source, standard);
    const Built sliceable = built(Form::kSliceable1D, source, standard);
    EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, original.error);
    EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, sliceable.error);
    EXPECT_EQ(":6:12", first_place(original.log));
    EXPECT_EQ(":6:12", first_place(sliceable.log));
  }
}

TEST_F(SlicingBuild, NothingIsAddedToTheLog) {
  const std::string source = "kernel void k(global int* out) { int unused[3]; out[0] = 1; }";
  for (const std::string standard : kStandards) {
    const Built original = built(Form::kOriginal, source, standard + " -Werror");
    for (const Form form : {Form::kSliceable1D, Form::kSliceable2D, Form::kSliceable3D}) {
      const Built sliceable = built(form, source, standard + " -Werror");
      EXPECT_EQ(CL_SUCCESS, sliceable.error) << sliceable.log;
      EXPECT_EQ(original.log, sliceable.log);
    }
  }
}

TEST_F(SlicingBuild, AProgramMayNameItsOwnWhatAnOlderStandardDoesNotHave) {
  const std::string source =
      "size_t get_global_linear_id_of(uint d) { return get_global_id(d); }\n"
      "#define get_enqueued_local_size get_local_size\n"
      "kernel void k(global ulong* out) { out[get_global_linear_id_of(0)] = get_enqueued_local_size(0); }\n";
  const Built sliceable = built(Form::kSliceable3D, source, "-cl-std=CL1.2 -Werror");
  EXPECT_EQ(CL_SUCCESS, sliceable.error) << sliceable.log;
}

// The function would see the sub-launch, so the kernel must run whole; the failed build tells the slicer
// that.
TEST_F(SlicingBuild, ARedefinedWorkItemFunctionDoesNotBuild) {
  const std::string body = "kernel void k(global int* out) { out[get_group_id(0)] = get_local_id(0); }\n";
  expect_only_the_original_builds("#define get_group_id(d) ((int)get_group_id(d))\n" + body, "");
  expect_only_the_original_builds("#undef get_group_id\n" + body, "");
  expect_only_the_original_builds("ulong other(uint d) { return get_global_id(d); }\n" + body,
                                  "-D get_group_id=get_local_id");
}

}  // namespace
}  // namespace fairgv::test
