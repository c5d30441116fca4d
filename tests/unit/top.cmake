# What `fairgv top` shows, and what its keys do; what `fairgv ps` prints and `fairgv trace` writes.
add_executable(top_test
  ${CMAKE_CURRENT_LIST_DIR}/tools_ps_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top_controller_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top_link_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top_screen_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top_text_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top_view_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_report_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_spool_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_writer_test.cpp)
target_link_libraries(top_test PRIVATE fairgv_top fairgv_warnings nlohmann_json::nlohmann_json GTest::gtest_main)
gtest_discover_tests(top_test DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES PROPERTIES TIMEOUT 120)
