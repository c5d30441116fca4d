// The journal: which records stay when objects are changed and released, by hand and against a model.
#include "runtime/vgpu/journal/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace fairgv::vgpu {
namespace {

using wire::Lasting;
using wire::ObjectId;

ObjectId object(std::uint32_t index) {
  return ObjectId::make(index, 1);
}

/// Keeps calls whose bytes are their name.
struct KeptCalls : ::testing::Test {
  void keep(const std::string& name, Lasting lasting, std::uint32_t index, const std::vector<ObjectId>& names,
            std::uint32_t slot = 0) {
    journal.keep(next++, 1, lasting, object(index), slot, std::as_bytes(std::span(name)), names);
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> all;
    for (const auto& record : journal.records())
      all.emplace_back(reinterpret_cast<const char*>(record->call.data()), record->call.size());
    return all;
  }
  using Names = std::vector<std::string>;
  Journal journal;
  std::uint64_t next = 1;
};

TEST_F(KeptCalls, StayAsLongAsTheirObjectOrOneThatNeedsIt) {
  keep("context", Lasting::makes, 1, {object(1)});
  keep("buffer", Lasting::makes, 2, {object(2), object(1)});
  keep("part", Lasting::makes, 3, {object(3), object(2)});
  journal.release(next++, object(1));
  journal.release(next++, object(2));
  EXPECT_EQ(kept(), (Names{"context", "buffer", "part"}));
  EXPECT_LT(journal.records()[0]->released, journal.records()[1]->released);
  EXPECT_EQ(journal.records()[2]->released, 0U);
  journal.release(next++, object(3));
  EXPECT_EQ(kept(), Names{});
  EXPECT_EQ(journal.bytes(), 0U);
}

TEST_F(KeptCalls, MayNameAnObjectTwice) {
  keep("context", Lasting::makes, 1, {object(1)});
  keep("kernel", Lasting::makes, 2, {object(2), object(1), object(1)});
  journal.release(next++, object(1));
  EXPECT_EQ(kept(), (Names{"context", "kernel"}));
  journal.release(next++, object(2));
  EXPECT_EQ(journal.bytes(), 0U);
}

TEST_F(KeptCalls, OfAnObjectThatTakesTheRoomOfAnotherAreItsOwn) {
  for (int i = 0; i < 3; ++i) {
    keep("context", Lasting::makes, 1, {object(1)});
    EXPECT_EQ(journal.records().front()->released, 0U);
    EXPECT_EQ(journal.records().front()->needs.size(), 0U);
    keep("made", Lasting::makes, 2, {object(2), object(1)});
    EXPECT_EQ(kept(), (Names{"context", "made"}));
    journal.release(next++, object(2));
    journal.release(next++, object(1));
    EXPECT_EQ(journal.bytes(), 0U);
  }
}

TEST_F(KeptCalls, OfAnIdThatIsUsedAgainAreOfTwoObjects) {
  keep("old", Lasting::makes, 1, {object(1)});
  keep("part", Lasting::makes, 2, {object(2), object(1)});
  journal.release(next++, object(1));
  keep("new", Lasting::makes, 1, {object(1)});
  EXPECT_EQ(kept(), (Names{"old", "part", "new"}));
  journal.release(next++, object(2));
  EXPECT_EQ(kept(), Names{"new"});
}

TEST_F(KeptCalls, ThatSetReplaceThoseOfTheirSlot) {
  keep("make", Lasting::makes, 1, {object(1)});
  keep("a1", Lasting::sets, 1, {object(1)}, 7);
  keep("b1", Lasting::sets, 1, {object(1)}, 8);
  keep("a2", Lasting::sets, 1, {object(1)}, 7);
  EXPECT_EQ(kept(), (Names{"make", "b1", "a2"}));
}

TEST_F(KeptCalls, ThatPrepareGoWithTheCallThatUsesThemUp) {
  keep("make", Lasting::makes, 1, {object(1)});
  keep("files1", Lasting::prepares, 1, {object(1)});
  keep("more1", Lasting::prepares, 1, {object(1)});
  keep("build1", Lasting::sets, 1, {object(1)});
  keep("files2", Lasting::prepares, 1, {object(1)});
  EXPECT_EQ(kept(), (Names{"make", "files1", "more1", "build1", "files2"}));
  keep("build2", Lasting::sets, 1, {object(1)});
  EXPECT_EQ(kept(), (Names{"make", "files2", "build2"}));
  journal.release(next++, object(1));
  EXPECT_EQ(journal.bytes(), 0U);
}

TEST_F(KeptCalls, OfAProgramStayAsTheyWereWhenAKernelWasMade) {
  keep("program", Lasting::makes, 1, {object(1)});
  keep("build1", Lasting::sets, 1, {object(1)});
  keep("kernel", Lasting::makes, 2, {object(2), object(1)});
  keep("build2", Lasting::sets, 1, {object(1)});
  EXPECT_EQ(kept(), (Names{"program", "build1", "kernel", "build2"}));
  journal.release(next++, object(2));
  EXPECT_EQ(kept(), (Names{"program", "build2"}));
}

TEST_F(KeptCalls, OfObjectsInALongChainGoWithoutRecursion) {
  constexpr std::uint32_t kLength = 200'000;
  for (std::uint32_t i = 1; i <= kLength; ++i) {
    keep("link", Lasting::makes, i, {object(i), object(i - 1)});
    journal.release(next++, object(i - 1));
  }
  EXPECT_EQ(journal.records().size(), kLength);
  journal.release(next++, object(kLength));
  EXPECT_EQ(journal.bytes(), 0U);
}

TEST_F(KeptCalls, OfAReleasedObjectStayAsLongAsSomebodyUsesIt) {
  const auto context = std::make_shared<int>(1);
  auto buffer = std::make_shared<int>(2);
  keep("context", Lasting::makes, 1, {object(1)});
  keep("buffer", Lasting::makes, 2, {object(2), object(1)});
  journal.release(next++, object(1), std::weak_ptr<const void>(context));  // nobody but the caller has it
  auto command = buffer;
  journal.release(next++, object(2), std::weak_ptr<const void>(buffer));
  buffer.reset();
  EXPECT_EQ(kept(), (Names{"context", "buffer"}));
  EXPECT_EQ(journal.used().size(), 1U);
  command.reset();
  EXPECT_EQ(kept(), Names{});
  EXPECT_TRUE(journal.used().empty());
}

TEST_F(KeptCalls, OfObjectsThatNobodyUsesAnyMoreAreSweptOut) {
  std::vector<std::shared_ptr<int>> users;
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    auto used = std::make_shared<int>(0);
    users = {used};  // and those before go
    keep("buffer", Lasting::makes, i, {object(i)});
    journal.release(next++, object(i), std::weak_ptr<const void>(used));
  }
  EXPECT_EQ(kept().size(), 1U);
  EXPECT_LT(journal.bytes(), 200 * sizeof(Journal::Record));
}

