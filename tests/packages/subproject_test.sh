#!/bin/bash
# Muster inside another project, by FetchContent and by add_subdirectory: the library alone is built, for C and C++, and
# that project gets no tests, no installed files and no compiler options that it did not ask for.
set -eEu
. "$(dirname "$0")/consumer/found.bash"

configure() { # fetch | subdirectory, OPTION...
  quietly cmake -S "$MUSTER_SOURCE_DIR/tests/packages/consumer" -B "$work/$1" -G Ninja -DFROM="$1" -DCMAKE_BUILD_TYPE=Debug \
    -DEXAMPLES="$MUSTER_SOURCE_DIR/tests/examples" -DCMAKE_C_FLAGS=-ffp-contract=off -DCMAKE_CXX_FLAGS=-ffp-contract=off \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${@:2}"
}

check_manners() { # fetch | subdirectory
  local folder=$work/$1
  ctest --test-dir "$folder" -N | grep -qx 'Total Tests: 0' || fail "$1: it brings tests along"
  [ -z "$(ninja -C "$folder" -t targets all | grep -E '^(muster_cli|musterd|tidy|[^ ]*_test):')" ] ||
    fail "$1: it builds programs that nobody asked for"
  if grep -q -e -Werror "$folder/compile_commands.json"; then fail "$1: a warning of another compiler would end the build"; fi
  if grep '"command".*first_server' "$folder/compile_commands.json" | grep -E -e '-W|-D|-O|-fno-plt'; then
    fail "$1: the project's own programs are compiled with Muster's options"
  fi
}

# Nothing of it is installed unless asked for.
check_installs() { # fetch | subdirectory, expected number of headers
  rm -rf "$work/installed"
  quietly cmake --install "$work/$1" --prefix "$work/installed"
  [ "$(find "$work/installed" -name muster.h 2>/dev/null | wc -l)" -eq "$2" ]
}

configure fetch -DFETCHCONTENT_SOURCE_DIR_MUSTER="$MUSTER_SOURCE_DIR"
quietly ninja -C "$work/fetch"
check_servers "$work/fetch" c_shared c_static cpp_shared cpp_static
check_manners fetch
check_installs fetch 0

# Where what it needs is missing, it says what, and what the packages are called.
if PKG_CONFIG_LIBDIR=$work/nothing cmake -S "$MUSTER_SOURCE_DIR/tests/packages/consumer" -B "$work/bare" -G Ninja -DFROM=fetch \
  -DEXAMPLES="$MUSTER_SOURCE_DIR/tests/examples" -DFETCHCONTENT_SOURCE_DIR_MUSTER="$MUSTER_SOURCE_DIR" >"$work/log" 2>&1; then
  fail "it configures without what it needs"
fi
tr -s ' \n' ' ' <"$work/log" | grep -q 'apt-get install pkg-config libck-dev libxxhash-dev' || { cat "$work/log"; fail "no names of packages"; }

configure subdirectory
check_manners subdirectory
quietly ninja -n -C "$work/subdirectory" cpp_static
configure fetch -DMUSTER_INSTALL=ON
quietly ninja -C "$work/fetch" # what is installed
check_installs fetch 1
