// The books of a direct program's memory, with a daemon's end that the test holds.
#include "cuda-shim/direct/memory/ledger.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "cuda-shim/direct/memory/graph_memory.hpp"
#include "cuda-shim/direct/memory/mappings.hpp"
#include "cuda-shim/direct/memory/texture_size.hpp"
#include "runtime/session/ledger_protocol.hpp"

using fairgv::cuda::direct::Holding;
using fairgv::cuda::direct::Ledger;
using fairgv::cuda::direct::Mappings;
using Kind = Ledger::Kind;

namespace {

/// Grants up to a limit, as the daemon does.
class Daemon {
 public:
  explicit Daemon(std::uint64_t limit) : limit_(limit) {
    auto ends = fairgv::Socket::pair();
    program = std::move(ends->first);
    daemon_ = std::move(ends->second);
    thread_ = std::thread([this] { serve(); });
  }
  ~Daemon() {
    program.close();
    thread_.join();
  }
  /// Of one device, once everything that was sent has been heard.
  std::uint64_t held(Ledger& ledger) const { return limit_ - ledger.left(0); }

  fairgv::Socket program;

 private:
  void serve() {
    using Request = fairgv::session::LedgerRequest;
    std::uint64_t held = 0;
    for (;;) {
      const auto packet = daemon_.receive();
      if (!packet || packet->kind != fairgv::Packet::Kind::message) return;
      const auto request = fairgv::session::parse_ledger_request(packet->text, 1);
      if (!request) return;
      fairgv::session::LedgerAnswer answer;
      if (request->kind == Request::Kind::give_back) {
        EXPECT_LE(request->bytes, held) << "more comes back than was granted";
        held -= request->bytes;
        continue;
      }
      if (request->kind == Request::Kind::look) answer.bytes = limit_ - held;
      if (request->kind == Request::Kind::charge && request->bytes <= limit_ - held) {
        answer.bytes = request->bytes;
        held += request->bytes;
      }
      if (!daemon_.send(to_packet(answer))) return;
    }
  }

  const std::uint64_t limit_;
  fairgv::Socket daemon_;
  std::thread thread_;
};

}  // namespace

TEST(DirectLedger, RefusesBeyondTheLimitAndTakesBackOnce) {
  Daemon daemon(1000);
  Ledger ledger(daemon.program);
  EXPECT_TRUE(ledger.charge(0, 600));
  EXPECT_FALSE(ledger.charge(0, 401));
  ledger.hold({Kind::address, 77}, {0, 600});
  EXPECT_FALSE(ledger.take({Kind::array, 77})) << "another kind of object with the same number";
  const auto held = ledger.take({Kind::address, 77});
  ASSERT_TRUE(held);
  ledger.give_back(*held);
  EXPECT_FALSE(ledger.take({Kind::address, 77}));
  EXPECT_EQ(0U, daemon.held(ledger));
}

TEST(DirectLedger, AContextTakesWhatItHeldWithIt) {
  Daemon daemon(1000);
  Ledger ledger(daemon.program);
  const int one = 0, other = 0;
  ASSERT_TRUE(ledger.charge(0, 500));
  ledger.hold({Kind::address, 1}, {0, 100, &one});
  ledger.hold({Kind::array, 2}, {0, 200, &one});
  ledger.hold({Kind::address, 3}, {0, 200, &other});
  ledger.context_gone(&one);
  EXPECT_EQ(200U, daemon.held(ledger));
  EXPECT_FALSE(ledger.take({Kind::address, 1}));
  EXPECT_TRUE(ledger.take({Kind::address, 3}));
}

TEST(DirectLedger, PhysicalMemoryIsHeldUntilItsLastUse) {
  Daemon daemon(1000);
  Ledger ledger(daemon.program);
  Mappings mappings(ledger);
  const auto make = [&](std::uint64_t handle) {
    ASSERT_TRUE(ledger.charge(0, 100));
    ledger.hold({Kind::physical, handle}, {0, 100});
  };
  make(1);
  mappings.released(1);
  EXPECT_EQ(0U, daemon.held(ledger));
  make(2);
  mappings.mapped(2, 0x1000);
  mappings.mapped(2, 0x2000);
  mappings.released(2);
  EXPECT_EQ(100U, daemon.held(ledger)) << "it is mapped";
  mappings.unmapped(0x1000, 0x1000);
  EXPECT_EQ(100U, daemon.held(ledger));
  mappings.retained(2);
  mappings.unmapped(0x0, 0x3000);
  EXPECT_EQ(100U, daemon.held(ledger)) << "a handle is back";
  mappings.released(2);
  EXPECT_EQ(0U, daemon.held(ledger));
}

