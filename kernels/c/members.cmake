# Sets `variable` to X(member) for every member of the structs in the C headers `ARGN`, each once. A
# struct of the C interface and the operation that it describes have members of the same names.
function(depthcost_members variable)
  set(members "")
  foreach(header ${ARGN})
    file(READ ${header} text)
    if(text MATCHES "//|\\*\\*/")  # what is read below would be other than what a compiler reads
      message(FATAL_ERROR "${header}: comments are /* like this */")
    endif()
    string(REGEX REPLACE "/\\*([^*]|\\*[^/])*\\*/" "" text "${text}")
    string(REGEX REPLACE "\\[[0-9]+\\]" "" text "${text}")
    string(REPLACE ";" "!" text "${text}")  # a list of CMake would end there
    string(REGEX MATCHALL "typedef struct {[^}]*}" structs "${text}")
    if(structs MATCHES "," OR structs MATCHES "[^a-z0-9_]!" OR structs MATCHES "[^ *a-z0-9_][a-z0-9_]+!")
      message(FATAL_ERROR "${header}: a member is 'type name;' or 'type name[2];'")
    endif()
    string(REGEX MATCHALL "[ *][a-z0-9_]+!" declared "${text}")
    list(APPEND members ${declared})
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  list(FILTER members EXCLUDE REGEX "[ *]depthcost_")  # types
  list(TRANSFORM members REPLACE "[ *]([a-z0-9_]+)!" "X(\\1)")
  list(REMOVE_DUPLICATES members)
  list(JOIN members " " members)
  set(${variable} "${members}" PARENT_SCOPE)
endfunction()
