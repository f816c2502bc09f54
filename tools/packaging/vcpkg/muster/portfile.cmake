# An overlay port of the tree that it stands in: vcpkg install muster --overlay-ports=tools/packaging/vcpkg
# Concurrency Kit has no port: the system's is used (Debian: libck-dev).
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DMUSTER_TESTS=OFF -DMUSTER_SERVICE=OFF -DMUSTER_PROGRAMS=OFF -DMUSTER_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/muster)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
