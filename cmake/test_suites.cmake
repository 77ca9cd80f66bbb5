# depthcost_add_suites(program [PREFIX text] PROPERTIES name value...): runs each suite of a
# GoogleTest program as one test of ctest. If the program is not built, a test fails that says so.
function(depthcost_add_suites program)
  cmake_parse_arguments(PARSE_ARGV 1 suites "" PREFIX PROPERTIES)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${program}_suites.cmake)
  list(JOIN suites_PROPERTIES " " properties)
  add_custom_command(
    TARGET ${program} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -D program=$<TARGET_FILE:${program}> -D file=${file}
            -D prefix=${suites_PREFIX} -D properties=${properties}
            -P ${PROJECT_SOURCE_DIR}/cmake/list_suites.cmake
    BYPRODUCTS ${file}
    VERBATIM)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${program}_include.cmake)
  file(WRITE ${include}
    "if(EXISTS \"${file}\")\n  include(\"${file}\")\n"
    "else()\n  add_test(${program}_not_built ${program}_not_built)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
