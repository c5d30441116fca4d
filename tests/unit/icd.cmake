# The pure parts of the OpenCL front end, taken from its object library.
add_executable(icd_test
  ${CMAKE_CURRENT_LIST_DIR}/icd/api_table_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/argument_types_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/dispatch_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/documentation_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/extension_table_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/host_region_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/image_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/includes_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/launch_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/masks_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/memory_flags_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/object_test.cpp)
target_link_libraries(icd_test PRIVATE fairgv_icd fairgv_warnings GTest::gtest_main GTest::gmock)
target_compile_definitions(icd_test PRIVATE FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  FAIRGV_CL_ICD_HEADER="${OpenCL_INCLUDE_DIR}/CL/cl_icd.h"
  FAIRGV_CL_EXT_HEADER="${OpenCL_INCLUDE_DIR}/CL/cl_ext.h")
fairgv_discover_tests(icd_test WHOLE)

# Both halves of calls from the table of signatures: the front end's objects and the worker's library.
add_executable(icd_extension_test ${CMAKE_CURRENT_LIST_DIR}/icd/extension_test.cpp)
target_link_libraries(icd_extension_test PRIVATE fairgv_icd fairgv_vgpu fairgv_warnings GTest::gtest_main)
fairgv_discover_tests(icd_extension_test WHOLE)
