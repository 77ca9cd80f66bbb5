# Tests cmake/sources_hash.cmake. Run with cmake -P.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/sources_hash.cmake)

execute_process(COMMAND mktemp -d OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)

# hash_of(VARIABLE NAME TEXT [NAME TEXT]...) sets VARIABLE to the hash of files with these names and
# texts.
function(hash_of variable)
  set(files "")
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest name text)
    file(WRITE ${folder}/${name} "${text}")
    list(APPEND files ${folder}/${name})
  endwhile()
  depthcost_sources_hash(hash ${files})
  set(${variable} ${hash} PARENT_SCOPE)
endfunction()

function(expect_same a b why)
  if(NOT a STREQUAL b)
    message(SEND_ERROR "${a} is not ${b}: ${why}")
  endif()
endfunction()

function(expect_different a b why)
  if(a STREQUAL b)
    message(SEND_ERROR "both are ${a}: ${why}")
  endif()
endfunction()

set(text "#include \"kernels/a.hpp\"\nint f[2]{1, 2}\n")
hash_of(here here.cpp "${text}" second.cpp "int g\n")
string(LENGTH "${here}" length)
expect_same(${length} 16 "a hash has 16 digits")
hash_of(moved a/second.cpp "int g\n" z/there.cpp "${text}")
expect_same(${here} ${moved} "a file that moves stays the same")
hash_of(moved here.cpp "#include \"kernels/x/a.hpp\"\nint f[2]{1, 2}\n" second.cpp "int g\n")
expect_same(${here} ${moved} "an include follows what it includes")
hash_of(changed here.cpp "#include \"kernels/a.hpp\"\nint f[2]{1, 3}\n" second.cpp "int g\n")
expect_different(${here} ${changed} "a kernel changes")
hash_of(changed here.cpp "#include <vector>\n${text}" second.cpp "int g\n")
expect_different(${here} ${changed} "another library may make another kernel")
hash_of(changed here.cpp "${text}")
expect_different(${here} ${changed} "a file is gone")
file(REMOVE_RECURSE ${folder})
