# FAIRGV_PRECOMPILE: the headers that nearly every file includes are parsed once, those of the standard library for all
# rooms, and GoogleTest's with them for tests. Headers must be included all the same: builds without it would break (the
# presets debug and fuzz are such).
option(FAIRGV_PRECOMPILE "Precompile the headers of the standard library and of GoogleTest" OFF)

set(FAIRGV_PRECOMPILED_HEADERS <algorithm> <array> <atomic> <chrono> <condition_variable> <cstring> <deque> <filesystem>
  <fstream> <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <sstream> <string> <thread>
  <unordered_map> <variant> <vector>)

# All targets of a folder and of those below it.
function(fairgv_targets_below folder result)
  get_property(found DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(each ${below})
    fairgv_targets_below("${each}" more)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# The headers are compiled once for each way to compile: libraries as they are shipped, and programs of tests. GCC 12 has
# little from the first, and with them it takes moves of std::string for writes out of bounds (-Warray-bounds).
function(fairgv_precompile)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/precompiled/nothing.cpp" CONTENT "")
    add_library(precompiled OBJECT "${CMAKE_BINARY_DIR}/precompiled/nothing.cpp")
    target_link_libraries(precompiled PRIVATE fairgv_warnings)
    target_precompile_headers(precompiled PRIVATE ${FAIRGV_PRECOMPILED_HEADERS})
  endif()
  fairgv_targets_below("${PROJECT_SOURCE_DIR}" targets)
  list(REMOVE_ITEM targets precompiled)
  if(FAIRGV_BUILD_TESTS)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/precompiled/main.cpp" CONTENT "int main() {}\n")
    add_executable(precompiled_test EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/precompiled/main.cpp")
    set_target_properties(precompiled_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/precompiled")
    # GCC's -Wpedantic takes away a macro of its own: without it the headers would be others.
    target_link_libraries(precompiled_test PRIVATE fairgv_warnings GTest::gtest_main)
    target_compile_options(precompiled_test PRIVATE ${FAIRGV_UNOPTIMISED})
    target_precompile_headers(precompiled_test PRIVATE ${FAIRGV_PRECOMPILED_HEADERS} <gtest/gtest.h>)
  endif()
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    get_target_property(visibility ${target} CXX_VISIBILITY_PRESET)
    get_target_property(optimised ${target} COMPILE_OPTIONS)
    list(FILTER optimised INCLUDE REGEX "-O")
    if(NOT visibility STREQUAL "${CMAKE_CXX_VISIBILITY_PRESET}")
      continue()
    elseif(type STREQUAL "EXECUTABLE" AND libraries MATCHES "GTest::" AND optimised STREQUAL "${FAIRGV_UNOPTIMISED}")
      target_precompile_headers(${target} REUSE_FROM precompiled_test)
    elseif(TARGET precompiled AND type MATCHES "^(STATIC|SHARED|OBJECT)_LIBRARY$" AND optimised STREQUAL "")
      target_precompile_headers(${target} REUSE_FROM precompiled)
    endif()
  endforeach()
endfunction()
