# The command lines of the programs, as a shell sees them.
add_executable(tools_test
  ${CMAKE_CURRENT_LIST_DIR}/tools/completion_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools/config_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools/front_tenants_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools/help_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools/unsteady_test.cpp)
target_link_libraries(tools_test PRIVATE fairgv_completion fairgv_front harness fairgv_warnings GTest::gtest_main)
target_compile_definitions(tools_test PRIVATE FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(tools_test fairgv fairgvd fairgv-vgpu)
fairgv_discover_tests(tools_test WHOLE PROPERTIES TIMEOUT 120)
