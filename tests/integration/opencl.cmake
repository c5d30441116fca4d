# API behaviour on the visible platform. The program links OpenCL and GoogleTest, nothing of the project: it runs once
# on the bare driver and once as a tenant, with the same expectations.
add_executable(opencl_api_test
  ${CMAKE_CURRENT_LIST_DIR}/opencl/argument_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/command_buffer_error_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/command_buffer_image_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/command_buffer_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/device_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/error_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/event_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/extension_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/fixture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/include_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/kernel_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/link_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/buffer_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/image_error_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/image_kind_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/image_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/map_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/rect_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/sampler_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/svm_error_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/memory/svm_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/platform_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/printf_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/program_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/thread_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/torture_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl/wrong_argument_test.cpp)
target_include_directories(opencl_api_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../..)
target_link_libraries(opencl_api_test PRIVATE OpenCL::OpenCL GTest::gtest_main Threads::Threads fairgv_warnings)

# On the bare driver. The tests of sub-devices run in a process of their own: PoCL 3.1 sometimes does not survive the
# tests after them. Nothing of the project is in this process, and nothing for sanitizers to find.
if(NOT FAIRGV_SANITIZE)
  add_test(NAME opencl_api_native COMMAND opencl_api_test --gtest_filter=-SubDevices.*)
  add_test(NAME opencl_api_native_sub_devices COMMAND opencl_api_test --gtest_filter=SubDevices.*)
  set_tests_properties(opencl_api_native opencl_api_native_sub_devices PROPERTIES
    ENVIRONMENT "OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd" TIMEOUT 300)
  fairgv_long_tests(opencl_api_native)
endif()
# As a tenant: system/programs_test.cpp.
