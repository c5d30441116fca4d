// The ledger under random calls, beside a model that keeps a list of all grants and adds it up each time.
// FAIRGV_TEST_SEED=<the printed number> repeats a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "memquota/ledger.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::memquota {
namespace {

constexpr std::uint32_t kDevices = 3;
constexpr std::uint64_t kCapacity = 1'000;

struct Grant {
  std::uint32_t session;
  std::uint32_t device;
  std::uint64_t bytes;
};

/// The ledger's whole state, in the simplest form.
struct Model {
  std::vector<Grant> grants;
  std::map<std::uint32_t, std::string> tenant_of;  // by session
  std::map<std::string, std::vector<Allowance>> allowances;

  std::uint64_t charged(const std::string& tenant, std::uint32_t device) const {
    std::uint64_t sum = 0;
    for (const Grant& grant : grants) {
      if (grant.device == device && tenant_of.at(grant.session) == tenant) sum += grant.bytes;
    }
    return sum;
  }
  std::uint64_t granted(std::uint32_t session, std::uint32_t device) const {
    std::uint64_t sum = 0;
    for (const Grant& grant : grants) {
      if (grant.device == device && grant.session == session) sum += grant.bytes;
    }
    return sum;
  }
  bool may_charge(std::uint32_t session, std::uint32_t device, std::uint64_t bytes) const {
    if (bytes == 0) return true;
    const std::string& tenant = tenant_of.at(session);
    if (charged(tenant, device) + bytes > allowances.at(tenant)[device].limit) return false;
    std::uint64_t taken = bytes;
    std::uint64_t kept = 0;
    std::uint64_t reserved = 0;
    for (const auto& [name, list] : allowances) {
      const std::uint64_t reserve = std::min(list[device].reserve, list[device].limit);
      const std::uint64_t used = charged(name, device);
      taken += used;
      reserved += reserve;
      if (name != tenant && reserve > used) kept += reserve - used;
    }
    return taken + (reserved > kCapacity ? 0 : kept) <= kCapacity;
  }
};

class LedgerRandom : public testing::Test {
 protected:
  LedgerRandom() : random_(harness::printed_seed()) {
    ledger_.reset(std::vector<std::uint64_t>(kDevices, kCapacity));
    for (const char* name : {"a", "b", "c", "d"}) {
      model_.allowances[name].resize(kDevices);
      for (std::uint32_t device = 0; device < kDevices; ++device) allow(name, device);
    }
  }

  std::uint64_t up_to(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  }
  std::string any_tenant() { return std::string(1, static_cast<char>('a' + up_to(3))); }
  std::uint32_t any_session() {
    return std::next(model_.tenant_of.begin(),
                     static_cast<std::ptrdiff_t>(up_to(model_.tenant_of.size() - 1)))
        ->first;
  }
  static bool has(DeviceSet devices, std::uint32_t device) { return ((devices >> device) & 1) != 0; }

  void allow(const std::string& tenant, std::uint32_t device) {
    // Mostly reserves that fit, sometimes too many, sometimes no limit.
    const Allowance allowance{up_to(9) == 0 ? kUnlimited : up_to(kCapacity),
                              up_to(up_to(9) == 0 ? 600 : 250)};
    ledger_.allow(tenant, device, allowance);
    model_.allowances[tenant][device] = allowance;
  }

  void begin() {
    const std::string tenant = any_tenant();
    ledger_.begin(SessionKey{++last_session_}, tenant);
    model_.tenant_of[last_session_] = tenant;
  }

  void end(std::uint32_t session) {
    ledger_.end(SessionKey{session});
    std::erase_if(model_.grants, [=](const Grant& grant) { return grant.session == session; });
    model_.tenant_of.erase(session);
  }

  void charge(std::uint32_t session, DeviceSet devices, std::uint64_t bytes) {
    bool expected = true;
    for (std::uint32_t device = 0; device < kDevices; ++device) {
      if (has(devices, device)) expected = expected && model_.may_charge(session, device, bytes);
    }
    if (std::has_single_bit(devices)) {
      const auto device = static_cast<std::uint32_t>(std::countr_zero(devices));
      ASSERT_EQ(bytes <= ledger_.left(SessionKey{session}, device), expected) << "left() says otherwise";
    }
    ASSERT_EQ(!ledger_.charge(SessionKey{session}, devices, bytes), expected);
    for (std::uint32_t device = 0; expected && device < kDevices; ++device) {
      if (has(devices, device)) model_.grants.push_back({session, device, bytes});
    }
  }

  void give_back(std::uint32_t session, DeviceSet devices, std::uint64_t bytes) {
    bool expected = true;
    for (std::uint32_t device = 0; device < kDevices; ++device) {
      if (has(devices, device)) expected = expected && model_.granted(session, device) >= bytes;
    }
    ASSERT_EQ(ledger_.give_back(SessionKey{session}, devices, bytes), expected);
    if (!expected) return;
    for (std::uint32_t device = 0; device < kDevices; ++device) {
      std::uint64_t left = has(devices, device) ? bytes : 0;
      for (Grant& grant : model_.grants) {
        if (grant.session != session || grant.device != device) continue;
        const std::uint64_t taken = std::min(left, grant.bytes);
        grant.bytes -= taken;
        left -= taken;
      }
    }
    std::erase_if(model_.grants, [](const Grant& grant) { return grant.bytes == 0; });
  }

  void step() {
    if (model_.tenant_of.empty()) return begin();
    const DeviceSet devices = 1 + up_to((1U << kDevices) - 2);
    switch (up_to(19)) {
      case 0:
        return allow(any_tenant(), static_cast<std::uint32_t>(up_to(kDevices - 1)));
      case 1:
        return model_.tenant_of.size() < 12 ? begin() : end(any_session());
      case 2:
        return end(any_session());
      default:
        return up_to(4) < 3 ? charge(any_session(), devices, up_to(up_to(3) == 0 ? 700 : 80))
                            : give_back(any_session(), devices, up_to(80));
    }
  }

  void compare() const {
    for (std::uint32_t device = 0; device < kDevices; ++device) {
      std::uint64_t all = 0;
      for (const auto& [tenant, list] : model_.allowances) {
        const std::uint64_t charged = model_.charged(tenant, device);
        ASSERT_EQ(ledger_.charged(tenant, device), charged);
        all += charged;
      }
      ASSERT_EQ(ledger_.charged(device), all);
      ASSERT_LE(all, kCapacity);
    }
  }

  Ledger ledger_;
  Model model_;

 private:
  std::mt19937_64 random_;
  std::uint32_t last_session_ = 0;
};

TEST_F(LedgerRandom, DoesWhatASimpleModelDoesAndEndsAtZero) {
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_NO_FATAL_FAILURE(step()) << "step " << i;
    ASSERT_NO_FATAL_FAILURE(compare()) << "step " << i;
  }
  while (!model_.tenant_of.empty()) end(any_session());
  for (std::uint32_t device = 0; device < kDevices; ++device) EXPECT_EQ(ledger_.charged(device), 0);
}

}  // namespace
}  // namespace fairgv::memquota
