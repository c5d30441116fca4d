// fairgv checkpoint and restore: the device side of a session in a file, and back. The daemon never sees the
// file: it gives and takes memory files, and this program copies.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "runtime/base/files/sparse_copy.hpp"
#include "runtime/base/handle.hpp"
#include "runtime/base/json_fields.hpp"
#include "runtime/base/memory_size.hpp"
#include "runtime/control/checkpoint/file.hpp"
#include "runtime/control/moves.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

using Command = control::ControlRequest::Command;

struct CheckpointOptions {
  std::uint32_t session = 0;
  std::string file;
  std::string socket;
};

const std::atomic<bool> kNeverStop{false};

control::ControlRequest checkpoint_request(Command command, std::uint32_t session) {
  control::ControlRequest request;
  request.command = command;
  request.session = session;
  return request;
}

Result<Packet> ask_for_two_files(Control& control, const control::ControlRequest& request) {
  FAIRGV_TRY(packet, control.ask_for_files(request));
  FAIRGV_CHECK(control::parse_outcome(packet->text));
  if (packet->fds.size() != 2) return Error{"the daemon's answer lacks its files"};
  return packet;
}

/// A file beside the one that it is to become, so that nothing is lost until it is whole.
class NewFile {
 public:
  static Result<NewFile> make(const std::string& path) {
    std::string name = path + ".XXXXXX";
    UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));  // mode 0600
    if (!file) return system_error("cannot make a file beside " + path);
    return NewFile(path, std::move(name), std::move(file));
  }
  ~NewFile() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)), name_(std::exchange(other.name_, {})), file_(std::move(other.file_)) {}
  NewFile& operator=(NewFile&&) = delete;

  int fd() const { return file_.get(); }
  Result<void> keep() {
    if (::rename(name_.c_str(), path_.c_str()) != 0)
      return system_error("cannot give a file the name " + path_);
    name_.clear();
    return {};
  }

 private:
  NewFile(std::string path, std::string name, UniqueFd file)
      : path_(std::move(path)), name_(std::move(name)), file_(std::move(file)) {}
  std::string path_;
  std::string name_;  // empty: it has its own
  UniqueFd file_;
};

std::uint64_t length_of(int file) {
  struct stat found {};
  return ::fstat(file, &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

/// The session rests only while its shared memory is copied: its image stays as it is.
Result<std::string> write_checkpoint(const CheckpointOptions& options) {
  FAIRGV_TRY(file, NewFile::make(options.file));
  FAIRGV_TRY(control, Control::connect(options.socket));
  FAIRGV_TRY(answer,
             ask_for_two_files(control.value(), checkpoint_request(Command::checkpoint, options.session)));
  JsonFields fields(answer->text, "daemon's answer");
  FAIRGV_TRY(facts, control::checkpoint_facts_from(fields.object("facts")));
  const std::uint64_t at = fields.integer("contents_at");
  if (!fields.ok()) return fields.error();
  const control::CheckpointParts parts = control::parts_of(facts.value());
  const auto memory = copy_sparse({answer->fds[1].get(), at}, {file->fd(), parts.contents},
                                  facts->contents_bytes, kNeverStop);
  FAIRGV_TRY(went_on, control->ask(checkpoint_request(Command::checkpoint_copied, options.session)));
  if (!memory) return Error{"cannot " + memory.error().message + ": " + options.file};
  FAIRGV_CHECK(control::parse_outcome(went_on.value()));
  const auto image =
      copy_sparse({answer->fds[0].get(), 0}, {file->fd(), parts.image}, facts->image_bytes, kNeverStop);
  if (!image) return Error{"cannot " + image.error().message + ": " + options.file};
  facts->file_bytes = length_of(file->fd());
  if (const auto head = control::write_checkpoint_head(file->fd(), facts.value()); !head)
    return Error{options.file + " " + head.error().message};
  FAIRGV_CHECK(file->keep());
  return fmt::format("session {}: checkpoint in {}, {} written (image {}, shared memory {})", options.session,
                     options.file, readable_bytes(image.value() + memory.value()),
                     readable_bytes(image.value()), readable_bytes(memory.value()));
}

Result<std::string> restore_checkpoint(const CheckpointOptions& options) {
  const UniqueFd file(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_error("cannot open " + options.file);
  const auto facts = control::read_checkpoint_head(file.get());
  if (!facts) return Error{options.file + " " + facts.error().message};
  FAIRGV_TRY(control, Control::connect(options.socket));
  control::ControlRequest request = checkpoint_request(Command::restore, options.session);
  request.facts = facts.value();
  FAIRGV_TRY(answer, ask_for_two_files(control.value(), request));
  const control::CheckpointParts parts = control::parts_of(facts.value());
  const std::uint64_t contents_left = facts->file_bytes - std::min(facts->file_bytes, parts.contents);
  const auto image =
      copy_sparse({file.get(), parts.image}, {answer->fds[0].get(), 0}, facts->image_bytes, kNeverStop);
  if (!image) return Error{options.file + ": cannot " + image.error().message};
  const auto memory = copy_sparse({file.get(), parts.contents}, {answer->fds[1].get(), 0},
                                  std::min(contents_left, facts->contents_bytes), kNeverStop);
  if (!memory) return Error{options.file + ": cannot " + memory.error().message};
  answer->fds.clear();  // nobody may write to them any more
  FAIRGV_TRY(done, control->ask(checkpoint_request(Command::restore_filled, options.session)));
  FAIRGV_TRY(report, control::parse_move_report(done.value()));
  const double held_ms = report->moves.empty() ? 0 : report->moves.front().held_ms;
  return fmt::format("session {}: restored from {}, {} read (image {}, shared memory {}), held for {:.1f} ms",
                     options.session, options.file, readable_bytes(image.value() + memory.value()),
                     readable_bytes(image.value()), readable_bytes(memory.value()), held_ms);
}

int print_outcome(const char* name, const Result<std::string>& done) {
  if (!done) return fail(name, done.error().message);
  fmt::print("{}\n", done.value());
  return 0;
}

void add_session_number(CLI::App& command, CheckpointOptions& options) {
  command.add_option("session", options.session, "Number of the session, as by fairgv ps")
      ->required()
      ->type_name("SESSION");
}

void add_file(CLI::App& command, CheckpointOptions& options) {
  command.add_option("file", options.file, "The checkpoint")->required()->type_name("FILE");
}

}  // namespace

void add_checkpoints(CLI::App& app, Action& action) {
  static CheckpointOptions checkpoint, restore;
  CLI::App* const writes = app.add_subcommand(
      "checkpoint", "Write what a session has on its devices to a file: fairgv checkpoint SESSION FILE");
  add_session_number(*writes, checkpoint);
  add_file(*writes, checkpoint);
  add_socket_option(*writes, checkpoint.socket);
  writes->callback(
      [&action] { action = [] { return print_outcome("checkpoint", write_checkpoint(checkpoint)); }; });
  CLI::App* const reads = app.add_subcommand(
      "restore",
      "Put a session whose program is at the same place back to a checkpoint: fairgv restore FILE SESSION");
  add_file(*reads, restore);
  add_session_number(*reads, restore);
  add_socket_option(*reads, restore.socket);
  reads->callback(
      [&action] { action = [] { return print_outcome("restore", restore_checkpoint(restore)); }; });
}

}  // namespace fairgv::tools
