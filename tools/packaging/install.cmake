# What `cmake --install` installs, in four components, which are also the Debian packages (packages.cmake):
# shared = the shared library; dev = what a host is built with; programs = the command line and the service; lab = what
# measures them and reproduces the papers.

include(CMakePackageConfigHelpers)

set(examples_folder ${CMAKE_INSTALL_DOCDIR}/examples)
option(MUSTER_DEBIAN "Make Debian packages by cpack: see the preset package" OFF)
if(MUSTER_DEBIAN)
  include(tools/packaging/packages.cmake)
endif()

install(TARGETS muster_shared EXPORT muster-targets
  LIBRARY COMPONENT shared NAMELINK_COMPONENT dev)
install(TARGETS muster EXPORT muster-static-targets ARCHIVE COMPONENT dev)
install(DIRECTORY include/muster TYPE INCLUDE COMPONENT dev)
if(TARGET muster-layout)
  install(FILES ${layout} DESTINATION ${CMAKE_INSTALL_DATADIR}/muster COMPONENT dev)
endif()
# The examples that the book names; of the tests, those that need nothing but the library.
install(DIRECTORY tests/examples/ DESTINATION ${examples_folder} COMPONENT dev
  FILES_MATCHING REGEX "\\.(c|h|cpp|hpp)$|/worlds/CMakeLists" REGEX "/(ranch|bot_server|physics_host|journal_host)_test\\." EXCLUDE)
file(GLOB shared_by_worlds CONFIGURE_DEPENDS src/scenarios/scaffold.[ch] src/scenarios/busy_work.[ch]
     src/scenarios/kit_reduction.[ch] src/scenarios/grid.h)
install(FILES ${shared_by_worlds} DESTINATION ${examples_folder}/worlds/scenarios COMPONENT dev)

