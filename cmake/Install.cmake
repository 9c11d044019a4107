# find_package(regroup) gives the targets without torch (regroup::rml and what it needs, noise, data);
# find_package(regroup COMPONENTS torch) gives all.
include(CMakePackageConfigHelpers)
set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/regroup)
install(EXPORT regroup-targets NAMESPACE regroup:: DESTINATION ${destination})
if(NOT REGROUP_TORCH STREQUAL "none")
  install(EXPORT regroup-torch-targets NAMESPACE regroup:: DESTINATION ${destination})
  install(FILES cmake/Torch.cmake DESTINATION ${destination})
endif()
configure_package_config_file(cmake/regroup-config.cmake.in regroup-config.cmake INSTALL_DESTINATION ${destination})
write_basic_package_version_file(regroup-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/regroup-config.cmake ${PROJECT_BINARY_DIR}/regroup-config-version.cmake cmake/FindHttplib.cmake
  cmake/FindWebP.cmake
  DESTINATION ${destination})
