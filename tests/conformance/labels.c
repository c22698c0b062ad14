/* Labels that nothing jumps to, and jumps inside of the labelled statement itself, in constructs and routines. */
#include "check.h"
#define N 24
static unsigned next_of(unsigned x) { return x * 1103515245u + 12345u; }
static int drawn(unsigned seed) {
    int n = 0;
again: {
        seed = next_of(seed);
        n++;
        if (seed >> 30) goto again;
    }
    return n;
}
#pragma acc routine vector
static void fill(int *a, int n) {
begin:;
#pragma acc loop vector
    for (int i = 0; i < n; i++) {
        int k = i;
    more:
        while (k % 7)
            if (++k == 20) goto more;
        a[i] = k;
    end:;
    }
end_of_routine:;
}
static int filled(int i) {
    while (i % 7) i++;
    return i;
}
static void in_loops(void) {
    int a[N], b[N], c[N];
#pragma acc parallel loop copyout(a, b, c)
    for (int i = 0; i < N; i++) {
    first:
        a[i] = drawn(i);
        int m = i % 4, k = 0;
    choose:
        switch (m) {
        case 0: m++; goto choose;
        case 1: m += 2; goto choose;
        unused: default: m++;
        }
        b[i] = m;
        do
        redo: {
                k++;
                if (k % 3 == 1) goto redo;
            }
        while (k < i);
        c[i] = k;
    }
    for (int i = 0; i < N; i++) {
        int k = i < 2 ? 2 : 0;
        while (k < i || k == 0) k += (k + 1) % 3 == 1 ? 2 : 1;
        CHECK_EQ(a[i], drawn(i));
        CHECK_EQ(b[i], i % 4 == 3 ? 4 : i % 4 == 2 ? 3 : 4);
        CHECK_EQ(c[i], k);
    }
}
static void in_other_constructs(void) {
    int a[N], b[N], rounds = 0, total = 0;
#pragma acc kernels copyout(a)
    for (int i = 0; i < N; i++) {
        a[i] = i;
    twice: __attribute__((unused));
        a[i] *= 2;
    }
#pragma acc parallel copy(a) num_gangs(1)
    {
    start: fill(a, N);
    }
#pragma acc serial copy(total)
    {
        for (int i = 0; i < 5; i++)
        restart:
            for (int j = 0; j < 3; j++) {
                __label__ here;
            here:
                if (++total % 4 == 0) goto here;
                if (total == 6) goto restart;
            }
    finish:;
    }
    int expected = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++) {
            do expected++;
            while (expected % 4 == 0);
            if (expected == 6) j = -1;
        }
    CHECK_EQ(total, expected);
#pragma acc data copyout(b)
    {
    repeat: {
#pragma acc parallel loop
            for (int i = 0; i < N; i++) b[i] = i + rounds;
            if (rounds++ < 3) goto repeat;
        }
    }
    for (int i = 0; i < N; i++) {
        CHECK_EQ(a[i], filled(i));
        CHECK_EQ(b[i], i + 3);
    }
}
int main(void) {
    in_loops();
    in_other_constructs();
    return report();
}
