# Recording for `fairgv trace`: the worker's half and the daemon's.
add_executable(trace_test
  ${CMAKE_CURRENT_LIST_DIR}/trace/dispatcher_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace/reader_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace/recorder_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace/waits_test.cpp)
target_link_libraries(trace_test PRIVATE fairgv_daemon fairgv_vgpu fairgv_warnings GTest::gtest_main)
fairgv_discover_tests(trace_test WHOLE PROPERTIES TIMEOUT 120)
