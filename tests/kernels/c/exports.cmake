# cmake -DLIBRARY=file.so -DNM=nm -DHEADERS=a.h,b.h -P exports.cmake: the library exports what the
# headers declare and nothing else.
set(declared "")
string(REPLACE "," ";" headers "${HEADERS}")
foreach(header IN LISTS headers)
  file(READ "${header}" text)
  string(REGEX MATCHALL "DEPTHCOST_API [^(]*[ *]depthcost_[a-z0-9_]+\\(" functions "${text}")
  foreach(function IN LISTS functions)
    string(REGEX MATCH "depthcost_[a-z0-9_]+\\($" name "${function}")
    string(REPLACE "(" "" name "${name}")
    list(APPEND declared ${name})
  endforeach()
endforeach()

execute_process(COMMAND ${NM} -D --defined-only "${LIBRARY}" OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" exported "${symbols}")
string(REPLACE "\n" "" exported "${exported}")

list(SORT declared)
list(SORT exported)
list(LENGTH declared num_declared)
if(num_declared LESS 20 OR NOT declared STREQUAL exported)
  message(FATAL_ERROR "declared: ${declared}\nexported: ${exported}")
endif()
message("${num_declared} functions")
