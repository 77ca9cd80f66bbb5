# Sets `variable` to a hash of the contents of the files. Measurements record it, to say which
# kernels they ran. The name and place of a file and its #include "..." lines do not count: a kernel
# that is moved is the same kernel.
function(depthcost_sources_hash variable)
  set(hashes "")
  foreach(file ${ARGN})
    file(READ "${file}" text)
    string(REGEX REPLACE "(^|\n)#include \"[^\n]*" "" text "${text}")
    string(SHA256 hash "${text}")
    list(APPEND hashes ${hash})
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  list(SORT hashes)
  string(SHA256 hash "${hashes}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${variable} ${hash} PARENT_SCOPE)
endfunction()
