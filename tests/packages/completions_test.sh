#!/bin/bash
# Completion: what bash, zsh and fish offer for a command line, by the shells themselves, and that they offer each option of
# the programs' own tables.
set -eEu
. "$(dirname "$0")/consumer/found.bash"
for shell in zsh fish; do command -v "$shell" >/dev/null || fail "no $shell; tools/setup installs it"; done
PATH=$build:$PATH
export HOME=$work # shells keep files of their own there
completions=$build/completions
cd "$work"
touch report.json

# Each prints what a shell offers for a command line, one a line.
offered_by_bash() { # LINE
  local program=${1%% *}
  bash --norc -c '
    . "$1"
    COMP_LINE=$2 COMP_POINT=${#2}
    read -ra COMP_WORDS <<<"$2"
    if [[ $2 == *" " ]]; then COMP_WORDS+=(""); fi
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    "_${COMP_WORDS[0]}"
    printf "%s\n" "${COMPREPLY[@]}"' - "$completions/bash/$program" "$1"
}
offered_by_fish() { # LINE
  fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$completions/fish/${1%% *}.fish" "$1" | cut -f 1
}
# zsh's own completion needs a terminal; the functions that it is built of are stood in for, and print what they are given.
offered_by_zsh() { # LINE
  zsh -f -c '
    _arguments() {
      local spec
      for spec; do
        case $spec in
        (-S) ;;
        ("1:word: "*) eval ${spec#1:word:} ;; # without the blank it would be given other arguments first
        ("*:file:_files") print -rl -- *(N) ;;
        ("*--"*) spec=${spec#\*}; print -r -- ${spec%%[=\[]*} ;;
        (*) print -r -- "a spec that is none: $spec" ;;
        esac
      done
    }
    _describe() { local name=$argv[-1] word; for word in ${(P)name}; do print -r -- ${word%%:*}; done }
    words=(${(z)2}); [[ $2 == *" " ]] && words+=("")
    CURRENT=$#words service=$words[1]
    source $1' - "$completions/zsh/_muster" "$1"
}

# What must be among the offers, and what must not.
counted=0
expect() { # SHELL LINE WORD...
  local shell=$1 line=$2 word
  "offered_by_$shell" "$line" >"$work/offers"
  for word in "${@:3}"; do
    if [ "${word#!}" != "$word" ]; then
      if grep -qx -e "${word#!}" "$work/offers"; then fail "$shell offers ${word#!} for '$line'"; fi
    else
      grep -qx -e "$word" "$work/offers" || fail "$shell does not offer $word for '$line', but: $(tr '\n' ' ' <"$work/offers")"
    fi
    counted=$((counted + 1))
  done
}

listed() { "$MUSTER" "$@" --help-options | tr -d = | grep -vxF -e "$left_out"; }
left_out=-
first() { # words of the list in a help text
  COLUMNS=80 "$MUSTER" "$@" --help | awk '/^usage:/ { on = 1; next } on && /^  [a-z]/ { print $1; some = 1 } some && /^$/ { exit }'
}
mapfile -t commands < <(first)
mapfile -t benches < <(first bench)
mapfile -t flags < <(COLUMNS=80 "$MUSTERD" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p')
[ "${#commands[@]}" -ge 8 ] && [ "${#benches[@]}" -gt 12 ] && [ "${#flags[@]}" -gt 25 ]
# shellcheck disable=SC2046
for shell in bash fish zsh; do
  expect "$shell" "muster " "${commands[@]}" '!--agents'
  for command in "${commands[@]}"; do
    [ "$command" != ctl ] || left_out=--agent # that of `muster explain`
    expect "$shell" "muster $command --" $(listed "$command")
    left_out=-
  done
  expect "$shell" "muster bench " "${benches[@]}"
  for bench in "${benches[@]}"; do expect "$shell" "muster bench $bench --" $(listed bench "$bench"); done
  expect "$shell" "muster ctl " $(first ctl) '!run'
  expect "$shell" "muster ctl explain --" --world '!--frames'
  expect "$shell" "muster bench machine --" --workers '!--agents'
  expect "$shell" "muster run " wildlife siege report.json
  expect "$shell" "muster repro " osborne all
  expect "$shell" "musterd --" "${flags[@]}"
done
# What stands behind an option.
for shell in bash fish; do
  expect "$shell" "muster run --up " y z
  expect "$shell" "muster run --json re" report.json '!--json'
  expect "$shell" "musterd --log-level " info warning error
done
echo "$counted offers"