TEST(KeptBytes, BeyondTheMostEndTheJournal) {
  std::uint64_t next = 1;
  Journal journal(4096);
  const std::vector<std::byte> call(1000);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    const ObjectId id = object(i);
    journal.keep(next++, 1, Lasting::makes, id, 0, call, std::span(&id, 1));
    EXPECT_FALSE(journal.gave_up());
  }
  const ObjectId last = object(4);
  journal.keep(next++, 1, Lasting::makes, last, 0, call, std::span(&last, 1));
  EXPECT_TRUE(journal.gave_up());
  EXPECT_TRUE(journal.records().empty());
  EXPECT_EQ(journal.bytes(), 0U);
  journal.release(next++, last);
  journal.keep(next++, 1, Lasting::makes, last, 0, call, std::span(&last, 1));
  EXPECT_TRUE(journal.records().empty());
}

/// A model that forgets nothing: what is needed is found by going through all of it.
class JournalModel {
 public:
  void keep(Lasting lasting, std::uint32_t index, const std::vector<std::uint32_t>& names,
            std::uint32_t slot) {
    Call call{lasting, slot, {}};
    for (const std::uint32_t name : names) {
      if (const auto found = now_.find(name); found != now_.end() && name != index)
        call.needs.insert(found->second.begin(), found->second.end());
    }
    const std::size_t number = calls_.size();
    auto& of_object = now_[index];
    if (lasting == Lasting::sets) {
      std::erase_if(of_object, [&](std::size_t earlier) {
        return calls_[earlier].lasting == lasting && calls_[earlier].slot == slot;
      });
      call.needs.insert(prepared_[index].begin(), prepared_[index].end());
      prepared_[index].clear();
    }
    (lasting == Lasting::prepares ? prepared_[index] : of_object).insert(number);
    calls_.push_back(std::move(call));
  }
  void release(std::uint32_t index) {
    now_.erase(index);
    prepared_.erase(index);
  }
  bool has(std::uint32_t index) const { return now_.contains(index); }
  std::vector<std::size_t> needed() const {
    std::set<std::size_t> all;
    for (const auto& [index, calls] : now_) all.insert(calls.begin(), calls.end());
    for (const auto& [index, calls] : prepared_) all.insert(calls.begin(), calls.end());
    // The calls that a call needs came before it.
    for (auto at = all.rbegin(); at != all.rend(); ++at)
      all.insert(calls_[*at].needs.begin(), calls_[*at].needs.end());
    return {all.begin(), all.end()};
  }

 private:
  struct Call {
    Lasting lasting = Lasting::makes;
    std::uint32_t slot = 0;
    std::set<std::size_t> needs;
  };
  std::vector<Call> calls_;
  std::map<std::uint32_t, std::set<std::size_t>> now_, prepared_;
};

TEST(KeptBytes, AreThoseThatAModelNeedsWhateverIsMadeChangedAndReleased) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
  for (int round = 0; round < 50; ++round) {
    Journal journal;
    JournalModel model;
    std::uint64_t next = 1;
    std::uint64_t calls = 0;
    for (int step = 0; step < 300; ++step) {
      const std::uint32_t index = 1 + pick(12);
      if (model.has(index) && pick(3) == 0) {
        journal.release(next++, object(index));
        model.release(index);
        continue;
      }
      const Lasting lasting = !model.has(index) ? Lasting::makes
                                                : std::vector{Lasting::extends, Lasting::prepares,
                                                              Lasting::sets, Lasting::sets}[pick(4)];
      std::vector<std::uint32_t> names{index};
      for (std::uint32_t i = pick(4); i > 0; --i) names.push_back(1 + pick(12));
      std::vector<ObjectId> ids;
      for (const std::uint32_t name : names) ids.push_back(object(name));
      const std::uint32_t slot = pick(2);
      journal.keep(next++, 1, lasting, object(index), slot, std::as_bytes(std::span(&calls, 1)), ids);
      model.keep(lasting, index, names, slot);
      ++calls;
    }
    std::vector<std::size_t> kept;
    for (const auto& record : journal.records()) {
      std::uint64_t call = 0;
      std::copy_n(record->call.data(), sizeof(call), reinterpret_cast<std::byte*>(&call));
      kept.push_back(call);
    }
    ASSERT_EQ(kept, model.needed());
    for (std::uint32_t index = 1; index <= 12; ++index) journal.release(next++, object(index));
    ASSERT_EQ(journal.bytes(), 0U);
  }
}

}  // namespace
}  // namespace fairgv::vgpu
