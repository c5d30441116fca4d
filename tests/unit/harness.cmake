add_executable(harness_test harness/executions_test.cpp harness/process_cpu_test.cpp harness/statistics_test.cpp
  harness/steady_test.cpp)
target_link_libraries(harness_test PRIVATE harness fairgv_warnings GTest::gtest_main)
fairgv_discover_tests(harness_test WHOLE)
