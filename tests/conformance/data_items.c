/* Items of data clauses whose sections need branches, calls or statements, beside other items; and arrays of
   variable length that are declared after a return, in branches, loops and constructs. */
#include "check.h"

static int calls;
static int length(int n) { calls++; return n; }

static void sections(double *restrict a, double *b, int n, int k)
{
    const double *restrict moved = a;
#pragma acc enter data copyin(a[0:n], b[0:(k ? n : n / 2)])
#pragma acc parallel loop present(a, b) num_gangs(k ? 2 : length(n)) async(k ? 1 : 2)
    for (int i = 0; i < n; i++) b[i] += a[i];
#pragma acc update self(b[0:length(n)]) if (k && n > 2) wait(k ? 1 : 2)
#pragma acc exit data delete (a) copyout(b[0:({ int q = n; while (q > 100 && length(q)) q--; q; })])
    CHECK(b[0] == 1 + moved[0] && b[n - 1] == 1 + moved[n - 1]);
#pragma acc data copyin(a[0:n]) copy(b[0:(k && length(n)) * n]) if (n > 3)
    {
#pragma acc kernels loop copyin(a[0:length(n)]) copy(b[0:(k ? n : 1)])
        for (int i = 0; i < n; i++) b[i] += a[i];
#pragma acc host_data use_device(a, b)
        CHECK(k == 0 || b != 0);
    }
#pragma acc serial loop firstprivate(a[0:n]) copy(b[0:(calls += 1, n)])
    for (int i = 0; i < n; i++) b[i] += a[i];
    CHECK_EQ(calls, 4);
    for (int i = 0; i < n; i++) CHECK(b[i] == 1 + 3 * a[i]);
}

static int early(int n, int leave)
{
    int sum = 0;
    if (leave) return 0;
    while (n > 100) {
        if (--n == 120) break;
    }
    double a[n][3];
#pragma acc enter data create(a)
#pragma acc parallel loop present(a)
    for (int i = 0; i < n; i++) a[i][0] = a[i][2] = i;
#pragma acc exit data copyout(a)
    for (int z = 1; z < 3; z++) {
        if (z == leave) continue;
        int b[n + z];
#pragma acc kernels copyout(b)
        for (int i = 0; i < n + z; i++) b[i] = i * z;
        sum += b[n];
    }
    switch (n) {
        case 7: {
            char *c = __builtin_alloca(n);
#pragma acc parallel loop copyout(c[0:n]) reduction(+:sum)
            for (int i = 0; i < n; i++) {
                if (i > 1) {
                    int d[n - 4];
                    for (int j = 0; j < n - 4; j++) d[j] = i;
                    sum += d[n - 5];
                }
                c[i] = (char)i;
            }
            sum += c[n - 1];
            break;
        }
        default: sum = -1;
    }
    return sum + (int)(a[2][0] + a[n - 1][2]);
}

int main(void)
{
    double a[40], b[40];
    for (int i = 0; i < 40; i++) a[i] = i, b[i] = 1;
    sections(a, b, 40, 1);
    CHECK_EQ(early(7, 0), 7 + 14 + 20 + 6 + 2 + 6);
    return report();
}
