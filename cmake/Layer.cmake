# What every target of ours is compiled with.
add_library(regroup_flags INTERFACE)
target_compile_options(regroup_flags INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${REGROUP_WERROR}>:-Werror>
  # The same bits with and without fused multiply-add, so that machines agree.
  -ffp-contract=off)
if(REGROUP_SANITIZE)
  target_compile_options(regroup_flags INTERFACE -fsanitize=${REGROUP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(regroup_flags INTERFACE -fsanitize=${REGROUP_SANITIZE})
endif()

# For code that only calls and checks: nobody waits for it, but for its compilation.
add_library(regroup_light INTERFACE)
# -fPIC as the layers have it, so that programs share their precompiled headers.
target_compile_options(regroup_light INTERFACE -fPIC $<$<CONFIG:Release>:-O1>)
target_link_libraries(regroup_light INTERFACE regroup_flags)

# regroup_layer(NAME [LIGHT] SOURCES a.cpp ... HEADERS a.h ... [PRIVATE_HEADERS not installed] [USES lower layers]
#   [LINKS libraries])
#
# One folder of regroup/ as the library target regroup::NAME. Its headers are seen as "regroup/NAME/x.h" by the layers
# above it that use it, and by those that use these: each layer has an include folder of its own that holds nothing but a
# link to its source.
function(regroup_layer NAME)
  cmake_parse_arguments(LAYER "LIGHT" "" "SOURCES;HEADERS;PRIVATE_HEADERS;USES;LINKS" ${ARGN})
  set(view ${PROJECT_BINARY_DIR}/include/${NAME})
  file(MAKE_DIRECTORY ${view}/regroup)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/regroup/${NAME} SYMBOLIC)

  add_library(regroup_${NAME} STATIC ${LAYER_SOURCES} ${LAYER_HEADERS} ${LAYER_PRIVATE_HEADERS})
  add_library(regroup::${NAME} ALIAS regroup_${NAME})
  set_target_properties(regroup_${NAME} PROPERTIES EXPORT_NAME ${NAME} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(regroup_${NAME} PUBLIC cxx_std_20)
  target_include_directories(regroup_${NAME} PUBLIC
    $<BUILD_INTERFACE:${view}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM LAYER_USES PREPEND regroup_)
  target_link_libraries(regroup_${NAME} PUBLIC ${LAYER_USES} PRIVATE
    $<BUILD_INTERFACE:$<IF:$<BOOL:${LAYER_LIGHT}>,regroup_light,regroup_flags>> ${LAYER_LINKS})

  install(TARGETS regroup_${NAME} EXPORT ${LAYER_EXPORT_SET} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${LAYER_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/regroup/${NAME})
endfunction()

# regroup_kernels(NAME SOURCE... [AVX512] [FUSED]): compiles the sources into a layer for any processor (namespace baseline) and, on
# x86-64, for AVX2 (namespace avx2) as well, and with AVX512 for processors with its bf16 instructions (namespace avx512);
# regroup/core/simd.h chooses at run time. With FUSED products and sums are fused, which has other bits, and there is no baseline.
function(regroup_kernels NAME)
  cmake_parse_arguments(KERNELS "AVX512;FUSED" "" "" ${ARGN})
  set(variants baseline)
  set(prefix regroup_${NAME})
  set(fused "")
  if(KERNELS_FUSED)
    set(variants "")
    set(prefix regroup_${NAME}_fused)
    set(fused -mfma -ffp-contract=fast)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND variants avx2)
    if(KERNELS_AVX512)
      list(APPEND variants avx512)
    endif()
  endif()
  set(flags_avx2 -mavx2)
  set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512bf16)
  foreach(variant ${variants})
    set(object ${prefix}_${variant})
    add_library(${object} OBJECT ${KERNELS_UNPARSED_ARGUMENTS})
    set_target_properties(${object} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${object} PRIVATE REGROUP_KERNELS=${variant})
    # -Wno-psabi: vectors are passed between functions of this one file only, so their calling convention is nobody's affair.
    target_compile_options(${object} PRIVATE -O3 -Wno-psabi ${flags_${variant}} ${fused})
    target_include_directories(${object} PRIVATE $<TARGET_PROPERTY:regroup_${NAME},INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${object} PRIVATE regroup_flags)
    target_sources(regroup_${NAME} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
endfunction()
