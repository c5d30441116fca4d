// Headers of a program's own: the places and the time at which they are read, and their names in messages.
#include <filesystem>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

namespace fs = std::filesystem;

/// Kernels that write VALUE, which a header defines.
constexpr const char* kWrites = "\nkernel void write(global int* out) { out[0] = VALUE; }\n";

std::string including(const std::string& name) {
  return "#include " + name + kWrites;
}

class Includes : public OpenCL {
 protected:
  void TearDown() override { fs::current_path(started_in_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    folder_.write(name, text);
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string folder() const { return folder_.path(); }
  std::string searched() const { return "-I " + folder(); }

  std::string log_of(cl_program program) const {
    std::size_t size = 0;
    EXPECT_EQ(CL_SUCCESS, clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size));
    std::string log(size, '\0');
    EXPECT_EQ(CL_SUCCESS,
              clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr));
    return log.c_str();
  }
  /// The output of the built program's kernel, run by so many work-groups of one work-item.
  std::int32_t written_by(cl_program program, std::size_t groups = 1) const {
    const KernelHandle kernel = make_kernel(program, "write");
    const Buffer buffer = make_buffer(sizeof(std::int32_t));
    const cl_mem argument = buffer;
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(argument), &argument));
    constexpr std::size_t kOne = 1;
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &groups, &kOne, 0, nullptr, nullptr));
    std::int32_t value = -1;
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(value), &value, 0, nullptr, nullptr));
    return value;
  }
  /// Builds and runs; -1 if it does not build, with the log.
  std::int32_t value_of(const std::string& source, const std::string& options) const {
    const ProgramHandle program = make_program(source);
    const cl_int error = clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr);
    EXPECT_EQ(CL_SUCCESS, error) << log_of(program);
    return error == CL_SUCCESS ? written_by(program) : -1;
  }
  /// The log of a build that fails.
  std::string log_of_failure(const std::string& source, const std::string& options) const {
    const ProgramHandle program = make_program(source);
    EXPECT_NE(CL_SUCCESS, clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr));
    return log_of(program);
  }

 private:
  const harness::TemporaryFolder folder_;
  const fs::path started_in_ = fs::current_path();
};

TEST_F(Includes, AreFoundByAnAbsoluteFolderOfTheOptions) {
  write("own.h", "#define VALUE 3\n");
  EXPECT_EQ(3, value_of(including("\"own.h\""), searched()));
  EXPECT_EQ(3, value_of(including("<own.h>"), "-I" + path("")));
}

TEST_F(Includes, AreFoundFromTheWorkingFolderOfTheCall) {
  write("here/own.h", "#define VALUE 4\n");
  write("there/own.h", "#define VALUE 5\n");
  write("there/inner/own.h", "#define VALUE 6\n");
  fs::current_path(path("here"));
  EXPECT_EQ(4, value_of(including("\"own.h\""), "-I ."));
  fs::current_path(path("there"));
  EXPECT_EQ(5, value_of(including("<own.h>"), "-I ."));
  EXPECT_EQ(6, value_of(including("\"inner/own.h\""), "-I."));
  EXPECT_EQ(4, value_of(including("\"here/own.h\""), "-I .."));
}

TEST_F(Includes, AreFoundBesideTheHeaderThatIncludesThem) {
  write("a/outer.h", "#include \"inner/deep.h\"\n");
  write("a/inner/deep.h", "#include \"../../beside.h\"\n#define VALUE (BESIDE + 1)\n");
  write("beside.h", "#define BESIDE 7\n");
  EXPECT_EQ(8, value_of(including("\"a/outer.h\""), searched()));
}

TEST_F(Includes, AreTheSameFileByWhicheverWayTheyAreReached) {
  write("real/inner/once.h", "#pragma once\n#define VALUE 9\nint only_once(void) { return 1; }\n");
  write("up.h", "#define UP 1\n");
  fs::create_directory_symlink("real/inner", path("link"));
  fs::create_symlink("link/once.h", path("file.h"));
  write("real/up.h", "#define UP 20\n");
  const std::string source =
      "#include \"link/once.h\"\n#include \"real/inner/once.h\"\n#include \"file.h\"\n#include "
      "\"link/../up.h\"\nkernel void write(global int* out) { out[0] = VALUE + UP; }";
  EXPECT_EQ(29, value_of(source, searched())) << "the .. behind a link is the parent of the link's target";
}

