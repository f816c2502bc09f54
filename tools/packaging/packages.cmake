# The Debian packages libmuster0, libmuster-dev, muster and muster-lab: `cmake --preset package`,
# `cmake --build --preset package`, `cpack --preset package` leave them in build/package. They are for the release that
# they are built on.

find_program(DPKG_GENSYMBOLS dpkg-gensymbols)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(NOT DPKG_GENSYMBOLS OR NOT DPKG_SHLIBDEPS OR NOT MUSTER_SERVICE)
  message(FATAL_ERROR "packages are made with the service and by dpkg-dev: install dpkg-dev, leave MUSTER_SERVICE on")
endif()

set(debian ${PROJECT_SOURCE_DIR}/tools/packaging/debian)
set(control ${PROJECT_BINARY_DIR}/control) # what is made for the packages themselves
set(examples_folder ${CMAKE_INSTALL_DATADIR}/doc/libmuster-dev/examples)
set(packages shared libmuster0 dev libmuster-dev programs muster lab muster-lab) # components and their packages

# Which version of the library each function needs: what is linked with it depends on that, and before 1.0 on the minor
# version, as a program of another one is refused at its start.
math(EXPR next_minor "${PROJECT_VERSION_MINOR} + 1")
set(series "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(fence "libmuster0 (<< ${PROJECT_VERSION_MAJOR}.${next_minor}~)")
file(WRITE ${control}/shlibs "libmuster 0 libmuster0 (>= ${series}), ${fence}\n")
file(WRITE ${control}/debian/libmuster0.symbols
  "libmuster.so.0 libmuster0 #MINVER#, ${fence}\n (symver)MUSTER_${series} ${series}.0\n")
configure_file(${debian}/source-control ${control}/debian/control COPYONLY)
add_custom_command(OUTPUT ${control}/symbols
  COMMAND ${CMAKE_COMMAND} -E chdir ${control} ${DPKG_GENSYMBOLS} -q -plibmuster0 -v${PROJECT_VERSION}
          -Idebian/libmuster0.symbols -e$<TARGET_FILE:muster_shared> -O${control}/symbols
  DEPENDS muster_shared ${debian}/source-control VERBATIM)

# Policy asks for both change logs, compressed.
add_custom_command(OUTPUT ${control}/changelog.gz ${control}/changelog.Debian.gz
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${debian}/changelog
          --changes ${PROJECT_SOURCE_DIR}/tools/docs/CHANGELOG.md --version ${PROJECT_VERSION} ${control}
  DEPENDS ${debian}/changelog ${PROJECT_SOURCE_DIR}/tools/docs/CHANGELOG.md VERBATIM)
add_custom_target(muster-control ALL DEPENDS ${control}/symbols ${control}/changelog.gz)

while(packages)
  list(POP_FRONT packages component package)
  string(TOUPPER ${component} upper)
  install(FILES ${debian}/copyright ${control}/changelog.gz ${control}/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
endwhile()

set(CPACK_PACKAGE_NAME muster)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_VENDOR "The Muster authors")
set(CPACK_PACKAGE_CONTACT "The Muster authors <maintainers@muster.example>" CACHE STRING "Who answers for the packages")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(about "Muster runs every NPC of a game server as often as it matters, on all
cores, inside a CPU budget per frame.")

set(CPACK_DEBIAN_SHARED_DESCRIPTION "elastic scheduler for NPCs of game servers (shared library)
${about}
This is the library that servers are linked with.")
set(CPACK_DEBIAN_SHARED_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_SHARED_PACKAGE_CONTROL_EXTRA ${control}/symbols ${control}/shlibs ${debian}/triggers)

set(CPACK_DEBIAN_DEV_DESCRIPTION "elastic scheduler for NPCs of game servers (development)
${about}
These are headers for C and C++, the static library, files for CMake and
pkg-config, the layout of the interface for bindings of other languages, and
examples.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libmuster0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libck-dev, libxxhash-dev, libc6-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "cmake, pkg-config")

set(CPACK_DEBIAN_PROGRAMS_DESCRIPTION "command line and service that run NPCs inside a CPU budget
${about}
The command muster runs populations, explains them and puts them under load.
The service musterd hosts worlds of behaviour modules and of scripts in Lua
under systemd, with a live page, metrics, a dashboard for Grafana and alert
rules for Prometheus.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "muster-lab, gnuplot-nox, prometheus, nats-server, etcd-server")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_CONTROL_EXTRA
  ${debian}/conffiles ${debian}/postinst ${debian}/prerm ${debian}/postrm)

set(CPACK_DEBIAN_LAB_DESCRIPTION "benches of Muster, and its reproductions of papers
${about}
The commands muster bench and muster repro measure the scheduler beside other
ones, and reproduce the papers that it is made from.")
set(CPACK_DEBIAN_LAB_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_LAB_PACKAGE_DEPENDS "muster (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_LAB_PACKAGE_SUGGESTS "gnuplot-nox")

include(CPack)
