include(CMakePackageConfigHelpers)

# `cmake --install build/release --component client` installs the library alone.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME programs)

install(TARGETS spindled RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(TARGETS spuser spmonitor RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# It names the daemon by its full path, which is known only here: `cmake --install --prefix` may say another one.
install(CODE "
  set(spindled \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_SBINDIR}/spindled\")
  configure_file(${PROJECT_SOURCE_DIR}/daemon/spindled.service.in ${CMAKE_BINARY_DIR}/spindled.service @ONLY)")
install(FILES ${CMAKE_BINARY_DIR}/spindled.service DESTINATION lib/systemd/system)
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(spuser PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
endif()

# The client library: headers, the library, the CMake package that `find_package(spindle)` finds, and the file that
# pkg-config reads. The installed tree may be moved.
install(DIRECTORY libclient/include/spindle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT client)
set_target_properties(spindle_client PROPERTIES EXPORT_NAME client)
install(TARGETS spindle_client EXPORT spindle
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client NAMELINK_COMPONENT client)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spindle)
install(EXPORT spindle NAMESPACE spindle:: FILE spindle-targets.cmake DESTINATION ${package_dir} COMPONENT client)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/spindle-config-version.cmake COMPATIBILITY SameMinorVersion)
file(WRITE ${CMAKE_BINARY_DIR}/spindle-config.cmake [[
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(OpenSSL)
include(${CMAKE_CURRENT_LIST_DIR}/spindle-targets.cmake)
]])
install(FILES ${CMAKE_BINARY_DIR}/spindle-config.cmake ${CMAKE_BINARY_DIR}/spindle-config-version.cmake
  DESTINATION ${package_dir} COMPONENT client)
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
# Whoever links the static library links what it stands on, too.
set(SPINDLE_PC_REQUIRES Requires)
if(BUILD_SHARED_LIBS)
  set(SPINDLE_PC_REQUIRES Requires.private)
endif()
configure_file(cmake/spindle.pc.in ${CMAKE_BINARY_DIR}/spindle.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/spindle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT client)

# The C library, likewise, as a component of its own.
if(SPINDLE_BINDINGS)
  install(DIRECTORY bindings/c/include/spindle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT client_c)
  install(TARGETS spindle_c EXPORT spindle_c
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client_c NAMELINK_COMPONENT client_c)
  set(c_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spindle_c)
  install(EXPORT spindle_c NAMESPACE spindle:: FILE spindle_c-config.cmake DESTINATION ${c_package_dir}
    COMPONENT client_c)
  # Functions are added and never changed: a later version serves, of whatever number.
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/spindle_c-config-version.cmake COMPATIBILITY AnyNewerVersion)
  configure_file(cmake/spindle_c.pc.in ${CMAKE_BINARY_DIR}/spindle_c.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/spindle_c-config-version.cmake DESTINATION ${c_package_dir} COMPONENT client_c)
  install(FILES ${CMAKE_BINARY_DIR}/spindle_c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT client_c)
  install(DIRECTORY bindings/c/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/bindings/c COMPONENT client_c)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT client_c)
endif()

# The licence, and the pages, whose links stay as they are.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT client)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT client)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT client)
install(DIRECTORY libclient/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/libclient COMPONENT client)
install(DIRECTORY bindings/python/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/bindings/python COMPONENT client
  PATTERN __pycache__ EXCLUDE)
install(DIRECTORY bindings/java/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/bindings/java COMPONENT client)
