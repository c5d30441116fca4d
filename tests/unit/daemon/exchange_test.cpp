// Offers among processes of one user.
#include "runtime/base/exchange/exchange.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/memory_file.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv {
namespace {

namespace fs = std::filesystem;

class ExchangeTest : public testing::Test {
 protected:
  std::unique_ptr<Exchange> open(std::function<void()> let_go = {}) {
    auto opened = Exchange::open(folder(), std::move(let_go));
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(opened).value() : nullptr;
  }
  fs::path folder() const { return root_ / "exchange"; }
  std::size_t sockets() const {
    const auto count = std::distance(fs::directory_iterator(folder()), fs::directory_iterator());
    return static_cast<std::size_t>(count);
  }
  /// The exit status of a child that runs the function.
  template <typename Function>
  static int in_child(Function function) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(function());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  harness::TemporaryFolder root_;
};

TEST_F(ExchangeTest, AnotherProcessGetsTextAndFile) {
  const auto exchange = open();
  auto file = memory_file("of the maker", "a test");
  ASSERT_TRUE(file);
  const auto ticket = exchange->offer("hello", std::move(file).value());
  ASSERT_TRUE(ticket);
  EXPECT_TRUE(exchange->is_own(ticket.value()));
  const auto take = [&] {
    auto taken = Exchange::take(folder(), ticket.value());
    if (!taken || taken.value().text != "hello") return 1;
    const auto text = read_memory_file(taken.value().file.get(), 100, "a test");
    return text && text.value() == "of the maker" ? 0 : 2;
  };
  EXPECT_EQ(0, in_child(take));
  EXPECT_EQ(0, in_child(take));
}

TEST_F(ExchangeTest, AnOfferMayHaveNoFile) {
  const auto exchange = open();
  const auto ticket = exchange->offer(std::string("a\0b", 3), {});
  const auto taken = Exchange::take(folder(), ticket.value());
  ASSERT_TRUE(taken);
  EXPECT_EQ(std::string("a\0b", 3), taken.value().text);
  EXPECT_FALSE(taken.value().file);
}

TEST_F(ExchangeTest, TheGiverKnowsHowManyHoldIt) {
  std::atomic<int> told{0};  // relaxed: only counted
  const auto exchange = open([&told] {
    told.fetch_add(1, std::memory_order_relaxed);
    told.notify_all();
  });
  const Ticket ticket = exchange->offer("x", {}).value();
  {
    const auto first = Exchange::take(folder(), ticket);
    const auto second = Exchange::take(folder(), ticket);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(2U, exchange->holders(ticket));
    exchange->withdraw(ticket);
    EXPECT_FALSE(Exchange::take(folder(), ticket)) << "nobody gets it any more";
    EXPECT_EQ(2U, exchange->holders(ticket));
  }
  for (;;) {
    const int seen = told.load(std::memory_order_relaxed);
    if (exchange->holders(ticket) == 0) break;
    told.wait(seen, std::memory_order_relaxed);
  }
  EXPECT_GE(told.load(std::memory_order_relaxed), 1);
}

TEST_F(ExchangeTest, AProcessThatDiesLetsGo) {
  std::atomic<int> told{0};  // relaxed: only counted
  const auto exchange = open([&told] {
    told.fetch_add(1, std::memory_order_relaxed);
    told.notify_all();
  });
  const Ticket ticket = exchange->offer("x", {}).value();
  EXPECT_EQ(0, in_child([&] {
              const auto taken = Exchange::take(folder(), ticket);
              return taken ? 0 : 1;  // without a destructor
            }));
  while (exchange->holders(ticket) != 0) told.wait(0);
  EXPECT_EQ(0U, exchange->holders(ticket));
}

TEST_F(ExchangeTest, WrongTicketsAreGoodForNothing) {
  const auto exchange = open();
  const Ticket ticket = exchange->offer("x", {}).value();
  Ticket wrong = ticket;
  wrong.key[15] ^= 1;
  EXPECT_FALSE(Exchange::take(folder(), wrong));
  wrong = ticket;
  wrong.place[0] ^= 1;
  EXPECT_FALSE(exchange->is_own(wrong));
  EXPECT_FALSE(Exchange::take(folder(), wrong));
  EXPECT_FALSE(Exchange::take(folder() / "elsewhere", ticket));
  EXPECT_TRUE(Exchange::take(folder(), ticket));
}

TEST_F(ExchangeTest, AFolderThatOthersReachIsRefused) {
  const auto exchange = open();
  const Ticket ticket = exchange->offer("x", {}).value();
  ASSERT_EQ(0, ::chmod(folder().c_str(), 0755));
  EXPECT_FALSE(Exchange::take(folder(), ticket));
  EXPECT_FALSE(Exchange::open(folder()));
  fs::create_directory_symlink(folder(), folder().parent_path() / "link");
  ASSERT_EQ(0, ::chmod(folder().c_str(), 0700));
  EXPECT_FALSE(Exchange::open(folder().parent_path() / "link"));
}

/// The folder's owner is not enough: whoever comes to the socket, the kernel says who it is.
TEST_F(ExchangeTest, AnotherUserGetsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const auto exchange = open();
  const Ticket ticket = exchange->offer("x", {}).value();
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(0, ::chown(folder().c_str(), kNobody, kNobody));
  ASSERT_EQ(0, ::chmod(folder().parent_path().c_str(), 0711));
  for (const auto& socket : fs::directory_iterator(folder()))
    ASSERT_EQ(0, ::chmod(socket.path().c_str(), 0777));
  const auto take = [&](uid_t user) {
    return in_child([&] {
      if (::setuid(user) != 0) return 2;
      return Exchange::take(folder(), ticket) ? 1 : 0;
    });
  };
  EXPECT_EQ(0, take(kNobody));
  ASSERT_EQ(0, ::chown(folder().c_str(), 0, 0));
  EXPECT_EQ(1, take(0)) << "the owner does get it";
}

TEST_F(ExchangeTest, SocketsOfTheDeadAreRemoved) {
  EXPECT_EQ(0, in_child([&] { return Exchange::open(folder()).value().release() != nullptr ? 0 : 1; }));
  EXPECT_EQ(1U, sockets());
  {
    const auto first = open();
    EXPECT_EQ(1U, sockets());
    const auto second = open();
    EXPECT_EQ(2U, sockets()) << "the living stay";
    EXPECT_TRUE(Exchange::take(folder(), first->offer("x", {}).value()));
  }
  EXPECT_EQ(0U, sockets());
}

TEST_F(ExchangeTest, ItsFolderIsTheUsersCache) {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ("/somewhere/fairgv/exchange", Exchange::folder_of_environment());
  ::unsetenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  EXPECT_EQ(home == nullptr ? fs::path() : fs::path(home) / ".cache/fairgv/exchange",
            Exchange::folder_of_environment());
  if (before != nullptr) ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace fairgv
