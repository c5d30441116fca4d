// Variables that belong to a program and not to a launch, possible since OpenCL C 2.0 (section 6.7.5 of the
// OpenCL C 3.0 specification: program scope and static variables). A second build of a program has variables
// of its own, so its launches must not run now in one build and then in the other.
#pragma once

#include <string_view>

namespace fairgv::slicing {

// Whether the source may define such a variable, judged by its text. In doubt the answer is yes: a macro call
// outside of functions may be anything. A no is not certain either: headers are not read, and a macro that
// looks like a word is taken for one.
bool may_define_variables(std::string_view source);

// Whether a program with these build options can have such variables at all: only from OpenCL C 2.0 on, which
// is used only on request.
bool may_have_program_variables(std::string_view options);

}  // namespace fairgv::slicing
