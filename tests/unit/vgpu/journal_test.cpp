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
#include <utility>
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
  /// A call, as its record is to be.
  struct Call {
    std::uint64_t number = 0;
    Lasting lasting = Lasting::makes;
    ObjectId object;
    std::uint32_t slot = 0;
    std::vector<std::byte> bytes;
    std::set<std::size_t> needs{};  // places of calls
    std::uint64_t released = 0;
  };

  void keep(Call call, const std::vector<ObjectId>& names) {
    for (const ObjectId name : names) {
      if (const auto found = now_.find(name.raw); found != now_.end() && name != call.object)
        call.needs.insert(found->second.begin(), found->second.end());
    }
    const std::size_t place = calls_.size();
    auto& of_object = now_[call.object.raw];
    auto& prepared = prepared_[call.object.raw];
    if (call.lasting == Lasting::sets) {
      std::erase_if(of_object, [&](std::size_t earlier) {
        return calls_[earlier].lasting == Lasting::sets && calls_[earlier].slot == call.slot;
      });
      call.needs.insert(prepared.begin(), prepared.end());
      prepared.clear();
    }
    (call.lasting == Lasting::prepares ? prepared : of_object).insert(place);
    calls_.push_back(std::move(call));
  }
  /// Somebody else may use the object.
  void release(std::uint64_t number, ObjectId object, const std::shared_ptr<int>& used) {
    std::set<std::size_t> all = std::exchange(now_[object.raw], {});
    for (const std::size_t each : all) calls_[each].released = number;
    now_.erase(object.raw);
    all.merge(std::exchange(prepared_[object.raw], {}));
    prepared_.erase(object.raw);
    lingering_.emplace_back(used, std::move(all));
  }
  std::vector<Call> needed() const {
    std::set<std::size_t> all;
    for (const auto& [object, calls] : now_) all.insert(calls.begin(), calls.end());
    for (const auto& [object, calls] : prepared_) all.insert(calls.begin(), calls.end());
    for (const auto& [used, calls] : lingering_) {
      if (!used.expired()) all.insert(calls.begin(), calls.end());
    }
    // The calls that a call needs came before it.
    for (auto at = all.rbegin(); at != all.rend(); ++at)
      all.insert(calls_[*at].needs.begin(), calls_[*at].needs.end());
    std::vector<Call> needed;
    for (const std::size_t each : all) needed.push_back(calls_[each]);
    return needed;
  }
  std::set<std::uint64_t> numbers(const std::set<std::size_t>& places) const {
    std::set<std::uint64_t> numbers;
    for (const std::size_t place : places) numbers.insert(calls_[place].number);
    return numbers;
  }

 private:
  std::vector<Call> calls_;
  std::map<std::uint64_t, std::set<std::size_t>> now_, prepared_;
  std::vector<std::pair<std::weak_ptr<int>, std::set<std::size_t>>> lingering_;
};

/// Objects that are made, changed and released at random, in places that are used again, while commands go
/// on with some of those that are released.
struct RandomJournal {
  static constexpr std::uint32_t kPlaces = 12;
  struct Place {
    ObjectId id;
    std::shared_ptr<int> object{};  // null: it is free
  };

  explicit RandomJournal(std::uint32_t seed) : random(seed) {
    for (std::uint32_t i = 0; i < kPlaces; ++i) places.push_back({ObjectId::make(i, 0)});
  }
  std::uint32_t pick(std::size_t count) { return static_cast<std::uint32_t>(random() % count); }

  void step() {
    Place& place = places[pick(kPlaces)];
    if (!commands.empty() && pick(4) == 0) commands.erase(commands.begin() + pick(commands.size()));
    if (place.object && pick(3) == 0) return release(place);
    keep(place);
  }
  void keep(Place& place) {
    const bool makes = !place.object;
    if (makes)
      place = {ObjectId::make(place.id.index(), place.id.generation() + 1), std::make_shared<int>(0)};
    JournalModel::Call call{next++, Lasting::makes, place.id, pick(2), {}};
    if (!makes)
      call.lasting = std::vector{Lasting::extends, Lasting::prepares, Lasting::sets, Lasting::sets}[pick(4)];
    // Some are so long that their records are not used again.
    call.bytes.resize(pick(8) == 0 ? 2000 : pick(100));
    for (std::byte& each : call.bytes) each = static_cast<std::byte>(random());
    std::vector<ObjectId> names{place.id};
    for (std::uint32_t i = pick(4); i > 0; --i) names.push_back(places[pick(kPlaces)].id);  // some are gone
    journal.keep(call.number, 1, call.lasting, call.object, call.slot, call.bytes, names);
    model.keep(std::move(call), names);
  }
  void release(Place& place) {
    const std::shared_ptr<int> object = std::exchange(place.object, nullptr);
    if (pick(2) == 0) commands.push_back(object);
    const std::uint64_t number = next++;
    journal.release(number, place.id, std::weak_ptr<const void>(object));
    model.release(number, place.id, object);
  }
  void expect_right() const {
    const auto records = journal.records();
    const auto needed = model.needed();
    ASSERT_EQ(records.size(), needed.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Journal::Record& record = *records[i];
      const JournalModel::Call& call = needed[i];
      ASSERT_EQ(record.number, call.number);
      ASSERT_EQ(record.lasting, call.lasting);
      ASSERT_EQ(record.object.raw, call.object.raw);
      ASSERT_EQ(record.slot, call.slot);
      ASSERT_EQ(record.call, call.bytes);
      ASSERT_EQ(record.released, call.released);
      std::set<std::uint64_t> needs;
      for (const auto& each : record.needs) needs.insert(each->number);
      ASSERT_EQ(needs, model.numbers(call.needs));
    }
  }

  std::mt19937 random;
  Journal journal;
  JournalModel model;
  std::vector<Place> places;
  std::vector<std::shared_ptr<int>> commands;  // that go on with objects
  std::uint64_t next = 1;
};

TEST(KeptBytes, AreThoseThatAModelNeedsWhateverIsMadeChangedAndReleased) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (std::uint32_t round = 0; round < 50; ++round) {
    RandomJournal of(seed + round);
    for (int step = 1; step <= 400; ++step) {
      of.step();
      if (step % 20 != 0) continue;
      ASSERT_NO_FATAL_FAILURE(of.expect_right());
    }
    of.commands.clear();
    for (RandomJournal::Place& place : of.places) {
      if (place.object) of.release(place);
    }
    of.commands.clear();
    ASSERT_NO_FATAL_FAILURE(of.expect_right());
    ASSERT_TRUE(of.journal.used().empty());
  }
}

}  // namespace
}  // namespace fairgv::vgpu
