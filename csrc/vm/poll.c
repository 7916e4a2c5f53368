/* Asking the host, by the clock, whether to stop.
 *
 * Work is counted in units of about a nanosecond that cost 100 ns at the most (a hard draw is counted as many). The
 * clock is read every FUEL units, so at least every 7 ms, and the host is asked at the first reading after POLL_NANOSECONDS.
 * A reading costs 25 ns, which is felt by the shortest runs alone: the first is made when SHORT_FUEL is used up, and the
 * host is told then that the run is a long one. Relies on: vm.h. Relied on by: every instruction that can be long. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* clock_gettime */
#endif
#include <stddef.h>
#include <time.h>

#include "vm/frame.h"

enum { FUEL = 65536, SHORT_FUEL = 4096, POLL_NANOSECONDS = 20000000 };

static int64_t clock_nanoseconds(void)
{
    struct timespec now;

#ifdef CLOCK_MONOTONIC
    clock_gettime(CLOCK_MONOTONIC, &now);
#else
    timespec_get(&now, TIME_UTC);
#endif
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void run_start(Run *run, Frame *frame, const VmHost *host, Status *status)
{
    run->host = host;
    run->status = status;
    run->counters = frame->counters;
    run->fuel = SHORT_FUEL;
    run->last_poll = -1;
}

int run_check(Run *run)
{
    int64_t now;

    run->fuel = FUEL;
    if (run->last_poll < 0 && run->host->begin_long != NULL) {
        run->host->begin_long(run->host->self);
    }
    if (run->host->poll == NULL) {
        return 0;
    }
    now = clock_nanoseconds();
    if (run->last_poll < 0) {
        run->last_poll = now;
    }
    if (now - run->last_poll < POLL_NANOSECONDS) {
        return 0;
    }
    run->last_poll = now;
    return run->host->poll(run->host->self) == 0 ? 0 : status_fail(run->status, STATUS_INTERRUPTED);
}
