# The workloads' own arithmetic.
add_executable(workloads_test workloads/sleep_test.cpp)
target_link_libraries(workloads_test PRIVATE workload_support fairgv_warnings GTest::gtest_main)
fairgv_discover_tests(workloads_test WHOLE)
