# The CUDA toolkit, which is optional: parts that need its headers, and tests that need its compiler, are left out
# without it. Sets FAIRGV_CUDA_INCLUDE, FAIRGV_NVCC and FAIRGV_PTXAS; false if there is no CUDA 13.
find_path(FAIRGV_CUDA_INCLUDE cuda_runtime_api.h
  HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda /usr/lib/cuda PATH_SUFFIXES include
  DOC "Folder of the CUDA toolkit's headers")
set(cuda_13 "")
if(EXISTS "${FAIRGV_CUDA_INCLUDE}/cuda_runtime_api.h")
  file(STRINGS "${FAIRGV_CUDA_INCLUDE}/cuda_runtime_api.h" cuda_13 REGEX "^#define CUDART_VERSION +13[0-9][0-9][0-9]")
endif()
if(NOT cuda_13)
  message(STATUS "No CUDA 13 toolkit (looked in CUDA_PATH, CUDA_HOME and /usr/local/cuda): the CUDA runtime libraries, "
    "the software CUDA driver and their tests are left out")
  set(FAIRGV_CUDA_INCLUDE FAIRGV_CUDA_INCLUDE-NOTFOUND CACHE PATH "" FORCE)
  set(FAIRGV_NVCC "")
  set(FAIRGV_PTXAS "")
  return()
endif()
find_program(FAIRGV_NVCC nvcc HINTS "${FAIRGV_CUDA_INCLUDE}/../bin" "${FAIRGV_CUDA_INCLUDE}/../../../bin")
find_program(FAIRGV_PTXAS ptxas HINTS "${FAIRGV_CUDA_INCLUDE}/../bin" "${FAIRGV_CUDA_INCLUDE}/../../../bin")
if(NOT FAIRGV_NVCC OR NOT FAIRGV_PTXAS)
  message(STATUS "No nvcc or ptxas beside ${FAIRGV_CUDA_INCLUDE}: tests that compile CUDA programs are left out")
  set(FAIRGV_NVCC "")
endif()
