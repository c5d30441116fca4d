// The behaviour of a driver where the specification leaves it a choice: questions with a name, each answered
// in a line. The program (main.cpp) runs on a bare driver and as a tenant; system/drivers_test.cpp compares
// the answers.
//
// Each question runs in a process of its own: a driver that does not survive one question still answers the
// others. The program uses nothing but OpenCL, on the first device of the first platform.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace fairgv::behaviours {

/// The end of the process releases objects: none is released unless the question is about releases.
struct Stage {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  Stage();
  cl_program build(const char* source, const char* options = "") const;
  cl_kernel kernel(const char* source, const char* name, const char* options = "") const;
  cl_mem buffer(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) const;
  cl_event user_event() const;
  template <class T>
  T device_info(cl_device_info param) const {
    T value{};
    clGetDeviceInfo(device, param, sizeof(value), &value, nullptr);
    return value;
  }
};

/// The answer where nothing can be compared, because a driver behaves now this way, now that way.
std::string anything(const std::string& why);
/// "what is 17, that is 4": numbers with their names, in order.
class Answer {
 public:
  Answer& add(const std::string& name, long long value);
  /// Adds a number where the specification allows one value alone: FairGV does not follow a driver with
  /// another value.
  Answer& add(const std::string& name, long long value, long long prescribed);
  operator std::string() const { return text_; }

 private:
  std::string text_;
};

/// The status of an event after its end.
cl_int end_of(cl_event event);

struct Question {
  std::string name;
  std::function<std::string(const Stage&)> ask;
  /// The only answer that the specification allows, if it prescribes one. FairGV does not follow a driver
  /// with another answer.
  std::string prescribed = {};
};

std::vector<Question> launches();
std::vector<Question> memory();
std::vector<Question> objects();
std::vector<Question> events();
std::vector<Question> wrong_objects();
std::vector<Question> wrong_commands();

}  // namespace fairgv::behaviours
