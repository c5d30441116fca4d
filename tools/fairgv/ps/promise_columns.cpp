#include "tools/fairgv/ps/promise_columns.hpp"

#include <algorithm>

#include "tools/fairgv/promises.hpp"

namespace fairgv::tools {
namespace {

using Tenant = control::Report::Tenant;

Promises promises_of(const Tenant& tenant) {
  return {tenant.min, tenant.max, tenant.service};
}

/// "60", "*", "* front".
std::string priority_of(const Tenant& tenant) {
  if (!tenant.timegraph || tenant.timegraph->priority == "0") return "";
  return tenant.timegraph->priority + (tenant.timegraph->foreground ? " front" : "");
}

/// "10ms/40ms PE".
std::string reserve_of(const Tenant& tenant) {
  if (!tenant.timegraph) return "";
  if (tenant.timegraph->refused) return "refused";
  if (tenant.timegraph->reserve == "none") return "";
  return tenant.timegraph->reserve + " " + tenant.timegraph->enforcement +
         (tenant.timegraph->shared ? " shared" : "");
}

}  // namespace

std::vector<PromiseColumn> promise_columns(const control::Report& report) {
  using Its = const Tenant&;
  std::vector<PromiseColumn> columns{
      {"min", [](Its its) { return promises_of(its).has_min() ? its.min : std::string(); }},
      {"max", [](Its its) { return promises_of(its).has_max() ? its.max : std::string(); }},
      {"class", [](Its its) { return promises_of(its).has_service() ? its.service : std::string(); }, 0,
       true},
      {"prio", priority_of, 0, true},
      {"reserve", reserve_of, 0, true}};
  for (PromiseColumn& column : columns) {
    for (const Tenant& tenant : report.tenants)
      column.width = std::max(column.width, column.text(tenant).size());
    if (column.width != 0) column.width = std::max(column.width, std::string(column.title).size());
  }
  std::erase_if(columns, [](const PromiseColumn& column) { return column.width == 0; });
  return columns;
}

}  // namespace fairgv::tools
