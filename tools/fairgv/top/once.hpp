// `fairgv top --once`: one look, as text or for scripts.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/fairgv/top/view.hpp"

namespace fairgv::tools::top {

/// {"daemon":{...},"devices":[{...,"tenants":[...]}]}: in the order of the view. Fields that the daemon does
/// not report are null.
nlohmann::json to_json(const View& view);

/// Why the filter finds nothing in the report although it names something; empty if it does not.
std::string nothing_found(const control::Report& report, const Filter& filter);

}  // namespace fairgv::tools::top
