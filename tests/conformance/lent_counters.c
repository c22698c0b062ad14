/* The address of a loop variable goes to what only reads it: parameters and variables that point to const. */
#include "check.h"
struct view { const int *at; };
#pragma acc routine seq
static int twice(const int *p) { return *p * 2; }
static inline int thrice(int const *const restrict p) { return p[0] * 3; }
#pragma acc routine seq
static int by_view(const struct view *v) { return *v->at + 5; }
#pragma acc routine seq
static long both(const long *p, const unsigned char *q) { return *p * 10 + *q; }
#pragma acc routine seq
static int any(const void *p) { return *(const int *)p; }
int main(void)
{
    int a[20], b[20], c[6][5], d[20], e[20], k = 77, s = 0;
    long l[20];
    const int *outside = &k;
#pragma acc parallel loop copyout(a)
    for (int k = 0; k < 20; k++) a[k] = twice(&k) + thrice(&k);
#pragma acc kernels loop copyout(b)
    for (k = 19; k >= 0; k--) b[k] = twice(&k) + k;
#pragma acc parallel loop copyout(d)
    for (k = 0; k < 20; k += 1) {
        const int *p = &k;
        d[k] = *p + any(&k);
    }
#pragma acc parallel loop collapse(2) copyout(c)
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++) c[i][j] = twice(&i) * 100 + thrice(&j);
#pragma acc parallel loop gang copyout(l)
    for (long i = 0; i < 4; i++) {
#pragma acc loop vector
        for (unsigned char j = 0; j < 5; j++) l[i * 5 + j] = both(&i, &j);
    }
#pragma acc parallel loop copyout(e)
    for (int i = 0; i < 20; i++) {
        struct view v = {&i};
        int m;
        memcpy(&m, &i, sizeof m);
        e[i] = by_view(&v) + m;
    }
#pragma acc parallel loop reduction(+:s)
    for (int i = 0; i < 20; i++) {
#pragma acc loop seq
        for (int j = i; j < 20; j += 3) s += twice(&j) + twice(&i);
    }
    k = 5;
    CHECK_EQ(*outside, 5);
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(a[i], 5 * i);
        CHECK_EQ(b[i], 3 * i);
        CHECK_EQ(d[i], 2 * i);
        CHECK_EQ(l[i], i / 5 * 10 + i % 5);
        CHECK_EQ(e[i], 2 * i + 5);
        for (int j = i; j < 20; j += 3) sum += 2 * (i + j);
    }
    CHECK_EQ(s, sum);
    for (int i = 0; i < 30; i++) CHECK_EQ(c[i / 5][i % 5], i / 5 * 200 + i % 5 * 3);
    return report();
}
