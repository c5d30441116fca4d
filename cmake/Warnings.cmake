# One target that every target of the project links: warnings are errors, everywhere. (Not -Wnull-dereference: with
# inlining GCC 12 reports it inside the headers of libraries.)
add_library(fairgv_warnings INTERFACE)
target_compile_options(fairgv_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  -Werror)
