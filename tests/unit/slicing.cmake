# Unit tests of slicing/; included by tests/unit/CMakeLists.txt.
add_executable(slicing_test
  ${CMAKE_CURRENT_LIST_DIR}/slicing/opencl_c_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slicing/planner_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slicing/planner_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slicing/prelude_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slicing/variables_test.cpp)
target_link_libraries(slicing_test PRIVATE fairgv_slicing fairgv_warnings GTest::gtest_main)
fairgv_discover_tests(slicing_test WHOLE)
