#include "runtime/session/move/orders.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/base/json_fields.hpp"

namespace fairgv::session {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestOrder = 64;
constexpr std::size_t kMostDevicesOfOrder = 64;

MakeAgain make_again_from(JsonFields& fields, bool ahead) {
  MakeAgain order{ahead, fields.integer("bytes"), fields.integers("granted", kMostDevicesOfOrder), {}};
  for (json& element : fields.list("moves", kMostDevicesOfOrder)) {
    auto each = JsonFields::nested(std::move(element), "order's move");
    order.moves.emplace_back(each.integer32("from"), each.integer32("to"));
    if (!each.ok()) fields.fail(each.error().message);
  }
  if (fields.has("forced")) {
    for (const std::uint64_t device : fields.integers("forced", kMostDevicesOfOrder))
      order.forced.push_back(static_cast<std::uint32_t>(device));
  }
  return order;
}

}  // namespace

std::string to_text(const CopyAhead& order) {
  return json_text(json{{"order", "copy ahead"}, {"number", order.number}});
}

std::string to_text(const WriteImage& order) {
  return json_text(json{{"order", "write image"}, {"copied", order.copied}});
}

std::string to_text(const MakeAgain& order) {
  json moves = json::array();
  for (const auto& [from, to] : order.moves) moves.push_back(json{{"from", from}, {"to", to}});
  json text{{"order", order.ahead ? "make ahead" : "make again"},
            {"bytes", order.bytes},
            {"granted", order.granted},
            {"moves", std::move(moves)}};
  if (!order.forced.empty()) text["forced"] = order.forced;
  return json_text(text);
}

std::string to_text(const GoOn&) {
  return json_text(json{{"order", "go on"}});
}

Result<WorkerOrder> parse_worker_order(std::string_view text) {
  JsonFields fields(text, "daemon's order");
  const std::string order = fields.string("order", kLongestOrder);
  if (order == "make ahead" || order == "make again") {
    MakeAgain make = make_again_from(fields, order == "make ahead");
    if (!fields.ok()) return fields.error();
    return WorkerOrder(std::move(make));
  }
  if (order == "copy ahead") {
    const CopyAhead copy{fields.integer("number")};
    if (!fields.ok()) return fields.error();
    return WorkerOrder(copy);
  }
  if (order == "write image") {
    // An earlier release's daemon does not say it.
    const WriteImage write{fields.has("copied") ? fields.integer("copied") : 0};
    if (!fields.ok()) return fields.error();
    return WorkerOrder(write);
  }
  if (order == "go on") return WorkerOrder(GoOn{});
  if (order == "show journal") return WorkerOrder(ShowJournal{});
  if (order == "use device") {
    const UseDevice use{fields.integer32("device")};
    if (!fields.ok()) return fields.error();
    return WorkerOrder(use);
  }
  fields.fail(
      "is none of 'show journal', 'copy ahead', 'write image', 'make ahead', 'make again', 'go on' and 'use "
      "device'");
  return fields.error();
}

std::string to_text(const CopiedAhead& answer) {
  return json_text(json{
      {"worker", "copied ahead"}, {"number", answer.number}, {"bytes", answer.bytes}, {"left", answer.left}});
}

std::string to_text(const ImageWritten& answer) {
  return json_text(json{{"worker", "image"}, {"bytes", answer.bytes}});
}

std::string to_text(const CannotMove& answer) {
  return json_text(json{{"worker", "cannot move"}, {"reason", answer.reason}});
}

std::string to_text(const MadeAhead&) {
  return json_text(json{{"worker", "made ahead"}});
}

std::string to_text(const MadeAgain&) {
  return json_text(json{{"worker", "made again"}});
}

}  // namespace fairgv::session
