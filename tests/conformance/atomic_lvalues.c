/*
 * Atomic statements with two occurrences of the object, and with conversions in every place: of the value
 * that is read, of the old value, of the result, of the captured value, within subscripts.
 */
#include "check.h"
#define N 64

struct pair {
    int hits[4];
    float weight;
};

#pragma acc routine seq
static int bin_of(double x)
{
    int bin = (int)(x / 2.5);
    while (bin > 3)
        bin -= 4;
    return bin;
}

int main(void)
{
    double v[N], bins[4] = {0}, expected_bins[4] = {0};
    int hits[4] = {0}, old[N], expected_hits[4] = {0}, sum = 0, expected = 0;
    struct pair pairs[2] = {0};
    for (int i = 0; i < N; i++) {
        v[i] = i * 0.155;
        expected_bins[(int)(v[i] / 2.5)] += 1.5;
        expected_hits[bin_of(v[i])]++;
    }
#pragma acc parallel loop copyin(v) copy(bins, hits, pairs) copyout(old)
    for (int i = 0; i < N; i++) {
#pragma acc atomic update
        bins[(int)(v[i] / 2.5)] = bins[(int)(v[i] / 2.5)] + 1.5;
#pragma acc atomic capture
        {
            old[i] = hits[bin_of(v[i])];
            hits[bin_of(v[i])] = hits[bin_of(v[i])] + 1;
        }
#pragma acc atomic
        pairs[i & 1].hits[(int)floor(v[i] / 2.5)] = 1 + pairs[i & 1].hits[(int)floor(v[i] / 2.5)];
#pragma acc atomic
        pairs[i > 8 ? 1 : 0].weight = pairs[i > 8 ? 1 : 0].weight + 1;
    }
    for (int b = 0; b < 4; b++) {
        CHECK_NEAR(bins[b], expected_bins[b]);
        CHECK_EQ(hits[b], expected_hits[b]);
        CHECK_EQ(pairs[0].hits[b] + pairs[1].hits[b], expected_hits[b]);
        expected += hits[b] * (hits[b] - 1) / 2;
    }
    for (int i = 0; i < N; i++)
        sum += old[i];
    CHECK_EQ(sum, expected);
    CHECK_EQ(pairs[0].weight, 9);
    CHECK_EQ(pairs[1].weight, N - 9);

    /* A conversion that keeps all values makes no difference; one that loses some is part of the value. */
    int x = 250, y = 250, z = 1000, w = 0, caught = 0, taken = 0, wide[4] = {0}, narrow = 300;
    unsigned char small = 250;
    float f = 0.75f;
    int k = 1;
#pragma acc parallel num_gangs(1) copy(x, y, z, w, caught, taken, wide, narrow, small, f) firstprivate(k)
    {
#pragma acc atomic
        x = (unsigned char)(x + 10);
#pragma acc atomic
        y = (signed char)y + 10;
#pragma acc atomic
        z = 3 + (unsigned char)z;
#pragma acc atomic
        w = (int)(w + 2.75);
#pragma acc atomic
        small = small + 10;
#pragma acc atomic
        f = (int)(f + 1.5f);
#pragma acc atomic
        wide[(long)k] = wide[k] + 1;
#pragma acc atomic capture
        caught = (signed char)(narrow = narrow - 100);
#pragma acc atomic read
        taken = (unsigned char)narrow;
    }
    CHECK_EQ(x, 4);
    CHECK_EQ(y, 4);
    CHECK_EQ(z, 235);
    CHECK_EQ(w, 2);
    CHECK_EQ(small, 4);
    CHECK_NEAR(f, 2);
    CHECK_EQ(wide[1], 1);
    CHECK_EQ(narrow, 200);
    CHECK_EQ(caught, -56);
    CHECK_EQ(taken, 200);
    return report();
}
