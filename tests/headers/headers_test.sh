#!/bin/bash
# Every header compiles by itself: who reads it, and what looks at it alone, needs no other. Every public header compiles by itself, and all of them together in any order and twice, in each language and standard
# and by each compiler that a host may have, without a warning; muster.hpp does from C++17 on, with exceptions and run-time
# types and without. A host in C++ is built with it, linked with the shared library and run, and counts allocations.
set -u
root=${MUSTER_SOURCE_DIR:?}
library=${MUSTER_LIBRARY:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings="-pedantic -Wall -Wextra -Werror"
failed=0

# gcc and g++ come with tools/setup, and so does clang; where there is no clang, the test does without.
is_there() {
  command -v "$1" >/dev/null && return 0
  case $1 in
  clang*) echo "there is no $1: left out" ;;
  *) echo "there is no $1: run tools/setup" && failed=1 ;;
  esac
  return 1
}

# Standards that are newer than the compiler are left out.
knows() { # compiler, language, standard
  "$1" -x "$2" "-std=$3" -fsyntax-only - </dev/null 2>"$work/log"
}

include_of() { # header
  echo "#include <muster/${1##*/}>"
}

# Programs that include headers as a host's would: one header alone, all in order, all backwards and once more.
write_programs() { # folder of headers, language
  for header in "$1"/*.h; do
    include_of "$header" >"$work/${header##*/}.$2"
    include_of "$header" >>"$work/forth"
  done
  cp "$work/forth" "$work/all.$2"
  cat <(tac "$work/forth") "$work/forth" >"$work/back.$2"
  rm "$work/forth"
}

# Two at a time. What a header needs it needs in each standard: the oldest of a language is asked about each header alone.
compile() { # folder that is given to -I, compiler, language, standard
  local programs=("$work"/{all,back}."$3")
  case $4 in c11 | c++11) programs=("$work"/*."$3") ;; esac
  # shellcheck disable=SC2086
  printf '%s\n' "${programs[@]}" |
    xargs -P 2 -n 10 "$2" -x "$3" "-std=$4" $warnings -I "$1" -fsyntax-only
}

check_headers() { # compiler, language, standard
  knows "$@" || return 0
  echo "$1 -std=$3" >>"$work/checked"
  compile "$root/include" "$@" && return
  echo "$1 -std=$3 refuses a header that is included alone, or all of them together"
  failed=1
}

without="-fno-exceptions -fno-rtti"

# muster.hpp alone, and after and before all headers of C.
write_programs_of_hpp() {
  echo '#include <muster/muster.hpp>' >"$work/hpp.cc"
  cat "$work/all.c++" "$work/hpp.cc" >"$work/after.cc"
  cat "$work/hpp.cc" "$work/back.c++" "$work/hpp.cc" >"$work/before.cc"
}

compile_hpp() { # folder that is given to -I, compiler, standard, further options
  local program
  for program in "$work"/{hpp,after,before}.cc; do
    # shellcheck disable=SC2086
    "$2" "-std=$3" $warnings "${@:4}" -I "$1" -fsyntax-only "$program" || return
  done
}

run_host() { # folder that is given to -I, compiler, standard, further options
  # shellcheck disable=SC2086
  "$2" "-std=$3" $warnings "${@:4}" -I "$1" "$root/tests/headers/host.cpp" -o "$work/host" "$library" \
    "-Wl,-rpath,$(dirname "$library")" && [ "$("$work/host")" = "all of it ran" ]
}

check_hpp() { # compiler, standard
  knows "$1" c++ "$2" || return 0
  echo "$1 -std=$2 muster.hpp" >>"$work/checked"
  # shellcheck disable=SC2086
  compile_hpp "$root/include" "$@" && compile_hpp "$root/include" "$@" $without && return
  echo "$1 -std=$2 refuses muster.hpp"
  failed=1
}

check_host() { # compiler, standard, further options
  run_host "$root/include" "$@" && return
  echo "$*: the host in C++ cannot be built, or fails"
  failed=1
}

for language in c c++; do write_programs "$root/include/muster" $language; done
write_programs_of_hpp
for compiler in gcc clang; do
  is_there $compiler || continue
  for standard in c11 c17 c2x; do check_headers $compiler c $standard; done
done
for compiler in g++ clang++; do
  is_there $compiler || continue
  for standard in c++11 c++14 c++17 c++20 c++2b; do
    check_headers $compiler c++ $standard
  done
  for standard in c++17 c++20 c++2b; do check_hpp $compiler $standard; done
  check_host $compiler c++17 -O2
done
# shellcheck disable=SC2086
check_host g++ c++20 -O0 $without
# What the headers promise to work with, and no compiler may have left out.
for promised in 'gcc -std=c11' 'gcc -std=c17' 'g++ -std=c++17' 'g++ -std=c++20' \
  'g++ -std=c++17 muster.hpp' 'g++ -std=c++20 muster.hpp'; do
  grep -qxF -e "$promised" "$work/checked" || { echo "$promised was not tried"; failed=1; }
done

# The test must see a header that only compiles after another one, and a word that one of the languages does not have.
plant() { # header, line, language, standard, compiler
  rm -rf "$work/include"
  cp -r "$root/include" "$work/include"
  sed -i "/^#ifdef __cplusplus\$/i $2" "$work/include/muster/$1"
  compile "$work/include" "$5" "$3" "$4" 2>"$work/log" || return 0
  echo "'$2' was planted into $1, and $5 -std=$4 was content"
  failed=1
}
first=$(ls "$root/include/muster" | head -n 1)
plant "$first" 'typedef undeclared_word planted;' c c11 gcc
plant "$first" 'static inline int *planted(void *p) { return p; }' c++ c++17 g++

# The product's own headers, as they are compiled in it.
check_own() { # folder that has src and tools
  # shellcheck disable=SC2046
  find "$1/src" "$1/tools" -name '*.h' ! -path '*/mutate/*' -print0 |
    xargs -0 -P 2 -n 1 gcc -std=gnu17 -D_GNU_SOURCE -Werror -I "$1/src" -I "$root/include" -I "$1/tools/program" \
      $(printf ' -I %s' "$root"/bench/*/) \
      $(pkg-config --cflags lua5.4 2>/dev/null || pkg-config --cflags lua-5.4 2>/dev/null || pkg-config --cflags lua54) \
      -x c -fsyntax-only
}
check_own "$root" || { echo "a header of the product needs another before it"; failed=1; }
mkdir -p "$work/own/src" "$work/own/tools"
echo 'static inline void planted(struct muster_unknown *unknown) { unknown->known = 1; }' >"$work/own/src/planted.h"
! check_own "$work/own" 2>/dev/null || { echo "a header that needs another was planted, and gcc was content"; failed=1; }

