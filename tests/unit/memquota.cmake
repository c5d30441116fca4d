# Unit tests of memquota/.
add_executable(memquota_test
  ${CMAKE_CURRENT_LIST_DIR}/memquota/ledger_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/memquota/ledger_test.cpp)
target_link_libraries(memquota_test PRIVATE fairgv_memquota harness fairgv_warnings GTest::gtest_main)
fairgv_discover_tests(memquota_test WHOLE)
