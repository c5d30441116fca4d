// A journal as people see it.
#pragma once

#include "runtime/session/journal/journal_report.hpp"
#include "runtime/vgpu/journal/journal.hpp"

namespace fairgv::vgpu {

/// With the names of the calls, which are those of any API; as long as a report may be.
session::JournalReport shown(const Journal& journal);

}  // namespace fairgv::vgpu
