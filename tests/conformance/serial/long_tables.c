// Local arrays with long lists of numbers, on the host and in kernels.
#include <stdio.h>

#define F(m, x) m(x), m(x + 1), m(x + 2), m(x + 3), m(x + 4), m(x + 5), m(x + 6), m(x + 7)
#define G(m, x) F(m, x), F(m, x + 8), F(m, x + 16), F(m, x + 24), F(m, x + 32), F(m, x + 40)
#define H(m, x) G(m, x), G(m, x + 48), G(m, x + 96), G(m, x + 144), G(m, x + 192), G(m, x + 240)
#define SIGNED(x) (x) * 7 - 900
#define REAL(x) (x) * 0.25 - 9
#define SINGLE(x) -0.1f * (x)
#define TRUTH(x) (x) % 3

static double sum(int n, int i)
{
    int changed[] = {H(SIGNED, 0)};
    double padded[400] = {H(REAL, 3)};
    float mixed[] = {n, H(SINGLE, 1), [300] = n + 1, 7};
    short rows[3][300] = {{H(SIGNED, 0)}, {1, 2, 3}, {H(TRUTH, 1)}};
    _Bool truths[] = {H(TRUTH, 0)};
    unsigned char bytes[] = {H(SIGNED, 100)};
    long twice[] = {H(SIGNED, 0), [5] = 55};
    changed[i] += n;
    mixed[i] *= 2;
    return changed[i] + changed[287] + padded[i] + padded[399] + mixed[i] + mixed[0] + mixed[300]
        + mixed[301] + rows[0][i] + rows[1][i % 5] + rows[2][i] + truths[i] + bytes[i] + twice[i % 9];
}

int main(void)
{
    double result[280], total = 0;
#pragma acc parallel loop copyout(result)
    for (int i = 0; i < 280; i++)
        result[i] = sum(3, i);
    for (int i = 0; i < 280; i++) {
        total += result[i] * (i % 7 + 1);
        if (result[i] != sum(3, i))
            printf("%d: %g, not %g\n", i, result[i], sum(3, i));
    }
    printf("%.6f\n", total);
    return 0;
}
