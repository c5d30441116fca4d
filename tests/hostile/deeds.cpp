#include "tests/hostile/deeds.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/hostile/kernel_calls.hpp"

namespace fairgv::hostile {
namespace {

/// The states, and where they lie, are those of runtime/session/turn.hpp, copied as an attacker would who has
/// read it: device 0 is the first line of the page.
constexpr const char* kProtocol = R"cl(
enum { k_idle = 0, k_wanting = 1, k_held = 2, k_busy = 3, k_busy_asked = 4 };

long now_ns() {
  long time[2];
  call(k_clock_gettime, 1, (long)time, 0, 0, 0, 0);
  return time[0] * 1000000000 + time[1];
}

bool contains(const char* text, int length, constant const char* part) {
  for (int at = 0; at < length; ++at) {
    int i = 0;
    while (part[i] != 0 && at + i < length && text[at + i] == part[i]) ++i;
    if (part[i] == 0) return true;
  }
  return false;
}

/// The worker's first descriptor that is such a thing by the system's name for it; -1: there is none.
int descriptor_of(constant const char* thing) {
  for (int file = 3; file < 1000; ++file) {
    char path[18] = "/proc/self/fd/";
    int at = 14;
    for (int unit = file < 10 ? 1 : file < 100 ? 10 : 100; unit > 0; unit /= 10) path[at++] = '0' + file / unit % 10;
    char name[64];
    const long length = call(k_readlinkat, -100, (long)path, (long)name, sizeof(name), 0, 0);
    if (length > 0 && contains(name, length, thing)) return file;
  }
  return -1;
}

constant char k_turn[] = "memfd:fairgv-turn";
constant char k_knock[] = "[eventfd]";  // the only one that a worker has

volatile global uint* turn_page() {
  return (volatile global uint*)call(k_mmap, 0, 4096, 3, 1, descriptor_of(k_turn), 0);
}

void knock(int event) {
  ulong one = 1;
  call(k_write, event, (long)&one, sizeof(one), 0, 0, 0);
}

uint compute_until(long end, uint value) {
  while (now_ns() < end) {
    for (int i = 0; i < 100000; ++i) value = value * 1664525u + 1013904223u;
  }
  return value;
}
)cl";

constexpr const char* kHold = R"cl(
kernel void run(global uint* out, const uint milliseconds) {
  out[get_global_id(0)] = compute_until(now_ns() + milliseconds * 1000000l, 1);
}
)cl";

constexpr const char* kOutside = R"cl(
kernel void run(global uint* out, const uint milliseconds) {
  if (get_group_id(0) == 0) {
    volatile global uint* const turn = turn_page();
    turn[0] = k_idle;
    knock(descriptor_of(k_knock));
  }
  out[get_global_id(0)] = compute_until(now_ns() + milliseconds * 1000000l, 1);
}
)cl";

/// Every turn is 10 ms, of which `busy_ns` are spent computing.
constexpr const char* kForge = R"cl(
kernel void run(global uint* out, const uint milliseconds) {
  const long end = now_ns() + milliseconds * 1000000l;
  volatile global uint* const turn = turn_page();
  const int event = descriptor_of(k_knock);
  uint value = 1;
  while (now_ns() < end) {
    const long turn_ends = now_ns() + 10000000;
#ifdef SLEEPS
    long pause[2] = {0, 10000000};
    call(k_nanosleep, (long)pause, 0, 0, 0, 0, 0);
#else
    value = compute_until(turn_ends, value);
#endif
    turn[0] = k_wanting;
    knock(event);
    while (turn[0] == k_wanting && now_ns() < end) call(k_sched_yield, 0, 0, 0, 0, 0, 0);
    if (turn[0] == k_held) turn[0] = k_busy;
  }
  out[get_global_id(0)] = value;
}
)cl";

/// One work-item knocks, and reads the knock away between the dispatcher's wait and its look: after 0 to 100
/// us. If the dispatcher comes first, the work-item hangs in its read, until another one knocks.
constexpr const char* kFreeze = R"cl(
kernel void run(volatile global uint* out, const uint milliseconds) {
  const long end = now_ns() + milliseconds * 1000000l;
  const int event = descriptor_of(k_knock);
  call(k_fcntl, event, 4, 0, 0, 0, 0);
  ulong away = 0;
  uint random = 1;
  while (now_ns() < end) {
    if (get_group_id(0) == 0) {
      random = random * 1664525u + 1013904223u;
      const long steals = now_ns() + (random >> 8) % 100000;
      knock(event);
      while (now_ns() < steals) continue;
      call(k_read, event, (long)&away, sizeof(away), 0, 0, 0);
      out[0] += 1;
    } else {
      const uint before = out[0];
      long pause[2] = {0, 20000000};
      call(k_nanosleep, (long)pause, 0, 0, 0, 0, 0);
      if (out[0] == before) knock(event);
    }
  }
}
)cl";

constexpr Deed kDeeds[] = {{"hold", kHold, "", 2},
                           {"outside", kOutside, "", 16},
                           {"forge", kForge, "", 1},
                           {"sleep", kForge, "#define SLEEPS\n", 1},
                           {"freeze", kFreeze, "", 2}};

}  // namespace

std::span<const Deed> deeds() {
  return kDeeds;
}

const Deed* find_deed(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kDeeds), std::end(kDeeds), [&](const Deed& deed) { return name == deed.name; });
  return found == std::end(kDeeds) ? nullptr : found;
}

bool runs_on_the_host(const workloads::Device& device) {
  cl_device_type type = 0;
  workloads::check(clGetDeviceInfo(device.id(), CL_DEVICE_TYPE, sizeof(type), &type, nullptr),
                   "clGetDeviceInfo");
  return (type & CL_DEVICE_TYPE_CPU) != 0;
}

DeedRunner::DeedRunner(const Deed& deed, std::chrono::milliseconds each, workloads::Device device)
    : work_groups_(deed.work_groups),
      device_(std::move(device)),
      program_(device_.build(std::string(kKernelCalls) + kProtocol + deed.definition + deed.kernel)),
      kernel_(device_.kernel(program_, "run")),
      out_(device_.buffer<cl_uint>(deed.work_groups)) {
  cl_int error = CL_SUCCESS;
  queue_ = workloads::Queue(clCreateCommandQueue(device_.context(), device_.id(), 0, &error));
  workloads::check(error, "clCreateCommandQueue");
  workloads::set_arguments(kernel_, out_, static_cast<cl_uint>(each.count()));
}

void DeedRunner::commit() {
  constexpr std::size_t kOne = 1;
  workloads::check(clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &work_groups_, &kOne, 0,
                                          nullptr, nullptr),
                   "clEnqueueNDRangeKernel");
  workloads::check(clFinish(queue_.get()), "clFinish");
}

}  // namespace fairgv::hostile
