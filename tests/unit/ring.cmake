# The tests of runtime/ring.
add_executable(ring_test
  ${CMAKE_CURRENT_LIST_DIR}/ring/arena_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ring/doorbell_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ring/process_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ring/segment_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ring/spsc_test.cpp)
target_link_libraries(ring_test PRIVATE fairgv_ring fairgv_warnings GTest::gtest_main Threads::Threads)
fairgv_discover_tests(ring_test WHOLE PROPERTIES TIMEOUT 120)
