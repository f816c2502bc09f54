# Bindings for other languages, each by its option. What follows from the layout of the library is generated, so it cannot
# drift; what is written by hand is the safe face on top of it.
if(NOT TARGET muster-layout)
  message(FATAL_ERROR "MUSTER_CSHARP and MUSTER_JAVA need python3 and clang, which make layout.json. On Debian: apt-get "
    "install python3 clang")
endif()

function(muster_generate kind output)
  set(generate ${PROJECT_SOURCE_DIR}/tools/bindings/generate)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${generate} ${kind} ${layout} ${output}
    DEPENDS ${generate} ${layout} ${public_headers} VERBATIM)
endfunction()

# C#: an assembly by mono. Hosts with another runtime compile the two sources themselves (netstandard2.0, unsafe).
if(MUSTER_CSHARP)
  find_program(MCS mcs)
  find_program(MONO mono)
  if(NOT MCS OR NOT MONO)
    message(FATAL_ERROR "MUSTER_CSHARP needs mcs and mono: run tools/setup --long, or install mono-mcs and mono-runtime")
  endif()
  set(csharp_sources ${PROJECT_BINARY_DIR}/bindings/Layout.cs ${PROJECT_SOURCE_DIR}/tools/bindings/csharp/Muster.cs)
  set(csharp_library ${PROJECT_BINARY_DIR}/bindings/Muster.dll)
  muster_generate(csharp ${PROJECT_BINARY_DIR}/bindings/Layout.cs)
  add_custom_command(OUTPUT ${csharp_library}
    COMMAND ${MCS} -unsafe -warnaserror -optimize -target:library -out:${csharp_library} ${csharp_sources}
    DEPENDS ${csharp_sources} VERBATIM)
  add_custom_target(muster-csharp ALL DEPENDS ${csharp_library})
  install(FILES ${csharp_library} ${csharp_sources} DESTINATION ${CMAKE_INSTALL_DATADIR}/muster/csharp)
endif()

# Java: a jar, and a library with the functions behind its natives.
if(MUSTER_JAVA)
  find_package(Java 17 COMPONENTS Development)
  if(Java_FOUND)
    file(REAL_PATH ${Java_JAVAC_EXECUTABLE} javac)
    find_path(JNI_HEADERS jni.h HINTS ${javac}/../../include REQUIRED)
  else()
    message(FATAL_ERROR "MUSTER_JAVA needs javac 17 or newer: run tools/setup --long, or install openjdk-17-jdk-headless")
  endif()
  include(UseJava)
  set(CMAKE_JAVA_COMPILE_FLAGS -Xlint:all -Werror)
  muster_generate(java ${PROJECT_BINARY_DIR}/bindings/muster/Layout.java)
  muster_generate(jni ${PROJECT_BINARY_DIR}/bindings/muster_jni.c)
  file(GLOB java_sources CONFIGURE_DEPENDS tools/bindings/java/muster/*.java)
  add_jar(muster-java SOURCES ${java_sources} ${PROJECT_BINARY_DIR}/bindings/muster/Layout.java OUTPUT_NAME muster)
  add_library(muster_jni SHARED ${PROJECT_BINARY_DIR}/bindings/muster_jni.c)
  target_include_directories(muster_jni PRIVATE ${JNI_HEADERS} ${JNI_HEADERS}/linux)
  set_source_files_properties(${PROJECT_BINARY_DIR}/bindings/muster_jni.c PROPERTIES
    COMPILE_OPTIONS -Wno-missing-prototypes) # the virtual machine finds them by name
  target_link_libraries(muster_jni PRIVATE muster_flags muster_shared)
  get_target_property(muster_jar muster-java JAR_FILE)
  install(FILES ${muster_jar} DESTINATION ${CMAKE_INSTALL_DATADIR}/java)
  install(TARGETS muster_jni)
endif()
