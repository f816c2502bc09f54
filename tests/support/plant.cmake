# cmake -DFAULT=file.fault -DROOT=source tree -DOUT=file -P plant.cmake
# Copies the source that a planted fault names to OUT, with each of its texts replaced. A text that is not there, or there
# more than once, is an error: the product has moved on, and the fault must follow.

file(READ ${FAULT} fault)
if(NOT fault MATCHES "\nfile: ([^\n]+)\n")
  message(FATAL_ERROR "${FAULT}: has no line 'file: PATH'")
endif()
set(source ${CMAKE_MATCH_1})
file(READ ${ROOT}/${source} text)

string(FIND "${fault}" "\n---\n" begin)
if(begin LESS 0)
  message(FATAL_ERROR "${FAULT}: has no line '---' and so nothing to replace")
endif()
while(begin GREATER_EQUAL 0)
  math(EXPR begin "${begin} + 5")
  string(SUBSTRING "${fault}" ${begin} -1 fault)
  string(FIND "${fault}" "\n+++\n" middle)
  if(middle LESS 0)
    message(FATAL_ERROR "${FAULT}: a '---' without its '+++'")
  endif()
  string(SUBSTRING "${fault}" 0 ${middle} wanted)
  math(EXPR middle "${middle} + 4") # what is planted begins with its line break, so that it may be empty
  string(SUBSTRING "${fault}" ${middle} -1 fault)
  string(FIND "${fault}" "\n---\n" begin)
  string(SUBSTRING "${fault}" 0 ${begin} planted)
  string(REGEX REPLACE "(^\n|\n$)" "" planted "${planted}")

  string(FIND "${text}" "${wanted}" first)
  string(FIND "${text}" "${wanted}" last REVERSE)
  if(first LESS 0)
    message(FATAL_ERROR "${FAULT}: ${source} does not contain\n${wanted}")
  elseif(NOT first EQUAL last)
    message(FATAL_ERROR "${FAULT}: ${source} contains more than once\n${wanted}")
  endif()
  string(REPLACE "${wanted}" "${planted}" text "${text}")
endwhile()
file(WRITE ${OUT} "${text}")
