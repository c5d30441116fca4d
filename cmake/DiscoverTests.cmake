# The tests of a program of GoogleTest, as ctest's.
#
#   fairgv_discover_tests(TARGET [WHOLE] [ONLY FILTER] [BUT FILTER] [LONG FILTER...] [SANITIZED_LONG FILTER...]
#                         [ENVIRONMENT NAME=VALUE...] [PROPERTIES ...])
#
# FILTERs are patterns of GoogleTest's with colons between them. ONLY and BUT say which tests are meant (default: all).
# LONG ones get ctest's label "long", SANITIZED_LONG ones under sanitizers, too: `tools/test --long` runs them.
# WHOLE: under sanitizers, where the start of a process takes longer than most unit tests, all that is not long is one
# test of ctest's.
include(GoogleTest)

# The label for tests that add_test() adds.
function(fairgv_long_tests)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS long)
endfunction()

# The tests that a filter finds, each by itself. A value with a semicolon gets through gtest_discover_tests() as several:
# the environment is set when ctest has read the tests.
function(fairgv_discover_each target list filter environment)
  gtest_discover_tests(${target} TEST_FILTER "${filter}" TEST_LIST ${list} DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES ${ARGN})
  if(environment)
    set(script "${CMAKE_CURRENT_BINARY_DIR}/${list}_environment.cmake")
    file(WRITE "${script}" "foreach(test IN LISTS ${list})
  set_tests_properties(\"\${test}\" PROPERTIES ENVIRONMENT [==[${environment}]==])
endforeach()
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
  endif()
endfunction()

function(fairgv_discover_tests target)
  cmake_parse_arguments(arg "WHOLE" "ONLY;BUT" "LONG;SANITIZED_LONG;ENVIRONMENT;PROPERTIES" ${ARGN})
  set(long ${arg_LONG})
  if(FAIRGV_SANITIZE)
    list(APPEND long ${arg_SANITIZED_LONG})
  endif()
  list(JOIN long ":" long)
  if(NOT arg_ONLY)
    set(arg_ONLY "*")
  endif()
  string(JOIN ":" but ${arg_BUT} ${long})
  string(MAKE_C_IDENTIFIER "${target}_${arg_ONLY}" list)
  set(filter "${arg_ONLY}:-${but}")
  if(arg_WHOLE AND FAIRGV_SANITIZE)
    add_test(NAME ${target} COMMAND ${target} "--gtest_filter=${filter}")
    set_tests_properties(${target} PROPERTIES ${arg_PROPERTIES} TIMEOUT 600 ENVIRONMENT "${arg_ENVIRONMENT}")
  else()
    fairgv_discover_each(${target} ${list} "${filter}" "${arg_ENVIRONMENT}" PROPERTIES ${arg_PROPERTIES})
  endif()
  if(long)
    fairgv_discover_each(${target} ${list}_long "${long}:-${arg_BUT}" "${arg_ENVIRONMENT}"
      PROPERTIES ${arg_PROPERTIES} LABELS long)
  endif()
endfunction()
