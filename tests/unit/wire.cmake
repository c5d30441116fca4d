add_executable(wire_test wire/codec_test.cpp wire/calls_test.cpp)
target_link_libraries(wire_test PRIVATE fairgv_wire fairgv_warnings GTest::gtest_main)
# The folders in which the test looks for the senders and the handlers of the declared calls.
target_compile_definitions(wire_test PRIVATE FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
fairgv_discover_tests(wire_test WHOLE)
