#include "runtime/control/pause_json.hpp"

namespace fairgv::control {

nlohmann::json to_json(const std::optional<Pause>& pause) {
  if (!pause) return {};
  return {{"by", pause->by}, {"administrator", pause->administrator}};
}

std::optional<Pause> pause_from(JsonFields& fields) {
  if (!fields.has("paused")) return std::nullopt;
  auto its = JsonFields::nested(fields.object("paused"), "pause");
  const Pause pause{its.integer32("by"), its.boolean("administrator")};
  if (!its.ok()) fields.fail("has a pause that cannot be read");
  return pause;
}

}  // namespace fairgv::control
