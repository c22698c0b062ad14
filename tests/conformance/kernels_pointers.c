/* A pointer that device code computes, to memory that it allocates, used by several loops of a kernels region. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

static void set(unsigned *n, unsigned count) { *n = count; }

static void allocated(unsigned count, float *restrict v)
{
    unsigned n;
    set(&n, count);
    unsigned bytes = n * sizeof(float);
    int j;

#pragma acc kernels copy(v[0:n])
    for (j = 0; j < 3; j++) {
        float *r = malloc(bytes);
        for (int i = 0; i < n; i++)
            r[i] = v[i] + i;
        float s = 0;
        for (int i = 0; i < n; i++)
            s += r[i];
        for (int i = 0; i < n; i++)
            v[i] = v[i] + s / 128 + r[n - 1 - i];
    } /* never freed, so that the loop has no call with an effect elsewhere */
}

static void expected(unsigned n, float *v)
{
    float r[100];
    for (int j = 0; j < 3; j++) {
        float s = 0;
        for (unsigned i = 0; i < n; i++)
            r[i] = v[i] + i;
        for (unsigned i = 0; i < n; i++)
            s += r[i];
        for (unsigned i = 0; i < n; i++)
            v[i] = v[i] + s / 128 + r[n - 1 - i];
    }
}

int main(void)
{
    float v[100], e[100];

    for (unsigned n = 1; n < 100; n += 49) {
        for (int i = 0; i < 100; i++)
            v[i] = e[i] = i % 5;
        allocated(n, v);
        expected(n, e);
        for (unsigned i = 0; i < n; i++)
            CHECK(v[i] == e[i]);
    }
    return report();
}
