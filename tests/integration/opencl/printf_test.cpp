// The output of kernels: it appears on the program's own standard output, before anything that the program
// prints once it has learnt that the kernel has ended (OpenCL C 3.0, section 6.15.14).
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

/// Redirects standard output to a file while this object lives.
class CapturedOutput {
 public:
  CapturedOutput() {
    std::fflush(stdout);
    before_ = ::dup(STDOUT_FILENO);
    const int file = ::mkstemp(path_.data());
    ::dup2(file, STDOUT_FILENO);
    ::close(file);
  }
  ~CapturedOutput() {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
    std::filesystem::remove(path_);
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

 private:
  int before_ = -1;
  std::string path_ = (std::filesystem::temp_directory_path() / "fairgv-printf-XXXXXX").string();
};

void say(const std::string& text) {
  ASSERT_EQ(::write(STDOUT_FILENO, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

class Printf : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    program = build(R"(
      kernel void greet(int number) { printf("kernel %d\n", number); }
      kernel void recite(int lines) { for (int i = 0; i < lines; ++i) printf("line %d of many\n", i); })");
  }
  void launch(const char* name, cl_int argument) {
    const KernelHandle kernel = make_kernel(program, name);
    const std::size_t one = 1;
    ASSERT_EQ(clSetKernelArg(kernel, 0, sizeof(argument), &argument), CL_SUCCESS);
    ASSERT_EQ(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, &event), CL_SUCCESS);
    events.emplace_back(event);
  }

  ProgramHandle program;
  cl_event event = nullptr;
  std::vector<EventHandle> events;
};

TEST_F(Printf, OutputStandsBetweenWhatTheProgramPrintsBeforeAndAfter) {
  const CapturedOutput output;
  say("before\n");
  launch("greet", 7);
  ASSERT_EQ(clFinish(queue), CL_SUCCESS);
  say("between\n");
  launch("greet", 8);
  ASSERT_EQ(clWaitForEvents(1, &event), CL_SUCCESS);
  say("after\n");
  EXPECT_EQ(output.text(), "before\nkernel 7\nbetween\nkernel 8\nafter\n");
}

TEST_F(Printf, OutputIsThereWhenABlockingReadReturns) {
  const Buffer buffer = make_buffer(16);
  for (int round = 0; round < 20; ++round) {
    const CapturedOutput output;
    launch("greet", round);
    (void)read(buffer, 16);
    EXPECT_EQ(output.text(), "kernel " + std::to_string(round) + "\n");
  }
}

TEST_F(Printf, OutputIsThereWhenACallbackIsCalled) {
  const CapturedOutput output;
  struct Seen {
    const CapturedOutput& output;
    std::string text;
    EventHandle done;
  } seen{output, {}, make_user_event()};
  launch("greet", 9);
  ASSERT_EQ(clSetEventCallback(
                event, CL_COMPLETE,
                [](cl_event, cl_int, void* data) {
                  auto& into = *static_cast<Seen*>(data);
                  into.text = into.output.text();
                  clSetUserEventStatus(into.done, CL_COMPLETE);
                },
                &seen),
            CL_SUCCESS);
  ASSERT_EQ(clFlush(queue), CL_SUCCESS);
  ASSERT_EQ(clWaitForEvents(1, seen.done.address()), CL_SUCCESS);
  EXPECT_EQ(seen.text, "kernel 9\n");
}

TEST_F(Printf, MuchOutputArrivesWholeAndInOrder) {
  constexpr int kLines = 5'000;
  const CapturedOutput output;
  launch("recite", kLines);
  ASSERT_EQ(clFinish(queue), CL_SUCCESS);
  std::string expected;
  for (int i = 0; i < kLines; ++i) expected += "line " + std::to_string(i) + " of many\n";
  EXPECT_EQ(output.text(), expected);
}

}  // namespace
}  // namespace fairgv::test