TEST_F(Includes, MayBeNamedByTheirWholePath) {
  write("own.h", "#include \"" + path("deeper/own.h") + "\"\n");
  write("deeper/own.h", "#define VALUE 11\n");
  EXPECT_EQ(11, value_of(including('"' + path("own.h") + '"'), ""));
}

TEST_F(Includes, MayIncludeEachOther) {
  write("a.h", "#ifndef A\n#define A\n#include \"b.h\"\n#define VALUE B\n#endif\n");
  write("b.h", "#ifndef B\n#define B 12\n#include \"a.h\"\n#endif\n");
  EXPECT_EQ(12, value_of(including("\"a.h\""), searched()));
}

TEST_F(Includes, MayBeNamedByMacros) {
  write("own.h", "#define VALUE 13\n");
  EXPECT_EQ(13, value_of("#define HEADER \"own.h\"\n" + including("HEADER"), searched()));
  EXPECT_EQ(13, value_of("#define TEXT(x) #x\n#define NAME(x) TEXT(x)\n" + including("NAME(CHOSEN)"),
                         searched() + " -DCHOSEN=own.h"));
  // hashcat names its headers like this.
  write("inner/outer.h", "#include NAME(WHERE/own.h)\n");
  EXPECT_EQ(13,
            value_of("#define TEXT(x) #x\n#define NAME(x) TEXT(x)\n" + including("NAME(WHERE/inner/outer.h)"),
                     "-D WHERE=" + folder()));
}

TEST_F(Includes, AreReadAgainByEachBuild) {
  for (const bool absolute : {true, false}) {
    fs::current_path(path(""));
    const std::string options = absolute ? searched() : "-I .";
    for (const int value : {14, 15}) {
      write("own.h", "#define VALUE " + std::to_string(value) + '\n');
      EXPECT_EQ(value, value_of(including("\"own.h\""), options)) << options;
    }
    const ProgramHandle program = make_program("# include \"own.h\"" + std::string(kWrites));
    for (const int value : {16, 17}) {
      write("own.h", "#define VALUE " + std::to_string(value) + '\n');
      ASSERT_EQ(CL_SUCCESS, clCompileProgram(program, 0, nullptr, options.c_str(), 0, nullptr, nullptr,
                                             nullptr, nullptr));
      const cl_program inputs[] = {program};
      cl_int error = CL_SUCCESS;
      const ProgramHandle linked(
          clLinkProgram(context, 0, nullptr, nullptr, 1, inputs, nullptr, nullptr, &error));
      ASSERT_EQ(CL_SUCCESS, error);
      EXPECT_EQ(value, written_by(linked)) << options;
    }
  }
}

TEST_F(Includes, ThatAreNotNeededMayBeMissing) {
  write("own.h", "#define VALUE 18\n#ifdef NEVER\n#include <no_such_header.h>\n#endif\n");
  EXPECT_EQ(18,
            value_of("#if 0\n#include \"no_such_header.h\"\n#endif\n" + including("\"own.h\""), searched()));
}

TEST_F(Includes, ThatAreMissingAreNamedInTheLog) {
  EXPECT_NE(std::string::npos,
            log_of_failure(including("\"no_such_header.h\""), searched()).find("'no_such_header.h'"));
  write("own.h", "#include \"nor_this_one.h\"\n");
  EXPECT_NE(std::string::npos, log_of_failure(including("\"own.h\""), searched()).find("'nor_this_one.h'"));
  const std::string absolute = path("not_there.h");
  EXPECT_NE(std::string::npos,
            log_of_failure(including('"' + absolute + '"'), "").find('\'' + absolute + '\''));
}

