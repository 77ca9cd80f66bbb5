# Three components are installed: the program and, for find_package(depthcost), the targets
# depthcost::model (C++, a static library) and depthcost::kernels (C, a shared library).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/depthcost)

install(TARGETS depthcost COMPONENT program)

# depthcost_component(model depthcost_model) makes depthcost::model of depthcost_model.
function(depthcost_component name target)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(depthcost::${name} ALIAS ${target})
  install(TARGETS ${target} EXPORT depthcost-${name} COMPONENT ${name})
  install(EXPORT depthcost-${name} NAMESPACE depthcost:: DESTINATION ${package} COMPONENT ${name})
  install(FILES ${PROJECT_BINARY_DIR}/depthcost-config.cmake
                ${PROJECT_BINARY_DIR}/depthcost-config-version.cmake
          DESTINATION ${package} COMPONENT ${name})
endfunction()

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/depthcost-config.cmake.in ${PROJECT_BINARY_DIR}/depthcost-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/depthcost-config-version.cmake COMPATIBILITY SameMinorVersion)

depthcost_component(model depthcost_model)
install(DIRECTORY model DESTINATION include/depthcost COMPONENT model FILES_MATCHING PATTERN "*.hpp")
if(DEPTHCOST_KERNELS)
  depthcost_component(kernels depthcost_kernels)
  install(FILES kernels/c/depthcost.h kernels/c/depthcost_family.h
                kernels/c/depthcost_unfused.h
          DESTINATION include/depthcost COMPONENT kernels)
endif()
