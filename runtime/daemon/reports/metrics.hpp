// The daemon's books in Prometheus' text format (docs/METRICS.md lists every name).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "runtime/daemon/reports/books.hpp"
#include "runtime/daemon/reports/daemon_life.hpp"
#include "runtime/daemon/reports/usage_writer.hpp"

namespace fairgv::daemon {

/// The Content-Type of metrics_text().
inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

/// `usage`: how the usage store fares, if there is one.
std::string metrics_text(const Sources& from, const DaemonLife& life, const Books& books,
                         const std::optional<UsageWriter::State>& usage);

}  // namespace fairgv::daemon
