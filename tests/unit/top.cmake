# The screen and the keys of `fairgv top`; the output of `fairgv ps` and `fairgv trace`.
add_executable(top_test
  ${CMAKE_CURRENT_LIST_DIR}/tools/ps_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top/controller_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top/link_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top/screen_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top/text_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top/view_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace/report_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace/spool_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace/writer_test.cpp)
target_link_libraries(top_test PRIVATE fairgv_top fairgv_warnings nlohmann_json::nlohmann_json GTest::gtest_main)
fairgv_discover_tests(top_test WHOLE PROPERTIES TIMEOUT 120)