# The program in the head of muster.hpp, and the lambda in its table, as they stand there.
check_head() { # compiler, standard
  local head="$root/include/muster/muster.hpp"
  knows "$1" c++ "$2" || return 0
  {
    echo '#include <muster/muster.hpp>'
    echo "int main() { (void)$(sed -n 's/^ \* *atom  *a lambda  *//p' "$head");"
    sed -n '/struct wolf {/,/world\.run/s/^ \* *//p' "$head"
    echo '}'
  } >"$work/head.cpp"
  # shellcheck disable=SC2086
  if [ "$(grep -c . "$work/head.cpp")" -lt 10 ] || ! grep -q 'muster::behaviour(\[\](auto &self) { self.move' "$work/head.cpp" ||
    ! "$1" "-std=$2" $warnings -I "$root/include" "$work/head.cpp" -o "$work/head" "$library" \
      "-Wl,-rpath,$(dirname "$library")" || ! "$work/head"; then
    echo "$1 -std=$2: what the head of muster.hpp shows cannot be built, or fails"
    cat "$work/head.cpp"
    failed=1
  fi
}
for compiler in g++ clang++; do
  ! is_there $compiler || check_head $compiler c++17
done
echo '#include <muster/muster.hpp>' >"$work/old.cc"
g++ -std=c++14 -I "$root/include" -fsyntax-only "$work/old.cc" 2>"$work/log"
grep -q 'muster.hpp needs C++17' "$work/log" || { echo "muster.hpp does not say that it needs C++17"; failed=1; }

# What muster.hpp must refuse, with a sentence: an atom that captures, and a state that is more than bytes.
refuse() { # statement, words of the sentence
  echo "#include <muster/muster.hpp>
    struct name { name(); ~name(); };
    muster_type planted(muster::world &world, int captured) { $1 }" >"$work/refused.cc"
  g++ -std=c++17 -I "$root/include" -fsyntax-only "$work/refused.cc" 2>"$work/log"
  grep -q "error: static assertion failed: $2" "$work/log" && return
  echo "muster.hpp does not say '$2' to: $1"
  failed=1
}
refuse 'return world.add(muster::type_def<>("t"), muster::behaviour([captured](auto &) { (void)captured; }));' \
  'an atom is a lambda without captures'
refuse 'return muster_type_register(world.get(), new muster::type_def<name>("t"));' 'Muster copies and zeroes states'

# And in muster.hpp: a throw where there are no exceptions, an allocation in a frame and one in a registration.
plant_hpp() { # function that must fail, what sed does, arguments of the function behind the folder
  rm -rf "$work/include"
  cp -r "$root/include" "$work/include"
  sed -i "$2" "$work/include/muster/muster.hpp"
  cmp -s "$root/include/muster/muster.hpp" "$work/include/muster/muster.hpp" && echo "'$2' changes nothing" && failed=1
  "$1" "$work/include" "${@:3}" >"$work/log" 2>&1 || return 0
  echo "muster.hpp was changed by '$2', and $1 was content"
  failed=1
}
# shellcheck disable=SC2086
plant_hpp compile_hpp 's/^#if defined(__cpp_exceptions)$/#if 1/' g++ c++17 $without
plant_hpp run_host 's/^  update<State, Published> self(given);$/& delete new int;/' g++ c++17 -O0
plant_hpp run_host 's/^    complete.atoms = list;$/& delete new int;/' g++ c++17 -O0
exit $failed
