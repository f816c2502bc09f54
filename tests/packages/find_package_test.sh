#!/bin/bash
# find_package(muster) against an installation in a folder: C and C++, shared and static; versions that fit and that do
# not; what is said when the static library's own needs are missing.
set -eEu
. "$(dirname "$0")/consumer/found.bash"

quietly cmake --install "$build" --prefix "$work/prefix"
quietly cmake -S "$MUSTER_SOURCE_DIR/tests/packages/consumer" -B "$work/build" -G Ninja -DFROM=package \
  -DEXAMPLES="$MUSTER_SOURCE_DIR/tests/examples" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_C_FLAGS=-ffp-contract=off -DCMAKE_CXX_FLAGS=-ffp-contract=off
quietly ninja -C "$work/build"
check_servers "$work/build" c_shared c_static cpp_shared cpp_static
ldd "$work/build/cpp_shared" | grep -q "=> $work/prefix/lib.*/libmuster.so.0"
if ldd "$work/build/c_static" | grep -q libmuster; then fail "c_static is linked with the shared library"; fi

# The program finds the worlds in Lua that are installed with it, from any folder; the service has the module of scripts.
for world in village.lua wildlife.lua; do
  (cd "$work" && quietly "$work/prefix/bin/muster" run "$world" --agents 100 --frames 3 --no-pace --virtual)
  grep -q "/prefix/.*$world:" "$work/log" || { cat "$work/log"; fail "$world is not the one that is installed"; }
done
if [ -x "$work/prefix/bin/musterd" ]; then
  printf '[world main]\nmodule = lua\nmodule.scripts = %s/prefix/share/muster/scripts/village.lua\n' "$work" >"$work/conf"
  quietly "$work/prefix/bin/musterd" --config "$work/conf" --modules "$work"/prefix/lib*/muster/modules --check
fi

# Worlds that are modules: those that are installed, by name from any folder, and the same from their installed source.
(cd "$work" && quietly "$work/prefix/bin/muster" run siege --agents 3000 --frames 3 --no-pace --virtual)
quietly cmake -S "$(find "$work/prefix" -path '*/examples/worlds')" -B "$work/worlds" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix"
quietly ninja -C "$work/worlds"
for world in flashcrowd empty hostile pathstorm pathstorm-whole townsfolk siege; do
  quietly "$work/prefix/bin/muster" run "$work/worlds/$world.so" --agents 1000 --frames 3 --no-pace --virtual
done

# Configures a project of these words behind find_package; what was said is in $work/log.
ask() { # WORDS
  mkdir -p "$work/asked"
  rm -rf "$work/asked/build"
  cat >"$work/asked/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(asked LANGUAGES CXX)
find_package(muster $1)
if(NOT TARGET muster::muster)
  message(FATAL_ERROR "no muster::muster")
endif()
if(NOT TARGET muster::static)
  message(STATUS "no muster::static")
endif()
CMAKE
  cmake -S "$work/asked" -B "$work/asked/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1
}

# Before 1.0, a minor version may change what hosts were built for.
version=$("$MUSTER" --version | awk '{ print $2 }')
IFS=. read -r major minor patch <<<"$version"
for good in "$version EXACT" "$major.$minor" "" ; do ask "$good REQUIRED" || { cat "$work/log"; fail "refused: '$good'"; }; done
if grep -q 'no muster::static' "$work/log"; then fail "no muster::static, though all is there that it needs"; fi
for bad in "$major.$((minor - 1))" "$major.$((minor + 1))" "$((major + 1)).0" "$major.$minor.$((patch + 1))"; do
  if ask "$bad REQUIRED"; then fail "$version was accepted as $bad"; fi
  grep -q "$version" "$work/log"
done

# Without Concurrency Kit and xxHash the shared library is there, and the static one says what it wants.
export PKG_CONFIG_LIBDIR=$work/nothing
ask REQUIRED || { cat "$work/log"; fail "the shared library needs something"; }
grep -q 'no muster::static' "$work/log"
if ask "REQUIRED COMPONENTS static"; then fail "muster::static was found without what it needs"; fi
tr -s ' \n' ' ' <"$work/log" | grep -q 'apt-get install pkg-config libck-dev libxxhash-dev'
