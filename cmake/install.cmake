include(CMakePackageConfigHelpers)

install(TARGETS spindled RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(TARGETS spuser spmonitor RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The client library: headers, the library and the CMake package that `find_package(spindle)` finds.
install(DIRECTORY libclient/include/spindle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set_target_properties(spindle_client PROPERTIES EXPORT_NAME client)
install(TARGETS spindle_client EXPORT spindle
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spindle)
install(EXPORT spindle NAMESPACE spindle:: FILE spindle-targets.cmake DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/spindle-config-version.cmake COMPATIBILITY SameMinorVersion)
file(WRITE ${CMAKE_BINARY_DIR}/spindle-config.cmake [[
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/spindle-targets.cmake)
]])
install(FILES ${CMAKE_BINARY_DIR}/spindle-config.cmake ${CMAKE_BINARY_DIR}/spindle-config-version.cmake
  DESTINATION ${package_dir})
