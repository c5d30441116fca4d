// Prints one line for each question: "name: answer". See behaviour.hpp. With a name as its argument it asks
// only that question.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/integration/behaviours/behaviour.hpp"

namespace fairgv::behaviours {

Stage::Stage() {
  cl_int error = clGetPlatformIDs(1, &platform, nullptr);
  if (error == CL_SUCCESS) error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  if (error == CL_SUCCESS) context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  if (error == CL_SUCCESS) queue = clCreateCommandQueue(context, device, 0, &error);
  if (error == CL_SUCCESS) return;
  std::printf("no device to ask: %d\n", error);
  std::fflush(stdout);
  ::_exit(3);
}

cl_program Stage::build(const char* source, const char* options) const {
  const cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  clBuildProgram(program, 1, &device, options, nullptr, nullptr);
  return program;
}

cl_kernel Stage::kernel(const char* source, const char* name, const char* options) const {
  return clCreateKernel(build(source, options), name, nullptr);
}

cl_mem Stage::buffer(std::size_t bytes, cl_mem_flags flags, void* host) const {
  return clCreateBuffer(context, flags, bytes, host, nullptr);
}

cl_event Stage::user_event() const {
  return clCreateUserEvent(context, nullptr);
}

std::string anything(const std::string& why) {
  return "(any) " + why;
}

Answer& Answer::add(const std::string& name, long long value) {
  if (!text_.empty()) text_ += ", ";
  text_ += name + " " + std::to_string(value);
  return *this;
}

Answer& Answer::add(const std::string& name, long long value, long long prescribed) {
  if (value == prescribed) return add(name, value);
  if (!text_.empty()) text_ += ", ";
  text_ += name + " (any)";
  return *this;
}

cl_int end_of(cl_event event) {
  cl_int status = CL_QUEUED;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < give_up) {
    const cl_int error =
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
    if (error != CL_SUCCESS || status <= CL_COMPLETE) return error != CL_SUCCESS ? error : status;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return status;
}

namespace {

/// Runs in the child: its output goes to the pipe.
[[noreturn]] void answer(const Question& question, int to) {
  ::alarm(20);
  std::string text = question.ask(Stage());
  const bool as_prescribed = question.prescribed.empty() || text == question.prescribed;
  if (!as_prescribed) text = anything("not as specified: " + text);
  const ssize_t written = ::write(to, text.data(), text.size());
  // No destructors and no exit handlers: those are subjects of other questions.
  ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 2);
}

std::string ask(const Question& question) {
  int pipe[2] = {};
  if (::pipe(pipe) != 0) return "no pipe";
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) answer(question, pipe[1]);
  ::close(pipe[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(pipe[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return anything("the program ends by signal " + std::to_string(WTERMSIG(status)));
  // PoCL leaves by exit() where it lacks something.
  return WEXITSTATUS(status) == 0 ? text
                                  : anything("the program ends with " + std::to_string(WEXITSTATUS(status)));
}

}  // namespace
}  // namespace fairgv::behaviours

int main(int count, char** arguments) {
  using namespace fairgv::behaviours;
  for (const auto& group : {launches(), memory(), objects(), events(), wrong_objects(), wrong_commands()}) {
    for (const Question& question : group) {
      if (count > 1 && question.name != arguments[1]) continue;
      std::printf("%s: %s\n", question.name.c_str(), ask(question).c_str());
    }
  }
}
