#include "runtime/control/checkpoint/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/json_fields.hpp"
#include "runtime/base/page.hpp"

namespace fairgv::control {
namespace {

constexpr char kMagic[8] = {'F', 'A', 'I', 'R', 'G', 'V', 'C', 'P'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kHeadBytes = std::uint64_t{64} << 10;

struct Head {
  char magic[8];
  std::uint32_t version;
  std::uint32_t facts_bytes;
};

}  // namespace

CheckpointParts parts_of(const CheckpointFacts& facts) {
  return {kHeadBytes, kHeadBytes + round_up_to_page(facts.image_bytes)};
}

Result<void> write_checkpoint_head(int file, const CheckpointFacts& facts) {
  const std::string text = json_text(to_json(facts));
  if (text.size() > kHeadBytes - sizeof(Head)) return Error{"has too many devices to be described"};
  Head head{{}, kVersion, static_cast<std::uint32_t>(text.size())};
  std::memcpy(head.magic, kMagic, sizeof(kMagic));
  // The contents are on the disk before the beginning says so.
  if (::fsync(file) != 0) return system_error("cannot be written");
  if (::pwrite(file, text.data(), text.size(), sizeof(head)) != static_cast<ssize_t>(text.size()) ||
      ::pwrite(file, &head, sizeof(head), 0) != static_cast<ssize_t>(sizeof(head)) || ::fsync(file) != 0)
    return system_error("cannot be written");
  return {};
}

Result<CheckpointFacts> read_checkpoint_head(int file) {
  Head head{};
  const ssize_t read = ::pread(file, &head, sizeof(head), 0);
  if (read < 0) return system_error("cannot be read");
  if (read != static_cast<ssize_t>(sizeof(head)) || std::memcmp(head.magic, kMagic, sizeof(kMagic)) != 0)
    return Error{"is no checkpoint of FairGV, or one that was not finished"};
  if (head.version != kVersion) {
    return Error{"is a checkpoint in format " + std::to_string(head.version) + ", and this FairGV reads " +
                 std::to_string(kVersion)};
  }
  if (head.facts_bytes > kHeadBytes - sizeof(head))
    return Error{"is a damaged checkpoint: its head is too long"};
  std::string text(head.facts_bytes, '\0');
  if (::pread(file, text.data(), text.size(), sizeof(head)) != static_cast<ssize_t>(text.size()))
    return Error{"is a damaged checkpoint: it ends in its head"};
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{"is a damaged checkpoint: its head cannot be read"};
  auto facts = checkpoint_facts_from(std::move(json));
  if (!facts) return Error{"is a damaged checkpoint: " + facts.error().message};
  struct stat found {};
  if (::fstat(file, &found) != 0) return system_error("cannot be looked at");
  if (static_cast<std::uint64_t>(found.st_size) < facts->file_bytes)
    return Error{"is a damaged checkpoint: it is shorter than it was"};
  return facts;
}

}  // namespace fairgv::control
