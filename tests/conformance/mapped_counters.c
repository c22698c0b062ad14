/* Counters that are present without a section: small ones, large ones, from the middle on, and with negative subscripts. */
#include "check.h"

void count(int n, const unsigned *data, unsigned *h)
{
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; i++) {
#pragma acc atomic
        h[data[i]]++;
    }
}
void centred(int n, const int *data, int *h)
{
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; i++) {
#pragma acc atomic update
        h[data[i]] += 2;
    }
}
int main(void)
{
    enum { N = 5000, MANY = 100000 };
    unsigned *data = malloc(4 * N), h[37] = {1}, want[37] = {1}, *big = calloc(MANY, 4);
    int *signed_data = malloc(4 * N), m[41] = {0}, want_m[41] = {0};
    for (int i = 0; i < N; i++) {
        data[i] = i * 7u % 37, signed_data[i] = i * 11 % 41 - 20;
        want[data[i]] += 3, want_m[signed_data[i] + 20] += 2;
    }
#pragma acc data copyin(data[0:N], signed_data[0:N]) copy(h, m, big[0:MANY])
    {
        for (int turn = 0; turn < 3; turn++)
            count(N, data, h);
        centred(N, signed_data, m + 20);
        count(N, data, big);
        count(N, data, big + 50);
    }
    CHECK(memcmp(h, want, sizeof h) == 0);
    CHECK(memcmp(m, want_m, sizeof m) == 0);
    for (int i = 0; i < 37; i++)
        CHECK(3 * big[i] == want[i] - (i == 0) && big[50 + i] == big[i]);
    return report();
}
