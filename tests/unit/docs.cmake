# The pages' statements about the programs, and about each other. They read text, in which no sanitizer finds anything.
if(FAIRGV_SANITIZE)
  return()
endif()
add_executable(docs_test
  ${CMAKE_CURRENT_LIST_DIR}/docs/extension_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/docs/house_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/docs/link_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/docs/message_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/docs/policy_test.cpp)
target_link_libraries(docs_test PRIVATE fairgv_sched fairgv_warnings GTest::gtest_main)
target_include_directories(docs_test PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(docs_test PRIVATE FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
fairgv_discover_tests(docs_test PROPERTIES TIMEOUT 60)
