/* What compilers are told besides the language; nothing depends on it but speed.
 *
 * Relies on: nothing. Relied on by: the loops that are worth it, in all rooms. */
#ifndef PYSCAN_BASE_COMPILER_H
#define PYSCAN_BASE_COMPILER_H

#if defined(__GNUC__)
#define PRAGMA(words) _Pragma(#words)
#define ALWAYS_INLINE __attribute__((always_inline)) inline
#define UNLIKELY(condition) __builtin_expect(condition, 0)
/* Before a loop: so many rounds in one. */
#define UNROLLED(n) PRAGMA(GCC unroll n)
#else
#define ALWAYS_INLINE inline
#define UNLIKELY(condition) (condition)
#define UNROLLED(n)
#endif

#endif
