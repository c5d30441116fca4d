# Sub-launches on the bare driver: nothing of the project runs here but slicing/ itself.
add_executable(slicing_equality_test
  ${CMAKE_CURRENT_LIST_DIR}/opencl/fixture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slicing/build_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slicing/corpus.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slicing/equality_test.cpp)
target_link_libraries(slicing_equality_test PRIVATE
  fairgv_slicing OpenCL::OpenCL GTest::gtest_main Threads::Threads fairgv_warnings)
# One thread of ours, on the bare driver: nothing for ThreadSanitizer, under which the driver's compiler takes minutes.
if(NOT FAIRGV_SANITIZE STREQUAL "thread")
  add_test(NAME slicing_equality COMMAND slicing_equality_test)
  set_tests_properties(slicing_equality PROPERTIES
    # Leaks of the bare driver are not ours to judge.
    ENVIRONMENT "OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd;ASAN_OPTIONS=detect_leaks=0"
    TIMEOUT 300)
  if(FAIRGV_SANITIZE)
    fairgv_long_tests(slicing_equality)
  endif()
endif()
