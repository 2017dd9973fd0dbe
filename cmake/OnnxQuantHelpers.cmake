# How this project declares libraries, tools and generated code.

# The MLIR and LLVM shared libraries: a tool links in seconds.
add_library(onnxquant_mlir INTERFACE)
target_link_libraries(onnxquant_mlir INTERFACE MLIR LLVM)
set_property(GLOBAL PROPERTY ONNXQUANT_TARGETS onnxquant_mlir)

# One precompiled header, compiled once and reused by every library; it holds the
# dialect's ops, so it is declared when the targets that generate them are. It
# must not know when its parts were written: a compiler cache hands it to other
# checkouts.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
function(onnxquant_precompile_headers)
  add_library(onnxquant_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
  add_dependencies(onnxquant_pch OnnxQuantONNXIncGen)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # What its templates become is compiled once as well.
    target_compile_options(onnxquant_pch PRIVATE -fpch-instantiate-templates)
  endif()
  if(ONNXQUANT_SANITIZE)
    set(asserts ${PROJECT_SOURCE_DIR}/cmake/asserts.h)
  endif()
  target_precompile_headers(onnxquant_pch PRIVATE ${asserts}
                            ${PROJECT_SOURCE_DIR}/cmake/pch.h)
endfunction()

# onnxquant_add_library(OnnxQuantFoo SRCS... [LINK LIBS...] [DEPENDS TARGETS...])
function(onnxquant_add_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM onnxquant_pch)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} onnxquant_mlir)
  target_include_directories(${name} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY ONNXQUANT_TARGETS ${name})
endfunction()

# onnxquant_generate_options(PASSES...): Options.h.inc with tables of the options
# of passes in Passes.td, beside what mlir_tablegen writes.
find_program(ONNXQUANT_LLVM_TABLEGEN llvm-tblgen
             HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
function(onnxquant_generate_options)
  set(definitions ${CMAKE_CURRENT_SOURCE_DIR}/Passes.td)
  set(records ${CMAKE_CURRENT_BINARY_DIR}/Passes.json)
  set(tables ${CMAKE_CURRENT_BINARY_DIR}/Options.h.inc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/gen_options.py)
  list(TRANSFORM MLIR_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
  add_custom_command(OUTPUT ${tables}
    COMMAND ${ONNXQUANT_LLVM_TABLEGEN} --dump-json ${definitions} -o ${records}
            -I${PROJECT_SOURCE_DIR}/include ${includes}
    COMMAND ${Python3_EXECUTABLE} ${script} ${records} ${tables} ${ARGN}
    DEPENDS ${definitions} ${script}
            ${PROJECT_SOURCE_DIR}/include/OnnxQuant/Support/Options.td
    VERBATIM)
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} ${tables} PARENT_SCOPE)
endfunction()

# onnxquant_add_tool(onnxq SRCS... LINK LIBS...)
function(onnxquant_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  # The precompiled header's code model must be the libraries'.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM onnxquant_pch)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  # Installed, it finds MLIR's and LLVM's shared libraries where they are.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} EXPORT OnnxQuantTargets
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# Installs the headers, the generated headers, the libraries and a CMake
# package that find_package(OnnxQuant CONFIG) finds.
function(onnxquant_install_package)
  include(CMakePackageConfigHelpers)
  get_property(targets GLOBAL PROPERTY ONNXQUANT_TARGETS)
  install(TARGETS ${targets} EXPORT OnnxQuantTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/OnnxQuant
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/OnnxQuant
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h.inc" PATTERN "*.h"
          PATTERN "CMakeFiles" EXCLUDE)
  if(EXISTS ${PROJECT_SOURCE_DIR}/include/onnxquant-c)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/onnxquant-c
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/OnnxQuant)
  install(EXPORT OnnxQuantTargets NAMESPACE OnnxQuant:: DESTINATION ${destination})
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/OnnxQuantConfig.cmake.in
    ${PROJECT_BINARY_DIR}/OnnxQuantConfig.cmake
    INSTALL_DESTINATION ${destination})
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/OnnxQuantConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/OnnxQuantConfig.cmake
                ${PROJECT_BINARY_DIR}/OnnxQuantConfigVersion.cmake
          DESTINATION ${destination})
endfunction()
