#include "tests/moves/executor/run.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/steps.hpp"

namespace fairgv::moves {
namespace {

/// Steps that follow each other without sleep, so that commands queue up.
constexpr std::size_t kBurst = 16;

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  expect(clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo");
  std::string text(size, '\0');
  expect(clGetDeviceInfo(device, what, size, text.data(), nullptr), "clGetDeviceInfo");
  return text;
}

template <class T>
T value_of(cl_device_id device, cl_device_info what) {
  T value{};
  expect(clGetDeviceInfo(device, what, sizeof(value), &value, nullptr), "clGetDeviceInfo");
  return value;
}

bool says(cl_platform_id platform, cl_platform_info what, std::string_view word) {
  std::size_t size = 0;
  expect(clGetPlatformInfo(platform, what, 0, nullptr, &size), "clGetPlatformInfo");
  std::string text(size, '\0');
  expect(clGetPlatformInfo(platform, what, size, text.data(), nullptr), "clGetPlatformInfo");
  return text.find(word) != std::string::npos;
}

cl_platform_id find_platform(std::string_view word) {
  cl_uint count = 0;
  expect(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> all(count);
  expect(clGetPlatformIDs(count, all.data(), nullptr), "clGetPlatformIDs");
  const auto found = std::find_if(all.begin(), all.end(), [word](cl_platform_id platform) {
    return says(platform, CL_PLATFORM_NAME, word);
  });
  if (found == all.end()) throw Unexpected("no platform has '" + std::string(word) + "' in its name");
  return *found;
}

}  // namespace

Devices find_devices(std::string_view platform, std::size_t first, std::size_t count) {
  Devices found;
  found.platform = find_platform(platform);
  cl_uint all = 0;
  expect(clGetDeviceIDs(found.platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &all), "clGetDeviceIDs");
  if (first + count > all)
    throw Unexpected("the platform has " + std::to_string(all) + " devices, not " +
                     std::to_string(first + count));
  std::vector<cl_device_id> devices(all);
  expect(clGetDeviceIDs(found.platform, CL_DEVICE_TYPE_ALL, all, devices.data(), nullptr), "clGetDeviceIDs");
  const auto begin = devices.begin() + static_cast<std::ptrdiff_t>(first);
  found.devices.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  found.is_bare_driver = !says(found.platform, CL_PLATFORM_VENDOR, "FairGV");
  return found;
}

Capabilities capabilities_of(const Devices& devices) {
  Capabilities can{devices.devices.size(), true, true, true, true, false, false};
  for (const cl_device_id each : devices.devices) {
    can.images = can.images && value_of<cl_bool>(each, CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE;
    can.svm = can.svm && (value_of<cl_device_svm_capabilities>(each, CL_DEVICE_SVM_CAPABILITIES) &
                          CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
    can.command_buffers =
        can.command_buffers &&
        text_of(each, CL_DEVICE_EXTENSIONS).find("cl_khr_command_buffer") != std::string::npos;
    can.sub_devices = can.sub_devices && value_of<cl_uint>(each, CL_DEVICE_PARTITION_MAX_SUB_DEVICES) > 1;
  }
  return can;
}

void run(const Plan& plan, const Devices& devices, const Manner& manner) {
  auto objects = std::make_unique<Objects>(devices.platform, devices.devices, manner.details);
  objects->is_bare_driver = devices.is_bare_driver;
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds each = std::chrono::nanoseconds(manner.stretch) / plan.steps.size();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (i % kBurst == 0) std::this_thread::sleep_until(start + i * each);
    if (manner.details) std::fprintf(stderr, "step %zu of kind %zu\n", i, plan.steps[i].index());
    try {
      std::visit([&](const auto& step) { carry_out(*objects, step); }, plan.steps[i]);
    } catch (const Unexpected& problem) {
      objects.release();  // for commands that still use its memory
      throw Unexpected("step " + std::to_string(i) + ": " + problem.what());
    }
  }
  objects->results.print_total();
}

}  // namespace fairgv::moves
