// Checkpoints: the facts of a file, files that are damaged, and sessions that rest and are restored.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/control/checkpoint/file.hpp"
#include "runtime/daemon/moves/checkpoints.hpp"
#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

using control::CheckpointFacts;

constexpr std::uint64_t kCopier = 5;

CheckpointFacts some_facts() {
  return {.fairgv = "0.1.0",
          .protocol = 1,
          .api = "opencl",
          .program = "matrixMul",
          .devices = {"cpu (Portable Computing Language)"},
          .hidden = 2,
          .place = {1, 2, 3, 4, 5, 6},
          .layout = {10, 20, 30, 40, 50},
          .image_bytes = 5'000,
          .contents_bytes = 90'000,
          .file_bytes = 77'000,
          .holdings = {7, 8},
          .session = 9,
          .tenant = "bob",
          .made_s = 1'000};
}

UniqueFd empty_file() {
  return UniqueFd(::memfd_create("checkpoint", MFD_CLOEXEC));
}

TEST(CheckpointFile, IsReadAsItWasWritten) {
  const UniqueFd file = empty_file();
  ASSERT_TRUE(control::write_checkpoint_head(file.get(), some_facts()));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(some_facts().file_bytes - 1)), 0);
  EXPECT_FALSE(control::read_checkpoint_head(file.get())) << "a byte is missing";
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(some_facts().file_bytes)), 0);
  const auto read = control::read_checkpoint_head(file.get());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read.value(), some_facts());
  const auto parts = control::parts_of(read.value());
  EXPECT_EQ(parts.image, 65'536U);
  EXPECT_EQ(parts.contents, 65'536U + 8'192U);
}