# The book, whose links lead to what is installed. It is made where Python and the whole tree are.
find_program(PYTHON python3)
if(PYTHON AND PROJECT_IS_TOP_LEVEL AND EXISTS ${PROJECT_SOURCE_DIR}/tools/docs/README.md)
  cmake_path(GET examples_folder PARENT_PATH book_folder)
  string(APPEND book_folder /book)
  file(RELATIVE_PATH to_headers /prefix/${book_folder} /prefix/${CMAKE_INSTALL_INCLUDEDIR}/muster)
  file(GLOB_RECURSE book_texts CONFIGURE_DEPENDS tools/docs/*.md tools/docs/openapi.yaml)
  set(book ${PROJECT_SOURCE_DIR}/tools/packaging/book)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/book/README.md
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${book} --examples ../examples
            --include ${to_headers} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/book
    DEPENDS ${book} ${book_texts} ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/tools/packaging/README.md VERBATIM)
  add_custom_target(muster-book ALL DEPENDS ${PROJECT_BINARY_DIR}/book/README.md)
  if(TARGET muster_programs)
    add_dependencies(muster_programs muster-book)
  endif()
  install(DIRECTORY ${PROJECT_BINARY_DIR}/book/ DESTINATION ${book_folder} COMPONENT dev)
elseif(MUSTER_DEBIAN)
  message(FATAL_ERROR "the packages have the book, which python3 makes: install python3")
endif()

# ------------------------------------------------------------------------------------------- how hosts find the library

set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
configure_package_config_file(tools/packaging/cmake/muster-config.cmake.in ${PROJECT_BINARY_DIR}/muster-config.cmake
  INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/muster-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT muster-targets NAMESPACE muster:: DESTINATION ${cmake_folder} COMPONENT dev)
install(EXPORT muster-static-targets NAMESPACE muster:: DESTINATION ${cmake_folder} COMPONENT dev)
install(FILES ${PROJECT_BINARY_DIR}/muster-config.cmake ${PROJECT_BINARY_DIR}/muster-config-version.cmake
  DESTINATION ${cmake_folder} COMPONENT dev)

file(RELATIVE_PATH up_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
file(CONFIGURE OUTPUT muster.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@up_to_prefix@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
modulesdir=${libdir}/muster/modules
Name: muster
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Cflags: -I"${includedir}"
Libs: -L"${libdir}" -lmuster
Libs.private: -pthread -lm
Requires.private: ck libxxhash
]])
install(FILES ${PROJECT_BINARY_DIR}/muster.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# --------------------------------------------------------------------------------------------------------- the programs

if(TARGET muster_cli)
  install(TARGETS muster_cli RUNTIME COMPONENT programs)
  install(TARGETS muster_lab RUNTIME COMPONENT lab)
  install(DIRECTORY tools/lua/worlds/ DESTINATION ${CMAKE_INSTALL_DATADIR}/muster/scripts COMPONENT programs
    FILES_MATCHING PATTERN *.lua)
  install(FILES tools/lua/muster.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/muster/lua-language-server COMPONENT programs)
  install(TARGETS ${module_targets} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/muster/modules COMPONENT programs)
endif()
if(MUSTER_SERVICE)
  install(TARGETS musterd RUNTIME COMPONENT programs)
  install(FILES src/service/dashboard/grafana.json src/service/dashboard/alerts.yml DESTINATION ${CMAKE_INSTALL_DATADIR}/muster COMPONENT programs)
  # For zones: NATS and etcd, on machines of their own or on these.
  install(FILES src/service/etc/nats-server.conf src/service/etc/etcd.default
    DESTINATION ${CMAKE_INSTALL_DATADIR}/muster/brokers COMPONENT programs)
  install(FILES src/service/etc/cluster.conf src/service/etc/musterd-cluster.conf
    DESTINATION ${CMAKE_INSTALL_DATADIR}/muster COMPONENT programs)
  install(PROGRAMS src/service/etc/make-certificates
    DESTINATION ${CMAKE_INSTALL_DATADIR}/muster/brokers COMPONENT programs)
  # The configuration of /usr is in /etc, where the unit asks for it; that of another prefix is below the prefix.
  set(etc ${CMAKE_INSTALL_FULL_SYSCONFDIR})
  cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${etc}" NORMALIZE below_prefix)
  if(below_prefix)
    set(etc ${CMAKE_INSTALL_SYSCONFDIR})
  endif()
  install(FILES src/service/etc/musterd.conf DESTINATION ${etc}/muster COMPONENT programs)
  configure_file(src/service/etc/musterd.service.in musterd.service @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/musterd.service DESTINATION lib/systemd/system COMPONENT programs)
endif()

# Manuals and completions say what the programs say of themselves. They are made where these run and Python is there.
if(TARGET muster_cli AND PYTHON AND NOT MUSTER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(manuals ${PROJECT_BINARY_DIR}/manuals)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  set(daemon_of_manuals "")
  if(MUSTER_SERVICE)
    set(daemon_of_manuals --musterd $<TARGET_FILE:musterd>)
  endif()
  file(GLOB manual_texts CONFIGURE_DEPENDS tools/packaging/man/*.in)
  set(packaging ${PROJECT_SOURCE_DIR}/tools/packaging)
  add_custom_command(OUTPUT ${manuals}/muster.1.gz ${completions}/bash/muster
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${packaging}/manuals --muster $<TARGET_FILE:muster_cli>
            ${daemon_of_manuals} --changes ${PROJECT_SOURCE_DIR}/tools/docs/CHANGELOG.md ${manuals}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${packaging}/completions --muster $<TARGET_FILE:muster_cli>
            ${daemon_of_manuals} ${completions}
    DEPENDS muster_cli muster_lab $<TARGET_NAME_IF_EXISTS:musterd> ${packaging}/manuals ${packaging}/completions ${packaging}/helps.py
            ${manual_texts} ${PROJECT_SOURCE_DIR}/tools/docs/CHANGELOG.md VERBATIM)
  add_custom_target(muster-manuals ALL DEPENDS ${manuals}/muster.1.gz ${completions}/bash/muster)
  add_dependencies(muster_programs muster-manuals)
  file(CREATE_LINK muster.1.gz ${PROJECT_BINARY_DIR}/muster-lab.1.gz SYMBOLIC) # its commands stand there
  install(FILES ${PROJECT_BINARY_DIR}/muster-lab.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT lab)
  foreach(section 1 5 8)
    install(DIRECTORY ${manuals}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT programs
      FILES_MATCHING PATTERN *.${section}.gz)
  endforeach()
  install(DIRECTORY ${completions}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
  install(DIRECTORY ${completions}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT programs)
  install(DIRECTORY ${completions}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT programs)
elseif(MUSTER_DEBIAN)
  message(FATAL_ERROR "the packages have manual pages, which python3 makes of what the programs say: install python3")
endif()

# Where the loader looks by itself, it knows a new library only by its cache.
find_program(LDCONFIG ldconfig PATHS /sbin /usr/sbin)
install(CODE "set(ldconfig \"${LDCONFIG}\")" COMPONENT shared)
install(CODE [[
  if(ldconfig AND "$ENV{DESTDIR}" STREQUAL "" AND CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?/?$")
    execute_process(COMMAND ${ldconfig} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      message(WARNING "the loader does not know the new library yet: run ldconfig as root")
    endif()
  endif()
]] COMPONENT shared)
