# cmake -DEXIT_CODE=2 -P expect_one_line_error.cmake -- program args...
# Passes when the program prints nothing but one line on standard error and exits with EXIT_CODE.

set(command)
set(after_separator FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(position RANGE ${last})
  if(after_separator)
    list(APPEND command "${CMAKE_ARGV${position}}")
  elseif("${CMAKE_ARGV${position}}" STREQUAL "--")
    set(after_separator TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE error)
if(NOT code STREQUAL "${EXIT_CODE}")
  message(FATAL_ERROR "exit code ${code}, expected ${EXIT_CODE}; standard error: ${error}")
endif()
if(NOT output STREQUAL "")
  message(FATAL_ERROR "standard output is not empty: ${output}")
endif()
if(NOT error MATCHES "^[^\n]+\n$")
  message(FATAL_ERROR "standard error is not one line: '${error}'")
endif()
