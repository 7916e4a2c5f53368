/* Runs the lists of tests; arguments choose those whose names contain one of them. Prints "N passed, N failed".
 *
 * Relies on: mem (the leak check), the lists named below. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "test.h"

#define LIST(name) extern const Test name[];
#include "lists.def"
#undef LIST

static const Test *const lists[] = {
#define LIST(name) name,
#include "lists.def"
#undef LIST
};

static int n_failures; /* of the test that runs */

void check_that(bool holds, const char *what, const char *file, int line)
{
    if (!holds) {
        n_failures++;
        printf("    %s:%d: %s\n", file, line, what);
    }
}

void check_text(const char *found, const char *expected, const char *file, int line)
{
    if (strcmp(found, expected) != 0) {
        n_failures++;
        printf("    %s:%d: found\n%s\n    expected\n%s\n", file, line, found, expected);
    }
}

static bool is_chosen(const char *name, int n_words, char **words)
{
    for (int i = 0; i < n_words; i++) {
        if (strstr(name, words[i]) != NULL) {
            return true;
        }
    }
    return n_words == 0;
}

static bool run_test(const Test *test)
{
    int64_t n_blocks = mem_blocks_alive();

    n_failures = 0;
    test->run();
    check_that(mem_blocks_alive() == n_blocks, "no memory is left behind", test->name, 0);
    if (n_failures > 0) {
        printf("FAILED %s\n", test->name);
    }
    return n_failures == 0;
}

int main(int argc, char **argv)
{
    int n_passed = 0, n_failed = 0;

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const Test *test = lists[i]; test->name != NULL; test++) {
            if (!is_chosen(test->name, argc - 1, argv + 1)) {
                continue;
            }
            if (run_test(test)) {
                n_passed++;
            } else {
                n_failed++;
            }
        }
    }
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed > 0 || n_passed == 0;
}
