# What the program says of a number, of none, and how it ends where that is longer.
test "$("$1" 3)" = 6 && test "$("$1")" = 0 && ! "$1" 30
