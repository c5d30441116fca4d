#include "runtime/control/checkpoint/image_report.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <utility>

#include "runtime/control/checkpoint/file.hpp"
#include "runtime/session/move/image.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/wire/call_names.hpp"
#include "runtime/wire/every_call.hpp"
#include "runtime/wire/object_ids.hpp"

namespace fairgv::control {
namespace {

using nlohmann::json;
using session::item_as;
using session::ItemKind;

/// The part of a call that follows, read from its bytes.
struct Effect {
  wire::Lasting lasting = wire::Lasting::makes;
  wire::ObjectId object;
  std::uint32_t slot = 0;
  std::vector<wire::ObjectId> names;  // of all objects in it
};

template <class Call>
Result<Effect> effect_as(std::span<const std::byte> bytes) {
  if constexpr (wire::LastingCall<Call>) {
    FAIRGV_TRY(call, item_as<Call>(bytes, "a call that is none"));
    Effect effect{Call::lasting, call->lasting_object(), call->lasting_slot(), {}};
    wire::each_object_id(call.value(), [&](wire::ObjectId id) { effect.names.push_back(id); });
    return effect;
  } else {
    return session::bad_image("a call of which nothing lasts");
  }
}

template <class... Calls>
Result<Effect> effect_in(wire::TypeList<Calls...>, std::uint32_t opcode, std::span<const std::byte> bytes) {
  Result<Effect> effect = session::bad_image("an unknown call");
  static_cast<void>(((Calls::opcode == opcode && (effect = effect_as<Calls>(bytes), true)) || ...));
  return effect;
}

class Reading {
 public:
  Result<ImageReport> read(session::ImageReader& image) {
    FAIRGV_TRY(head, session::read_head(image));
    if (head->api > static_cast<std::uint32_t>(session::Api::cuda))
      return session::bad_image("an unknown API");
    if (head->ahead != 0) return session::bad_image("nothing but copies made ahead");
    report_.api = to_text(static_cast<session::Api>(head->api));
    for (;;) {
      FAIRGV_TRY(item, image.next());
      if (item->kind == ItemKind::end) return std::move(report_);
      FAIRGV_CHECK(take(item.value()));
    }
  }

 private:
  /// A call that the objects made since may need.
  struct Kept {
    std::size_t at = 0;  // among the report's calls
    wire::Lasting lasting = wire::Lasting::makes;
    std::uint32_t slot = 0;
  };

  Result<void> take(const session::ImageReader::Item& item) {
    switch (item.kind) {
      case ItemKind::call: {
        FAIRGV_TRY(call, item_as<session::ImageCall>(item.bytes, "a call that is none"));
        return take(call.value());
      }
      case ItemKind::command: {
        FAIRGV_TRY(command, item_as<session::ImageCommand>(item.bytes, "a command that is none"));
        report_.commands.push_back({command->number, name_of(command->opcode)});
        return {};
      }
      case ItemKind::release: {
        FAIRGV_TRY(release, item_as<session::ImageRelease>(item.bytes, "a release that is none"));
        for (const Kept& kept : kept_[release->object.raw]) report_.journal.calls[kept.at].released = true;
        kept_.erase(release->object.raw);
        return {};
      }
      case ItemKind::contents:
        contents_[latest_.raw] = item.bytes.size();
        return {};
      case ItemKind::error: {
        FAIRGV_TRY(error, item_as<session::ImageError>(item.bytes, "an error that is none"));
        const wire::ObjectId object = error->object;
        report_.objects.push_back(
            {object.index(), object.generation(), made_by_[object.raw], contents_[object.raw], error->error});
        return {};
      }
      case ItemKind::event:
      case ItemKind::user_event:
        ++report_.events;
        return {};
      case ItemKind::state:
      case ItemKind::notice:
      case ItemKind::history:
      case ItemKind::arguments:
      case ItemKind::gone:
        return {};
      default:
        return session::bad_image("an item in the wrong place");
    }
  }

