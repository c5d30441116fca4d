# The same programs in CUDA, as bin/workloads/cuda/NAME. They are measured, not tested with: sanitized builds leave them
# out, whose time for nvcc is better spent on tests/cuda/workloads.
if(NOT FAIRGV_NVCC OR NOT TARGET fairgv-softcuda)
  message(STATUS "No nvcc, or no software CUDA driver: the workloads in CUDA are left out")
  return()
endif()
if(FAIRGV_SANITIZE)
  return()
endif()

add_library(workload_cuda STATIC cuda/support/launcher.cpp cuda/support/program.cpp)
target_include_directories(workload_cuda SYSTEM PRIVATE "${FAIRGV_CUDA_INCLUDE}")
target_link_libraries(workload_cuda PUBLIC workload_core PRIVATE fairgv_warnings)

set(cuda_workloads_dir "${CMAKE_BINARY_DIR}/bin/workloads/cuda")
file(MAKE_DIRECTORY "${cuda_workloads_dir}")
set(cuda_workloads
  matrixMul matrix_mul
  BlackScholes black_scholes
  hotspot hotspot
  srad srad
  scan scan
  convolutionSeparable convolution_separable
  histogram histogram
  cfd cfd
  heartwall heartwall
  lavaMD lava_md
  nw nw
  pathfinder pathfinder
  computeLoop compute_loop)
set(cuda_workload_programs "")
while(cuda_workloads)
  list(POP_FRONT cuda_workloads name source)
  set(program "${cuda_workloads_dir}/${name}")
  add_custom_command(OUTPUT "${program}"
    COMMAND "${FAIRGV_NVCC}" -std=c++20 -O2 -arch=sm_75 -cudart shared -Werror all-warnings "-I${PROJECT_SOURCE_DIR}"
            -MD -MF "${CMAKE_CURRENT_BINARY_DIR}/${name}.d" -MT "${program}"
            -o "${program}" "${CMAKE_CURRENT_SOURCE_DIR}/cuda/${source}.cu"
            $<TARGET_FILE:workload_cuda> $<TARGET_FILE:workload_core>
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cuda/${source}.cu" workload_cuda workload_core
    DEPFILE "${CMAKE_CURRENT_BINARY_DIR}/${name}.d"
    COMMENT "nvcc ${name}" VERBATIM)
  list(APPEND cuda_workload_programs "${program}")
  add_test(NAME workload_cuda_${name} COMMAND "${program}" --repetitions 5 --verify always)
  set_tests_properties(workload_cuda_${name} PROPERTIES LABELS workload TIMEOUT 60 ENVIRONMENT
    "${native_environment};LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fairgv-softcuda>:$<TARGET_FILE_DIR:fairgv-cudart-13>")
endwhile()
add_custom_target(cuda_workloads ALL DEPENDS ${cuda_workload_programs})
add_dependencies(cuda_workloads fairgv-softcuda fairgv-cudart-13)
