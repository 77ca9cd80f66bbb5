# Writes a file of tests for ctest: one for each suite of a GoogleTest program. A process for each of
# thousands of short tests would take longer than the tests. Run after `program` is linked, with:
# program, file, prefix (of the names of the tests), properties (of all of them).
execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[^ \n]+\\.(\n|  #)" suites "${list}")
# A suite is skipped if all that it did was to skip.
set(skipped [==[\[  PASSED  \] 0 tests\.
\[  SKIPPED \] [^
]*
(\[  SKIPPED \] [^
]*
)+$]==])
set(tests "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n?([^ \n]+)\\..*" "\\1" suite "${suite}")
  string(APPEND tests
    "add_test([==[${prefix}${suite}]==] [==[${program}]==] [==[--gtest_filter=${suite}.*]==])\n"
    "set_tests_properties([==[${prefix}${suite}]==] PROPERTIES ${properties}\n"
    "  SKIP_REGULAR_EXPRESSION [===[${skipped}]===])\n")
endforeach()
file(WRITE ${file} "${tests}")
