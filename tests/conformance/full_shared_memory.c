/* Private arrays that fill a gang's shared memory beside reductions that need some of it: the
   threads then exchange their partial results through device memory. */
#include "check.h"

#define N 11500
#define MANY(use) use(a) use(b) use(c) use(d) use(e) use(f) use(g) use(h) use(i) use(j) use(k) use(l)
#define DECLARE(x) double x = 0;
#define ADD(x) x += buffer[N - 1 - n] * ++weight;
#define COUNT(x) weights += ++weight;
#define SUM(x) sum += x;

int main(void)
{
    float buffer[N];
    double total = 0;
#pragma acc parallel loop gang private(buffer) reduction(+:total) num_gangs(4) vector_length(128)
    for (int gang = 0; gang < 6; gang++) {
        MANY(DECLARE)
        double sum = 0;
#pragma acc loop vector
        for (int n = 0; n < N; n++)
            buffer[n] = n % 8 + gang;
#pragma acc loop vector reduction(+:a, b, c, d, e, f, g, h, i, j, k, l)
        for (int n = 0; n < N; n++) {
            int weight = 0;
            MANY(ADD)
        }
        MANY(SUM)
        total += sum;
    }
    double weights = 0, expected = 0;
    int weight = 0;
    MANY(COUNT)
    for (int gang = 0; gang < 6; gang++)
        for (int n = 0; n < N; n++)
            expected += weights * (n % 8 + gang);
    CHECK(total == expected);

    /* An array that takes all of it, with room for nothing else. */
    float whole[12288];
    total = 0;
#pragma acc parallel loop gang private(whole) reduction(+:total) num_gangs(4) vector_length(128)
    for (int gang = 0; gang < 6; gang++) {
        double sum = 0;
#pragma acc loop vector
        for (int n = 0; n < 12288; n++)
            whole[n] = n % 8 + gang;
#pragma acc loop vector reduction(+:sum)
        for (int n = 0; n < 12288; n++)
            sum += whole[12287 - n];
        total += sum;
    }
    CHECK(total == 6.0 * 12288 * 3.5 + 12288.0 * 15);
    return report();
}