TEST_F(Includes, HaveTheirOwnNamesInMessages) {
  write("inner/broken.h", "\n\nint broken(void) { return no_such_name; }\n");
  const std::string log = log_of_failure(including("\"inner/broken.h\""), searched());
  EXPECT_NE(std::string::npos, log.find(path("inner/broken.h") + ":3:")) << log;
  fs::current_path(path("inner"));
  const std::string relative = log_of_failure(including("\"broken.h\""), "-I .");
  EXPECT_NE(std::string::npos, relative.find("broken.h:3:")) << relative;
  EXPECT_EQ(std::string::npos, (log + relative).find("fairgv-headers")) << log << relative;
}

TEST_F(Includes, HaveTheirOwnNamesAndLinesAsText) {
  write("own.h", "\nconstant int name_bytes = sizeof(__FILE__);\nconstant int line_here = __LINE__;\n");
  const std::string source = "#include \"own.h\"\nkernel void write(global int* out) { out[0] = ";
  EXPECT_EQ(static_cast<std::int32_t>(path("own.h").size() + 1),
            value_of(source + "name_bytes; }", searched()));
  EXPECT_EQ(3, value_of(source + "line_here; }", searched()));
}

TEST_F(Includes, LeaveSourceAndOptionsAsTheyWereGiven) {
  write("own.h", "#define VALUE 19\n");
  const std::string source = including('"' + path("own.h") + '"');
  const ProgramHandle program = make_program(source);
  ASSERT_EQ(CL_SUCCESS, clBuildProgram(program, 0, nullptr, searched().c_str(), nullptr, nullptr));
  char text[4096] = {};
  ASSERT_EQ(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof(text), text, nullptr));
  EXPECT_EQ(source, text);
  ASSERT_EQ(CL_SUCCESS,
            clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof(text), text, nullptr));
  EXPECT_EQ(searched(), text);
}

TEST_F(Includes, ComeAfterHeadersThatTheProgramEmbeds) {
  write("which.h", "#define VALUE 1\n");
  write("from_file.h", "#define FROM_FILE 20\n");
  const ProgramHandle embedded = make_program("#include \"from_file.h\"\n#define VALUE (FROM_FILE + 2)\n");
  const ProgramHandle user = make_program(including("\"which.h\""));
  const cl_program headers[] = {embedded};
  const char* names[] = {"which.h"};
  ASSERT_EQ(CL_SUCCESS,
            clCompileProgram(user, 0, nullptr, searched().c_str(), 1, headers, names, nullptr, nullptr))
      << log_of(user);
  const cl_program inputs[] = {user};
  cl_int error = CL_SUCCESS;
  const ProgramHandle linked(
      clLinkProgram(context, 0, nullptr, nullptr, 1, inputs, nullptr, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(22, written_by(linked));
}

TEST_F(Includes, MayDefineVariablesThatKeepTheirValues) {
  // PoCL 3.1 has this query and answers 0.
  const bool is_pocl = device_text(CL_DEVICE_VERSION).find("PoCL") != std::string::npos;
  if (!is_pocl && device_info<std::size_t>(device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE) == 0) {
    GTEST_SKIP() << "the driver has no variables of programs";
  }
  write("state.h", "global int launches = 40;\n");
  const std::string source =
      "#include \"state.h\"\nkernel void write(global int* out) {\n"
      "  if (get_global_id(0) == get_global_size(0) - 1) out[0] = ++launches;\n}";
  const ProgramHandle program = build(source, searched() + " -cl-std=CL2.0");
  for (const std::int32_t launches : {41, 42, 43, 44, 45}) EXPECT_EQ(launches, written_by(program, 16));
}

TEST_F(Includes, ArePrintedFromLikeAnySource) {
  write("prints.h", "void say(void) { printf(\"said by a header\\n\"); }\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(1, value_of("#include \"prints.h\"\nkernel void write(global int* out) { say(); out[0] = 1; }",
                        searched()));
  EXPECT_EQ("said by a header\n", testing::internal::GetCapturedStdout());
}

}  // namespace
}  // namespace fairgv::test
