# All our targets link this target privately. Warnings are errors.
add_library(depthcost_warnings INTERFACE)
target_compile_options(
  depthcost_warnings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
            # Fields with default member initializers may be left out.
            -Wno-missing-field-initializers
            # GCC 12 sees an overlap in every "text" + std::string (GCC bug 105651).
            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
            # Clang asks for two pairs of braces around what one pair says: GCC does not.
            $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-braces>)
