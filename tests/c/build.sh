#!/bin/sh
# Builds the plain C test program from the rooms without Python and tests/c.
#   [SANITIZE=address,undefined] [CC=cc] sh tests/c/build.sh OUTPUT [CFLAGS...]
# Unoptimised by default, since building takes longer than the tests; give -O2 for long runs of test_fuzz.c.
set -eu
here=$(dirname "$0")
csrc="$here/../../csrc"
output=$1
shift
sources=$(ls "$csrc"/base/*.c "$csrc"/ops/*.c "$csrc"/program/*.c "$csrc"/random/*.c "$csrc"/math/*.c "$csrc"/vm/*.c "$here"/*.c 2>/dev/null || true)
mkdir -p "$(dirname "$output")"
# shellcheck disable=SC2086
exec ${CC:-cc} -std=c11 -O0 -g -ffp-contract=off -fno-strict-aliasing -fno-omit-frame-pointer \
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wno-unused-parameter -Werror \
    ${SANITIZE:+-fsanitize=$SANITIZE} "$@" -I "$csrc" -I "$here" $sources -o "$output" -lm -pthread