TEST(DirectLedger, WithoutADaemonNothingIsGranted) {
  fairgv::Socket gone;
  Ledger ledger(gone);
  EXPECT_FALSE(ledger.charge(0, 1));
  EXPECT_EQ(0U, ledger.left(0));
  ledger.give_back({0, 5});
}

TEST(ArrayBytes, FollowTheDescription) {
  using fairgv::cuda::direct::bytes_of;
  CUDA_ARRAY_DESCRIPTOR flat{1024, 512, CU_AD_FORMAT_FLOAT, 2};
  EXPECT_EQ(1024U * 512 * 8, bytes_of(flat, 1));
  flat.Height = 0;
  EXPECT_EQ(1024U * 8, bytes_of(flat, 1));
  CUDA_ARRAY3D_DESCRIPTOR deep{8, 8, 8, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
  EXPECT_EQ(512U, bytes_of(deep, 1));
  EXPECT_EQ(512U + 64 + 8 + 1, bytes_of(deep, 4));
  deep.Flags = CUDA_ARRAY3D_LAYERED;
  EXPECT_EQ(8 * (64U + 16 + 4 + 1), bytes_of(deep, 4)) << "every level has all layers";
  CUDA_ARRAY3D_DESCRIPTOR huge{~std::size_t{0}, ~std::size_t{0}, 2, CU_AD_FORMAT_FLOAT, 4, 0};
  EXPECT_EQ(~std::uint64_t{0}, bytes_of(huge, 2)) << "what nobody can have is refused, not wrapped around";
}

// ---- graphs' memory, with a driver that keeps what the test says

struct DirectGraphMemory : ::testing::Test {
  static constexpr std::uint64_t kLimit = 1000;
  std::uint64_t charged = 0, kept = 0;
  bool trimmed = false;
  fairgv::cuda::direct::GraphMemory memory{{.charge =
                                                [this](std::uint32_t, std::uint64_t bytes) {
                                                  if (bytes > kLimit - charged) return false;
                                                  charged += bytes;
                                                  return true;
                                                },
                                            .give_back =
                                                [this](std::uint32_t, std::uint64_t bytes) {
                                                  EXPECT_LE(bytes, charged);
                                                  charged -= bytes;
                                                },
                                            .trim =
                                                [this](std::uint32_t) {
                                                  trimmed = true;
                                                  return kept;
                                                }}};
};

TEST_F(DirectGraphMemory, IsChargedWhileAGraphIsExecutable) {
  ASSERT_TRUE(memory.charge({{0, 600}}));
  memory.hold(1, {{{0, 600}}, {}});
  EXPECT_FALSE(memory.charge({{0, 500}}));
  EXPECT_EQ(600U, charged) << "a refusal changes nothing";
  kept = 100;  // by other graphs
  memory.gone(memory.take(1));
  EXPECT_EQ(0U, charged);
  EXPECT_TRUE(trimmed) << "before it is given back";
  EXPECT_TRUE(memory.take(1).all.empty());
  EXPECT_TRUE(memory.charge({{0, 1000}}));
}

TEST_F(DirectGraphMemory, ThatAGraphDoesNotFreeIsChargedAsLongAsTheDriverKeepsIt) {
  ASSERT_TRUE(memory.charge({{0, 600}}));
  memory.hold(1, {{{0, 600}}, {{0, 400}}});
  kept = 400;
  memory.gone(memory.take(1));
  EXPECT_EQ(400U, charged);
  ASSERT_TRUE(memory.charge({{0, 300}}));
  EXPECT_EQ(700U, charged) << "what is kept is in use";
  kept = 0;
  EXPECT_TRUE(memory.settle(0));
  EXPECT_EQ(300U, charged);
  EXPECT_FALSE(memory.settle(0));
}

TEST_F(DirectGraphMemory, OfAGraphOnSeveralDevicesIsChargedAsAWhole) {
  EXPECT_FALSE(memory.charge({{0, 600}, {1, 600}}));
  EXPECT_EQ(0U, charged);
}
