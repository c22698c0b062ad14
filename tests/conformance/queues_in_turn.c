/* Synchronous constructs in turn with asynchronous ones, which come after them; what the host reads is up to date. */
#include "check.h"
#include <time.h>
#define N 5000
#define TURNS 60

static int x[N], y[N], z[N];

static void add(int queue, int by)
{
#pragma acc parallel loop present(x, y) async(queue)
    for (int i = 0; i < N; i++)
        y[i] += x[i] + by;
}

int main(void)
{
    struct timespec t;
    int sum = 0, most = -1;
#pragma acc data copyin(x, y) create(z)
    {
        for (int turn = 0; turn < TURNS; turn++) {
#pragma acc parallel loop present(x)
            for (int i = 0; i < N; i++)
                x[i] += 1;
            int queue = turn % 3;
            add(queue, 1);
            if (turn % 7 == 0)
                CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0 && t.tv_sec >= 0);
            /* a synchronous construct does not come after another queue's work by itself */
#pragma acc wait(queue)
#pragma acc parallel loop present(y, z)
            for (int i = 0; i < N; i++)
                z[i] = y[i] - x[i];
#pragma acc parallel loop present(z) reduction(+:sum) reduction(max:most)
            for (int i = 0; i < N; i++) {
                sum += z[i] % 2;
                most = most < z[i] ? z[i] : most;
            }
            int last = 0, end = turn + 1;
#pragma acc update self(z[N - 1:1])
            last = z[N - 1];
            CHECK_EQ(last, end * (end + 1) / 2 + end - end);
            CHECK_EQ(most, last);
#pragma acc parallel loop present(z) async(queue)
            for (int i = 0; i < N; i++)
                z[i] = -1;
#pragma acc update self(z[0:1]) async(queue)
#pragma acc wait
            CHECK_EQ(z[0], -1);
        }
#pragma acc update self(y)
    }
    for (int i = 0; i < N; i++)
        CHECK_EQ(y[i], TURNS * (TURNS + 1) / 2 + TURNS);
    CHECK(sum > 0);
    return report();
}
