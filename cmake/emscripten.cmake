# For a browser there are no libraries: headers of Debian, and the sources of libyaml, which
# scripts/web unpacks into LIBYAML_SOURCE. Only what the page runs is built.
add_library(depthcost_warnings INTERFACE)
add_compile_options(-fwasm-exceptions)
add_link_options(-fwasm-exceptions)

# The headers by name, without the C library's beside them: em++ has its own.
set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(path fast_float fmt nlohmann eigen3/Eigen)
  get_filename_component(name ${path} NAME)
  file(CREATE_LINK /usr/include/${path} ${headers}/${name} SYMBOLIC)
endforeach()
foreach(target fmt::fmt nlohmann_json::nlohmann_json Eigen3::Eigen FastFloat::fast_float)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${headers})
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)

enable_language(C)
set(LIBYAML_SOURCE "" CACHE PATH "Debian's source of libyaml")
file(GLOB sources ${LIBYAML_SOURCE}/src/*.c)
add_library(libyaml STATIC ${sources})
set_target_properties(libyaml PROPERTIES UNITY_BUILD OFF)
target_include_directories(libyaml SYSTEM PUBLIC ${LIBYAML_SOURCE}/include)
target_compile_definitions(
  libyaml PRIVATE YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2 YAML_VERSION_PATCH=5
                  YAML_VERSION_STRING="0.2.5")

# reports/profile includes the header of a profile; nothing of the page calls it.
add_library(depthcost_profile INTERFACE)
