/* Recursive routines whose lanes return at different depths, in loops with reductions. */
#include <stdio.h>

#pragma acc routine seq
static long queens(unsigned columns, unsigned left, unsigned right, unsigned all)
{
    long found = 0;
    if (columns == all)
        return 1;
    for (unsigned open = all & ~(columns | left | right); open;) {
        unsigned bit = open & -open;
        open ^= bit;
        found += queens(columns | bit, (left | bit) << 1, (right | bit) >> 1, all);
    }
    return found;
}

static int even(int n);
#pragma acc routine(even) seq
#pragma acc routine seq
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }

#pragma acc routine seq
static int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

int main(void)
{
    for (int n = 4; n <= 8; n++) {
        long total = 0;
        int most = 0;
        unsigned all = (1u << n) - 1;
#pragma acc parallel loop reduction(+:total) reduction(max:most)
        for (int i = 0; i < n; i++) {
            long here = queens(1u << i, 1u << (i + 1), (1u << i) >> 1, all);
            total += here;
            most = most > here ? most : here;
        }
        printf("%ld %d ", total, most);
    }
    int evens = 0, sum = 0;
#pragma acc parallel loop gang worker vector reduction(+:evens) num_gangs(2) vector_length(64)
    for (int i = 0; i < 100; i++)
        evens += even(i % 37);
#pragma acc parallel loop reduction(+:sum)
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            sum += ackermann(i, j);
    printf("%d %d\n", evens, sum);
    return 0;
}