TEST(CheckpointFile, AFileThatIsNoneIsALine) {
  const auto error_of = [](const std::string& bytes) {
    const UniqueFd file = empty_file();
    EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    const auto read = control::read_checkpoint_head(file.get());
    EXPECT_FALSE(read);
    return read ? std::string() : read.error().message;
  };
  const auto head = [](std::uint32_t version, std::uint32_t length, const std::string& text) {
    std::string bytes = "FAIRGVCP";
    bytes.append(reinterpret_cast<const char*>(&version), sizeof(version));
    bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
    return bytes + text;
  };
  EXPECT_EQ(error_of(""), "is no checkpoint of FairGV, or one that was not finished");
  EXPECT_EQ(error_of(std::string(70'000, '\0')), "is no checkpoint of FairGV, or one that was not finished");
  EXPECT_EQ(error_of(head(2, 2, "{}")), "is a checkpoint in format 2, and this FairGV reads 1");
  EXPECT_EQ(error_of(head(1, 4'000'000'000, "{}")), "is a damaged checkpoint: its head is too long");
  EXPECT_EQ(error_of(head(1, 100, "{}")), "is a damaged checkpoint: it ends in its head");
  EXPECT_EQ(error_of(head(1, 4, "null")), "is a damaged checkpoint: its head cannot be read");
  EXPECT_EQ(error_of(head(1, 2, "{}")).find("is a damaged checkpoint: "), 0U);
}

TEST(CheckpointFacts, EachDifferenceIsNamed) {
  EXPECT_EQ(why_not(some_facts(), some_facts()), "");
  const auto with = [](const auto& change) {
    CheckpointFacts facts = some_facts();
    change(facts);
    return why_not(facts, some_facts());
  };
  EXPECT_NE(with([](auto& f) { f.fairgv = "9"; }).find("of FairGV 9, and this is FairGV 0.1.0"),
            std::string::npos);
  EXPECT_NE(with([](auto& f) { f.protocol = 7; }).find("protocol 7"), std::string::npos);
  EXPECT_NE(with([](auto& f) { f.api = "cuda"; }).find("cuda"), std::string::npos);
  EXPECT_NE(with([](auto& f) { f.program = "x"; }).find("program x"), std::string::npos);
  EXPECT_NE(with([](auto& f) { f.devices = {}; }).find("other devices"), std::string::npos);
  EXPECT_NE(with([](auto& f) { f.hidden = 0; }).find("other devices"), std::string::npos);
  EXPECT_NE(with([](auto& f) { f.layout[4] = 1; }).find("another layout"), std::string::npos);
  EXPECT_NE(with([](auto& f) { f.contents_bytes = 1; }).find("another layout"), std::string::npos);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NE(with([i](auto& f) { ++f.place[i]; }).find("at another place"), std::string::npos);
  EXPECT_EQ(with([](auto& f) { f.session = 1; }), "") << "a session has another number later";
}

struct CheckpointTest : MoveTest {
  using Asked = Result<std::optional<Checkpoints::Reply>>;

  /// The text of the answer, whenever it comes; its files are kept.
  std::string wait_for(Asked asked) {
    if (!asked) return asked.error().message;
    if (!asked.value()) {
      run_until([&] { return answer.has_value(); });
      return std::exchange(answer, std::nullopt).value_or("");
    }
    files = std::move(asked.value()->files);
    return asked.value()->text;
  }
  std::string error_in(const std::string& text) {
    const auto outcome_of = control::parse_outcome(text);
    return outcome_of ? "" : outcome_of.error().message;
  }
  CheckpointFacts facts_in(const std::string& text) {
    JsonFields fields(text, "answer");
    const auto facts = control::checkpoint_facts_from(fields.object("facts"));
    EXPECT_TRUE(facts) << text;
    return facts ? facts.value() : CheckpointFacts{};
  }
  static std::string rests_once() {
    return hear() + say(to_text(session::ImageWritten{0})) + hear() + note(1);
  }

  std::optional<std::string> answer;
  std::vector<UniqueFd> files;
  Checkpoints checkpoints{{table.sessions(), table.moves(), house.devices, house.tenancies,
                           [this](std::uint64_t key, const Checkpoints::Reply& reply) {
                             EXPECT_EQ(key, kCopier);
                             answer = reply.text;
                             files.clear();
                             for (const UniqueFd& file : reply.files)
                               files.emplace_back(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
                           }}};
};

TEST_F(CheckpointTest, ASessionRestsUntilItWasCopied) {
  start_two(rests_once() + rest(), "");
  const auto facts = facts_in(wait_for(checkpoints.checkpoint(session(), kCopier)));
  EXPECT_EQ(facts.api, "opencl");
  EXPECT_EQ(facts.devices.size(), 2U);
  ASSERT_EQ(files.size(), 2U);
  for (const UniqueFd& file : files) EXPECT_EQ(::fcntl(file.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_TRUE(session().moving);
  EXPECT_FALSE(has_come_to(1));
  EXPECT_EQ(error_in(wait_for(checkpoints.copied(session(), kCopier))), "");
  run_until([&] { return has_come_to(1); });
  EXPECT_FALSE(session().moving);
  EXPECT_EQ(session().worker.pid(), old_worker);
}

TEST_F(CheckpointTest, ACopyThatTakesTooLongIsNone) {
  house.config.session.move_patience = std::chrono::milliseconds(300);
  start_two(rests_once() + rest(), "");
  (void)wait_for(checkpoints.checkpoint(session(), kCopier));
  run_until([&] { return has_come_to(1); });
  EXPECT_EQ(wait_for(checkpoints.copied(session(), kCopier)),
            "session 1 does not rest any more: it was not copied in time");
}

TEST_F(CheckpointTest, APeerThatIsGoneLetsTheSessionGoOn) {
  start_two(rests_once() + rest(), "");
  (void)wait_for(checkpoints.checkpoint(session(), kCopier));
  checkpoints.leave(kCopier);
  run_until([&] { return has_come_to(1); });
  EXPECT_FALSE(session().moving);
}

TEST_F(CheckpointTest, AWorkerThatCannotBeWrittenDownSaysWhy) {
  start_two(hear() + say(to_text(session::CannotMove{"a pipe has contents"})) + note(1) + rest(), "");
  EXPECT_EQ(error_in(wait_for(checkpoints.checkpoint(session(), kCopier))),
            "session 1 goes on, without a checkpoint: a pipe has contents");
}

TEST_F(CheckpointTest, ASessionThatEndsMeanwhileIsNotCopied) {
  start_two(rests_once() + rest(), "");
  (void)wait_for(checkpoints.checkpoint(session(), kCopier));
  client.close();
  run_until([&] { return table.empty(); });
  checkpoints.leave(kCopier);
}

TEST_F(CheckpointTest, ARestoredSessionHasWhatTheFileHolds) {
  start_two(take_memory(300) + rests_once() + honest_old(), say(ready()) + honest_new());
  run_until([&] { return granted() == std::vector<std::uint64_t>({300, 0}); });
  auto facts = facts_in(wait_for(checkpoints.checkpoint(session(), kCopier)));
  (void)wait_for(checkpoints.copied(session(), kCopier));
  EXPECT_EQ(facts.holdings, std::vector<std::uint64_t>({300}));
  facts.holdings = {400};
  EXPECT_EQ(error_in(wait_for(checkpoints.restore(session(), facts, kCopier))), "");
  ASSERT_EQ(files.size(), 2U);
  // The arena gets what is in the file.
  const auto arena = facts.layout[3] * sizeof(ring::CompletionSlot);
  ASSERT_EQ(::pwrite(files[1].get(), "restored", 8, static_cast<off_t>(arena)), 8);
  const auto text = wait_for(checkpoints.filled(session(), kCopier));
  EXPECT_EQ(error_in(text), "");
  settle();
  EXPECT_NE(session().worker.pid(), old_worker);
  EXPECT_EQ(granted(), std::vector<std::uint64_t>({400, 0}));
  std::string found(8, '?');
  const auto at = session().header.header().preamble.offsets.arena;
  ASSERT_EQ(::pread(session().segment_fd.get(), found.data(), 8, static_cast<off_t>(at)), 8);
  EXPECT_EQ(found, "restored");
  EXPECT_EQ(::pwrite(files[1].get(), "x", 1, 0), -1) << "nobody writes to what the worker reads";
}

TEST_F(CheckpointTest, AFileOfMoreThanThereIsChangesNothing) {
  start_two(rests_once() + honest_old(), say(ready()) + honest_new());
  auto facts = facts_in(wait_for(checkpoints.checkpoint(session(), kCopier)));
  (void)wait_for(checkpoints.copied(session(), kCopier));
  facts.holdings = {5'000};
  (void)wait_for(checkpoints.restore(session(), facts, kCopier));
  EXPECT_EQ(
      error_in(wait_for(checkpoints.filled(session(), kCopier))),
      "session 1 is not restored: it needs 4.9 KiB of device 0, and the device has 1000 B more: 3.9 KiB "
      "are missing");
  EXPECT_EQ(session().worker.pid(), old_worker);
  EXPECT_EQ(granted(), std::vector<std::uint64_t>({0, 0}));
}

TEST_F(CheckpointTest, AProgramThatHasGoneOnIsNotRestored) {
  start_two(rests_once() + honest_old(), say(ready()) + honest_new());
  const auto facts = facts_in(wait_for(checkpoints.checkpoint(session(), kCopier)));
  (void)wait_for(checkpoints.copied(session(), kCopier));
  (void)wait_for(checkpoints.restore(session(), facts, kCopier));
  // It makes a call after it was asked for, and before it rests.
  const std::uint64_t produced = 1;
  const auto ring = session().header.header().preamble.offsets.requests;
  ASSERT_EQ(::pwrite(session().segment_fd.get(), &produced, sizeof(produced), static_cast<off_t>(ring)),
            static_cast<ssize_t>(sizeof(produced)));
  const auto error = error_in(wait_for(checkpoints.filled(session(), kCopier)));
  EXPECT_NE(error.find("session 1 is not restored: its program is at another place"), std::string::npos)
      << error;
  EXPECT_EQ(session().worker.pid(), old_worker);
  EXPECT_NE(wait_for(checkpoints.restore(session(), facts, kCopier)).find("at another place"),
            std::string::npos)
      << "and then it is refused at once";
}

TEST_F(CheckpointTest, ANewWorkerThatDiesBeforeItIsReadyChangesNothing) {
  start_two(rests_once() + honest_old(), "exit 3\n");
  const auto facts = facts_in(wait_for(checkpoints.checkpoint(session(), kCopier)));
  (void)wait_for(checkpoints.copied(session(), kCopier));
  (void)wait_for(checkpoints.restore(session(), facts, kCopier));
  EXPECT_NE(error_in(wait_for(checkpoints.filled(session(), kCopier))).find("ended with status 3"),
            std::string::npos);
  EXPECT_EQ(session().worker.pid(), old_worker);
  EXPECT_FALSE(session().moving);
}

TEST_F(CheckpointTest, NothingIsFilledThatWasNotOffered) {
  start_two(rests_once() + rest(), "");
  EXPECT_EQ(wait_for(checkpoints.filled(session(), kCopier)),
            "nothing was offered to restore session 1 from");
}

}  // namespace
}  // namespace fairgv::daemon
