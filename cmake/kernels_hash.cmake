# Sets cpu_kernels_hash and cuda_kernels_hash. By them measurements know the kernels that they ran, and
# the program knows which measurements are of older ones.
include(${CMAKE_CURRENT_LIST_DIR}/sources_hash.cmake)
file(GLOB_RECURSE operations_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/operations/*.?pp)
file(GLOB_RECURSE cpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cpu/*.?pp)
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*.?pp
     ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cu*)
depthcost_sources_hash(cpu_kernels_hash ${operations_sources} ${cpu_sources})
depthcost_sources_hash(cuda_kernels_hash ${operations_sources} ${cuda_sources})
file(WRITE ${PROJECT_BINARY_DIR}/cuda_kernels_hash ${cuda_kernels_hash})  # for scripts/sass_table
