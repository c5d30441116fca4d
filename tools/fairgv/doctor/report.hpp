// Findings as text: a line each for people, an array of objects for scripts.
#pragma once

#include <string>

#include "tools/fairgv/doctor/finding.hpp"

namespace fairgv::tools::doctor {

/// "wrong  driver x.icd: ... Do: ...", without a line feed. Names of files and users come from the machine,
/// so control characters are shown as '?'.
std::string to_line(const Finding& finding);

/// An array of {"level", "subject", "text", "remedy"}; texts that are not UTF-8 are made so.
std::string to_json(const Findings& findings);

/// The command's exit status: 0 unless something is wrong.
int exit_status(const Findings& findings);

}  // namespace fairgv::tools::doctor
