// Variables that belong to a program and not to a launch, possible since OpenCL C 2.0 (section 6.7.5 of the
// OpenCL C 3.0 specification: program scope and static variables). A program that is built a second time has
// others, so its launches must not run in the one program now and in the other then.
#pragma once

#include <string_view>

namespace fairgv::slicing {

// Whether the source may define such a variable. By its look, in doubt yes: a macro that stands outside of
// functions as if it were a call may be anything. No is not certain either: headers are not read, and a macro
// that looks like a word is taken for one.
bool may_define_variables(std::string_view source);

// Whether a program with these build options can have such variables at all: not before OpenCL C 2.0, which
// nobody gets without asking for it.
bool may_have_program_variables(std::string_view options);

}  // namespace fairgv::slicing
