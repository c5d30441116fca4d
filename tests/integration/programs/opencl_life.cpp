// An OpenCL program with an unusual life, for system/life_test.cpp: it prints "right" for each piece of work
// that came out right, and ends with status 0. It knows nothing of FairGV.
//
//   opencl_life fork          works in a child, and then in the parent
//   opencl_life atexit        works in an atexit handler and in a static destructor
//   opencl_life exit          main returns while threads are at work
//   opencl_life main-leaves   the main thread ends before the others do; SIGTERM ends what is left
//   opencl_life signals       handlers run on the main thread
//   opencl_life first-calls   several threads make the first call together
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/opencl/work.hpp"

namespace {

using fairgv::integration::Work;

void say(bool right) {
  std::puts(right ? "right" : "wrong");
  std::fflush(stdout);
}

int in_a_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    say(Work().comes_out_right());
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  say(Work().comes_out_right());
  return status == 0 ? 0 : 1;
}

std::unique_ptr<Work> last_work;

struct AtTheEnd {
  ~AtTheEnd() {
    if (last_work == nullptr) return;
    say(last_work->comes_out_right());
    last_work.reset();
  }
};

int at_exit() {
  static const AtTheEnd at_the_end;
  last_work = std::make_unique<Work>();
  std::atexit([] { say(last_work->comes_out_right()); });
  return 0;
}

/// Threads that work until the process ends, or for so many rounds.
std::vector<std::thread> start_workers(int rounds, std::atomic<int>& working) {
  Work().comes_out_right();  // PoCL 3.1 may crash when threads make the first calls together
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([rounds, &working] {
      Work work;
      for (int round = 0; rounds == 0 || round < rounds; ++round) {
        if (!work.comes_out_right()) std::puts("wrong");
        if (round == 0) working.fetch_add(1);
      }
    });
  }
  return threads;
}

std::atomic<int> working{0};  // threads that have done their first piece of work

int exit_under_way() {
  for (std::thread& thread : start_workers(0, working)) thread.detach();
  while (working.load() < 4) std::this_thread::yield();
  say(true);
  // Ends like _exit(): destructors of statics would pull the driver away under the threads.
  std::fflush(stdout);
  ::_exit(0);
}

/// Drivers have threads of their own, which may keep the process alive when all threads of the program have
/// ended.
[[noreturn]] void main_leaves_child(int leaving) {
  for (std::thread& thread : start_workers(20, working)) thread.detach();
  while (working.load() < 4) std::this_thread::yield();
  say(true);
  if (::write(leaving, "l", 1) != 1) std::puts("wrong");
  ::pthread_exit(nullptr);
}

int main_leaves() {
  int leaving[2];
  if (::pipe(leaving) != 0) return 1;
  const pid_t child = ::fork();
  if (child == 0) main_leaves_child(leaving[1]);
  ::close(leaving[1]);
  char word = 0;
  if (::read(leaving[0], &word, 1) != 1) std::puts("wrong");
  // The child's threads are done by then, or die at work.
  ::sleep(2);
  ::kill(child, SIGTERM);
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; i < 1000 && (ended = ::waitpid(child, &status, WNOHANG)) == 0; ++i) ::usleep(10000);
  ::kill(child, SIGKILL);
  // Without threads of a driver, the child ended by itself.
  const bool by_itself = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool by_signal = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
  say(ended == child && (by_itself || by_signal));
  return 0;
}

const pthread_t main_thread = ::pthread_self();
std::atomic<int> handled{0};
std::atomic<int> handled_elsewhere{0};

int take_signals() {
  Work work;
  const auto handler = [](int) {
    handled += 1;
    if (::pthread_equal(::pthread_self(), main_thread) == 0) handled_elsewhere += 1;
  };
  int expected = 0;
  for (const int signal : {SIGTERM, SIGUSR1, SIGALRM}) {
    std::signal(signal, handler);
    for (int i = 0; i < 10; ++i) {
      ::kill(::getpid(), signal);
      while (handled.load() == expected) std::this_thread::yield();
      expected += 1;
      if (i == 5 && !work.comes_out_right()) return 1;
    }
  }
  say(handled_elsewhere.load() == 0);
  return 0;
}

/// The loader and PoCL 3.1 answer all but one thread too early now and then; some threads get through.
int first_calls() {
  std::atomic<int> ready{0};
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ready += 1;
      while (ready.load() < 8) std::this_thread::yield();
      cl_platform_id platform = nullptr;
      cl_device_id device = nullptr;
      if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return;
      if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) right += 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  say(right.load() > 0 && Work().comes_out_right());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode == "fork") return in_a_child();
  if (mode == "atexit") return at_exit();
  if (mode == "exit") return exit_under_way();
  if (mode == "main-leaves") return main_leaves();
  if (mode == "signals") return take_signals();
  if (mode == "first-calls") return first_calls();
  std::fprintf(stderr, "usage: opencl_life fork|atexit|exit|main-leaves|signals|first-calls\n");
  return 2;
}
