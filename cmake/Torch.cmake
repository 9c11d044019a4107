# The engine as one INTERFACE target, regroup_torch. Neither engine's own CMake package is used: pointed at a Python wheel on a
# machine that has Debian's libtorch too, it takes the headers of the one and the libraries of the other, and where the wheel
# has CUDA it asks for the CUDA toolkit, which nothing here needs.
if(REGROUP_TORCH STREQUAL "none")
  return()
elseif(REGROUP_TORCH STREQUAL "debian")
  find_path(TORCH_INCLUDE torch/csrc/api/include/torch/torch.h PATHS /usr/include NO_DEFAULT_PATH)
  find_library(TORCH_LIBRARY torch PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib NO_DEFAULT_PATH)
  set(advice "install libtorch-dev (scripts/setup does)")
elseif(REGROUP_TORCH STREQUAL "python")
  set(PYTHON python3 CACHE STRING "The Python whose PyTorch is the engine")
  execute_process(COMMAND ${PYTHON} -c "import os, torch; print(os.path.dirname(torch.__file__))"
    OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  set(advice "install it for ${PYTHON}, for example by pip install torch==2.13.0")
  if(failed)
    message(FATAL_ERROR "${PYTHON} has no PyTorch; ${advice}")
  endif()
  find_path(TORCH_INCLUDE torch/csrc/api/include/torch/torch.h PATHS ${root}/include NO_DEFAULT_PATH)
  find_library(TORCH_LIBRARY torch PATHS ${root}/lib NO_DEFAULT_PATH)
else()
  message(FATAL_ERROR "unknown REGROUP_TORCH '${REGROUP_TORCH}'; known: debian, python, none")
endif()
if(NOT TORCH_INCLUDE OR NOT TORCH_LIBRARY)
  message(FATAL_ERROR "libtorch for C++ was not found; ${advice}")
endif()
get_filename_component(TORCH_LIBRARY_DIR ${TORCH_LIBRARY} DIRECTORY)
find_library(TORCH_CPU_LIBRARY torch_cpu PATHS ${TORCH_LIBRARY_DIR} NO_DEFAULT_PATH REQUIRED)
find_library(C10_LIBRARY c10 PATHS ${TORCH_LIBRARY_DIR} NO_DEFAULT_PATH REQUIRED)

add_library(regroup_torch INTERFACE)
if(TORCH_INCLUDE STREQUAL "/usr/include")
  set(includes ${TORCH_INCLUDE}/torch/csrc/api/include)
else()
  # A wheel brings headers of other libraries along (fmt, protobuf), which would hide the system's: only torch's own are seen.
  set(view ${CMAKE_CURRENT_BINARY_DIR}/include/torch)
  file(MAKE_DIRECTORY ${view})
  foreach(folder ATen c10 caffe2 torch)
    file(CREATE_LINK ${TORCH_INCLUDE}/${folder} ${view}/${folder} SYMBOLIC)
  endforeach()
  set(includes ${view} ${view}/torch/csrc/api/include)
endif()
target_include_directories(regroup_torch SYSTEM INTERFACE ${includes})
# libtorch registers its backends when it is loaded, so it is kept although no symbol of it may be used; its own libraries
# (CUDA's, in a wheel) are found when the program starts.
target_link_options(regroup_torch INTERFACE LINKER:--no-as-needed LINKER:--allow-shlib-undefined)
# at::parallel_for is a template: without OpenMP it is a plain loop in our files, whatever libtorch itself does.
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_link_libraries(regroup_torch INTERFACE OpenMP::OpenMP_CXX ${TORCH_LIBRARY} ${TORCH_CPU_LIBRARY} ${C10_LIBRARY} Threads::Threads)
