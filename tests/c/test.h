/* A small runner: a test is a function whose CHECKs all hold and that leaves no memory behind.
 *
 * Relied on by: the test files, each of which gives main.c one list. */
#ifndef PYSCAN_TESTS_C_TEST_H
#define PYSCAN_TESTS_C_TEST_H

#include <stdbool.h>

typedef struct Test {
    const char *name; /* a sentence about behaviour; NULL ends a list */
    void (*run)(void);
} Test;

#define TEST(function) {#function, function}

void check_that(bool holds, const char *what, const char *file, int line);
#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
/* Compares texts and shows both when they differ. */
void check_text(const char *found, const char *expected, const char *file, int line);
#define CHECK_TEXT(found, expected) check_text((found), (expected), __FILE__, __LINE__)

#endif
