#include "runtime/daemon/reports/journals.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/control/protocol.hpp"

namespace fairgv::daemon {
namespace {

/// Of a size that the worker cannot change.
Result<UniqueFd> report_file() {
  UniqueFd file(::memfd_create("fairgv-journal", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(session::kLongestJournalReport)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return Error{std::string("cannot make a memory file for a journal: ") + std::strerror(errno)};
  return file;
}

}  // namespace

Result<void> Journals::ask(const Session& session, std::uint64_t key, Time now) {
  const std::string name = "session " + std::to_string(session.id.value);
  if (session.worker.is_program())
    return Error{name + " is direct: its objects are its own driver's, and nobody keeps a journal of them"};
  if (session.moving) return Error{name + " is moving to another worker: ask again when it has moved"};
  const auto asked = open_.find(session.id);
  if (asked != open_.end()) {
    if (asked->second.keys.empty()) return Error{name + " has not answered an earlier question yet"};
    asked->second.keys.push_back(key);
    return {};
  }
  FAIRGV_TRY(file, report_file());
  if (!session.channel.send(to_text(session::ShowJournal{}), {file->get()}))
    return Error{"the worker of " + name + " does not listen"};
  open_.emplace(session.id, Question{std::move(file).value(), {key}, now + kPatience});
  return {};
}

Result<void> Journals::take(const Session& session, const session::JournalShown& answer) {
  const auto found = open_.find(session.id);
  if (found == open_.end()) return {};  // a daemon before this one has asked
  Question question = std::move(found->second);
  open_.erase(found);
  std::string text(answer.bytes, '\0');
  const ssize_t read = ::pread(question.file.get(), text.data(), text.size(), 0);
  const auto report = read == static_cast<ssize_t>(text.size())
                          ? session::parse_journal_report(text)
                          : Result<session::JournalReport>(Error{"it is shorter than it should be"});
  answer_all(question, report ? to_text(report.value())
                              : control::failure_text("the worker's journal cannot be read: " +
                                                      report.error().message));
  if (!report) return report.error();
  return {};
}

void Journals::forget(SessionId id, const std::string& has) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  answer_all(found->second, control::failure_text("session " + std::to_string(id.value) + " " + has));
  open_.erase(found);
}

std::optional<Journals::Time> Journals::deadline() const {
  std::optional<Time> first;
  for (const auto& [id, question] : open_) {
    if (!question.keys.empty() && (!first || question.until < *first)) first = question.until;
  }
  return first;
}

void Journals::expire(Time now) {
  for (auto& [id, question] : open_) {
    if (question.keys.empty() || question.until > now) continue;
    answer_all(question, control::failure_text(
                             "session " + std::to_string(id.value) +
                             " does not answer: its worker is in a call of its driver; try again later"));
  }
}

void Journals::answer_all(Question& question, const std::string& text) const {
  for (const std::uint64_t key : std::exchange(question.keys, {})) answer_(key, text);
}

}  // namespace fairgv::daemon
