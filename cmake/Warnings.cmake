# One target that every target of the project links: warnings are errors, everywhere.
add_library(fairgv_warnings INTERFACE)
target_compile_options(fairgv_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wnull-dereference -Wduplicated-cond -Wlogical-op
  -Werror)
# Fences are part of the hybrid wait's protocol; ThreadSanitizer cannot see them, so the code under it
# uses read-modify-writes instead (runtime/ring/eventcount.hpp) and this stays a warning elsewhere.
