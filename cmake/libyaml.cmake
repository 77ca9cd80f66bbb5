# libyaml has no file for find_package, and Debian's pkg-config is a package more.
find_path(LIBYAML_INCLUDE_DIR yaml.h REQUIRED)
find_library(LIBYAML_LIBRARY yaml REQUIRED)
find_library(LIBYAML_ARCHIVE libyaml.a)
add_library(libyaml INTERFACE)
target_include_directories(libyaml SYSTEM INTERFACE ${LIBYAML_INCLUDE_DIR})
target_link_libraries(libyaml INTERFACE ${LIBYAML_LIBRARY})
