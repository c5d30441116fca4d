#include "runtime/session/move/orders.hpp"

#include <nlohmann/json.hpp>

#include "runtime/base/json_fields.hpp"

namespace fairgv::session {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestOrder = 64;
constexpr std::size_t kMostDevicesOfOrder = 64;

MakeAgain make_again_from(JsonFields& fields) {
  MakeAgain order{fields.integer("bytes"), fields.integers("granted", kMostDevicesOfOrder), {}};
  for (json& element : fields.list("moves", kMostDevicesOfOrder)) {
    auto each = JsonFields::nested(std::move(element), "order's move");
    order.moves.emplace_back(each.integer32("from"), each.integer32("to"));
    if (!each.ok()) fields.fail(each.error().message);
  }
  return order;
}

}  // namespace

std::string to_text(const WriteImage&) {
  return json_text(json{{"order", "write image"}});
}

std::string to_text(const MakeAgain& order) {
  json moves = json::array();
  for (const auto& [from, to] : order.moves) moves.push_back(json{{"from", from}, {"to", to}});
  return json_text(json{{"order", "make again"},
                        {"bytes", order.bytes},
                        {"granted", order.granted},
                        {"moves", std::move(moves)}});
}

std::string to_text(const GoOn&) {
  return json_text(json{{"order", "go on"}});
}

Result<WorkerOrder> parse_worker_order(std::string_view text) {
  JsonFields fields(text, "daemon's order");
  const std::string order = fields.string("order", kLongestOrder);
  WorkerOrder parsed = ShowJournal{};
  if (order == "write image") {
    parsed = WriteImage{};
  } else if (order == "make again") {
    parsed = make_again_from(fields);
  } else if (order == "go on") {
    parsed = GoOn{};
  } else if (order != "show journal") {
    fields.fail("is none of 'show journal', 'write image', 'make again' and 'go on'");
  }
  if (!fields.ok()) return fields.error();
  return parsed;
}

std::string to_text(const ImageWritten& answer) {
  return json_text(json{{"worker", "image"}, {"bytes", answer.bytes}});
}

std::string to_text(const CannotMove& answer) {
  return json_text(json{{"worker", "cannot move"}, {"reason", answer.reason}});
}

std::string to_text(const MadeAgain&) {
  return json_text(json{{"worker", "made again"}});
}

}  // namespace fairgv::session
