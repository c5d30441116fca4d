// as_tenant [--direct] [--moved SEED] [--driver LIBRARY] PROGRAM [ARGUMENT...]: runs a CUDA program as a
// tenant of a daemon of its own, with FairGV's libraries in its path as a user has them, over this driver or
// the one found on the machine. With --direct the program has the driver in its own process. With --moved its
// sessions get new workers again and again while it runs; lines behind its output say how often, and if
// never, the status is 1. Else output and status are the program's.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/harness/tenancy.hpp"

namespace {

/// Has all sessions of the tenant moved, or parked for a moment, after pauses of random length, until it
/// ends.
class Mover {
 public:
  Mover(std::string socket, unsigned seed)
      : socket_(std::move(socket)), random_(seed), thread_([this] { run(); }) {}
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;
  ~Mover() { end(); }

  /// How often something has moved; the other attempts, by their reasons, on standard output.
  unsigned end() {
    if (!thread_.joinable()) return moves_;
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
    std::printf("moved %u times\n", moves_);
    for (const auto& [line, count] : refusals_) std::printf("%u times: %s\n", count, line.c_str());
    return moves_;
  }

 private:
  void run() {
    std::uniform_int_distribution<int> pause_ms(0, 150);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(pause_ms(random_)), [this] { return ends_; })) {
      lock.unlock();
      if (random_() % 4 == 0) {
        ask("park");
        ask("resume");  // also where only some could be parked
      } else if (ask("migrate")) {
        ++moves_;
      }
      lock.lock();
    }
  }

  /// Whether `fairgv` does so with all sessions.
  bool ask(const std::string& command) {
    const auto asked =
        fairgv::harness::run({{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", fairgv::harness::beside("fairgv"),
                               command, "tests", "--socket", socket_},
                              {}});
    if (!asked || asked->status == 0) return static_cast<bool>(asked);
    if (asked->lines.empty()) return false;
    // Without the session's number.
    std::string line = asked->lines.back();
    std::erase_if(line, [](char each) { return each >= '0' && each <= '9'; });
    ++refusals_[line];
    return false;
  }

  const std::string socket_;
  std::mt19937 random_;
  unsigned moves_ = 0;
  std::map<std::string, unsigned> refusals_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  const auto take = [&words] {
    const std::string first = words.front();
    words.erase(words.begin());
    return first;
  };
  bool direct = false;
  std::string moved;
  std::string configuration = "[cuda]\n";
  while (words.size() > 1 && words.front().starts_with("--")) {
    const std::string option = take();
    if (option == "--direct") {
      direct = true;
      configuration += "direct = \"fallback\"\n";
    } else if (option == "--moved" && words.size() > 1) {
      moved = take();
    } else if (option == "--driver" && words.size() > 1) {
      configuration += "library = \"" + take() + "\"\n";
    } else {
      words.clear();
    }
  }
  if (words.empty()) {
    std::fprintf(stderr,
                 "usage: as_tenant [--direct] [--moved SEED] [--driver LIBRARY] PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  // A kernel that waits for a command of another stream does not end while the session is to rest.
  if (!moved.empty()) configuration += "[session]\nmove_patience_s = 1\n";
  auto tenancy = fairgv::harness::Tenancy::start({}, {}, configuration);
  if (!tenancy) {
    std::fprintf(stderr, "as_tenant: %s\n", tenancy.error().message.c_str());
    return 2;
  }
  fairgv::harness::CommandLine command;
  command.arguments = words;
  const char* const own = std::getenv("LD_LIBRARY_PATH");
  const std::string folder = direct ? FAIRGV_CUDA_DIRECT_DIR ":" FAIRGV_CUDART_DIR : FAIRGV_CUDA_DIR;
  command.environment = {{"LD_LIBRARY_PATH", own == nullptr || *own == '\0' ? folder : folder + ":" + own},
                         {"FAIRGV_SOCKET", tenancy.value().socket()},
                         {"FAIRGV_TENANT", "tests"},
                         // Tests that run over several libraries read this variable.
                         {"FAIRGV_TEST_LIBCUDA", direct ? "direct" : "tenant"}};
  auto started = fairgv::harness::Child::start(command);
  if (!started) {
    std::fprintf(stderr, "as_tenant: %s\n", started.error().message.c_str());
    return 2;
  }
  std::optional<Mover> mover;
  if (!moved.empty())
    mover.emplace(tenancy.value().socket(), static_cast<unsigned>(std::strtoul(moved.c_str(), nullptr, 10)));
  const auto finished = fairgv::harness::finish(std::move(started).value());
  for (const std::string& line : finished.lines) std::printf("%s\n", line.c_str());
  if (mover && mover->end() == 0) {
    std::printf("nothing has moved\n");
    return finished.status != 0 ? finished.status : 1;
  }
  return finished.status;
}
