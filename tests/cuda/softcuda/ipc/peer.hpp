// Another process with the driver in it, or another tenant (peer_program.cpp).
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>
#include <string>

#include "../fixture.hpp"
#include "handle_text.hpp"

class Peer {
 public:
  struct Answer {
    CUresult code = CUDA_ERROR_UNKNOWN;
    std::string text;
    bool operator==(const Answer&) const = default;
  };

  Peer() {
    int to[2];
    int from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, to[0], 0);
    posix_spawn_file_actions_adddup2(&files, from[1], 1);
    std::string program = FAIRGV_IPC_PEER;
    std::string kernels = file_path("kernels.ptx");
    char* const arguments[] = {program.data(), kernels.data(), nullptr};
    if (::posix_spawn(&pid_, program.c_str(), &files, nullptr, arguments, environ) != 0) pid_ = 0;
    posix_spawn_file_actions_destroy(&files);
    ::close(to[0]);
    ::close(from[1]);
    to_ = ::fdopen(to[1], "w");
    from_ = ::fdopen(from[0], "r");
    EXPECT_EQ(code_name(CUDA_SUCCESS), code_name(hear().code)) << "the peer does not start";
  }
  ~Peer() { end(0); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Answer ask(const std::string& line) {
    std::fprintf(to_, "%s\n", line.c_str());
    std::fflush(to_);
    return hear();
  }
  /// Ends well, or by the signal. Returns the status of waitpid().
  int end(int signal) {
    if (pid_ == 0) return 0;
    if (signal != 0) ::kill(pid_, signal);
    std::fclose(to_);
    std::fclose(from_);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

 private:
  Answer hear() {
    char line[512];
    if (from_ == nullptr || std::fgets(line, sizeof line, from_) == nullptr) return {};
    std::istringstream words(line);
    int code = 0;
    Answer answer;
    words >> code >> answer.text;
    answer.code = static_cast<CUresult>(code);
    return answer;
  }

  pid_t pid_ = 0;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

/// The code, and then the text, of an answer.
#define EXPECT_ANSWER(expected_code, expected_text, call)                   \
  do {                                                                      \
    const Peer::Answer answered = call;                                     \
    EXPECT_EQ(code_name(expected_code), code_name(answered.code)) << #call; \
    EXPECT_EQ(std::string(expected_text), answered.text) << #call;          \
  } while (false)
#define EXPECT_DONE(call) EXPECT_EQ(code_name(CUDA_SUCCESS), code_name((call).code)) << #call
