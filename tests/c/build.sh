#!/bin/sh
# Builds the plain C test program from the rooms without Python and tests/c, files side by side.
#   [SANITIZE=address,undefined] [CC=cc] sh tests/c/build.sh OUTPUT [CFLAGS...]
# Unoptimised by default, since building takes longer than the tests; give -O2 for long runs of test_fuzz.c.
set -eu
here=$(dirname "$0")
csrc="$here/../../csrc"
output=$1
shift
mkdir -p "$(dirname "$output")"
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
compile="${CC:-cc} -std=c11 -O0 -g -ffp-contract=off -fno-strict-aliasing -fno-omit-frame-pointer \
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wno-unused-parameter -Werror \
    ${SANITIZE:+-fsanitize=$SANITIZE} $* -I $csrc -I $here"
for room in "$csrc/base" "$csrc/ops" "$csrc/program" "$csrc/random" "$csrc/math" "$csrc/vm" "$here"; do
    ls "$room"/*.c
done | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I SOURCE sh -c "$compile -c 'SOURCE' -o '$objects'/\$(echo 'SOURCE' | tr '/' '_').o"
$compile "$objects"/*.o -o "$output" -lm -pthread