  Result<void> take(const session::ImageCall& call) {
    FAIRGV_TRY(effect, effect_in(wire::EveryCall{}, call.opcode, aligned(call.call)));
    latest_ = effect->object;
    session::JournalReport::Call shown{
        call.number, name_of(call.opcode), latest_.index(), latest_.generation(), call.call.size(), {},
        false};
    // As the journal has it: what made the objects that the call names what they are.
    for (const wire::ObjectId name : effect->names) {
      const auto found = kept_.find(name.raw);
      if (name == latest_ || found == kept_.end()) continue;
      for (const Kept& kept : found->second) {
        if (kept.lasting != wire::Lasting::prepares) shown.needs.push_back(number_of(kept));
      }
    }
    std::vector<Kept>& kept = kept_[latest_.raw];
    if (effect->lasting == wire::Lasting::sets) {
      std::erase_if(kept, [&](const Kept& earlier) {
        if (earlier.lasting == wire::Lasting::prepares) shown.needs.push_back(number_of(earlier));
        return earlier.lasting == wire::Lasting::prepares ||
               (earlier.lasting == wire::Lasting::sets && earlier.slot == effect->slot);
      });
    }
    if (effect->lasting == wire::Lasting::makes) made_by_[latest_.raw] = shown.name;
    kept.push_back({report_.journal.calls.size(), effect->lasting, effect->slot});
    report_.journal.bytes += shown.bytes;
    report_.journal.calls.push_back(std::move(shown));
    return {};
  }

  std::uint64_t number_of(const Kept& kept) const { return report_.journal.calls[kept.at].number; }

  static std::string name_of(std::uint32_t opcode) {
    return opcode > 0xffff ? "(unknown call)"
                           : std::string(wire::call_name(static_cast<wire::Opcode>(opcode)));
  }

  /// The bytes of an item lie anywhere in it.
  std::span<const std::byte> aligned(std::span<const std::byte> call) {
    copy_.resize(session::padded(call.size()) / sizeof(std::uint64_t));
    auto* const to = reinterpret_cast<std::byte*>(copy_.data());
    std::copy(call.begin(), call.end(), to);
    return {to, call.size()};
  }

  ImageReport report_;
  std::unordered_map<std::uint64_t, std::vector<Kept>> kept_;  // by the objects
  std::unordered_map<std::uint64_t, std::string> made_by_;     // the same
  std::unordered_map<std::uint64_t, std::uint64_t> contents_;  // the same
  wire::ObjectId latest_;                                      // that a call has made or changed
  std::vector<std::uint64_t> copy_;
};

/// The image of a parked session is all of its file.
bool is_bare_image(int file) {
  session::ItemHeader header;
  return ::pread(file, &header, sizeof(header), 0) == static_cast<ssize_t>(sizeof(header)) &&
         header.kind == ItemKind::head && header.unused == 0;
}

Result<std::uint64_t> length_of(int file) {
  struct stat found {};
  if (::fstat(file, &found) != 0) return system_error("cannot be looked at");
  return static_cast<std::uint64_t>(found.st_size);
}

}  // namespace

Result<ImageReport> report_of_image(const UniqueFd& file) {
  std::optional<CheckpointFacts> facts;
  std::uint64_t at = 0;
  FAIRGV_TRY(bytes, length_of(file.get()));
  if (!is_bare_image(file.get())) {
    FAIRGV_TRY(head, read_checkpoint_head(file.get()));
    at = parts_of(head.value()).image;
    bytes = head->image_bytes;
    facts = std::move(head).value();
  }
  const auto report = [&]() -> Result<ImageReport> {
    FAIRGV_TRY(image, session::ImageReader::open(file, bytes.value(), at));
    return Reading().read(image.value());
  }();
  if (!report) return Error{"is a damaged image: " + report.error().message};
  ImageReport read = report.value();
  read.facts = std::move(facts);
  return read;
}

json to_json(const ImageReport& report) {
  json whole = json::parse(to_text(report.journal));
  whole["api"] = report.api;
  whole["events"] = report.events;
  whole["objects"] = json::array();
  for (const ImageReport::Object& object : report.objects) {
    whole["objects"].push_back({{"object", object.object},
                                {"generation", object.generation},
                                {"call", object.made_by},
                                {"contents", object.contents},
                                {"error", object.error}});
  }
  whole["commands"] = json::array();
  for (const ImageReport::Command& command : report.commands)
    whole["commands"].push_back({{"number", command.number}, {"call", command.name}});
  if (report.facts) whole["checkpoint"] = to_json(*report.facts);
  return whole;
}

}  // namespace fairgv::control
