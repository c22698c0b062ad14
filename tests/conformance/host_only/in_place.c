/* Arrays that a construct copies around itself: working in place must not show. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 5000 };
static int wrong;
static double table[N];

static void check(const char *what, int good)
{
    if (!good) {
        printf("%s failed\n", what);
        wrong = 1;
    }
}

static void set(double *a, double value)
{
    for (int i = 0; i < N; i++)
        a[i] = value;
}

static void add(const double *a, double *b)
{
#pragma acc parallel loop copyin(a[0 : N]) copy(b[0 : N])
    for (int i = 0; i < N; i++)
        b[i] += a[i];
}

#pragma acc routine seq
static void increment(double *a, int i)
{
    a[i] += 1.0;
}

struct pair {
    double first, *values;
};

int main(void)
{
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    set(a, 1.0), set(b, 0.0);

#pragma acc parallel loop copyin(a[0 : N]) copyout(b[0 : N])
    for (int i = 0; i < N; i++) {
        a[i] += 1.0;
        b[i] = a[i];
    }
    check("copyin that is written", a[0] == 1.0 && a[N - 1] == 1.0 && b[0] == 2.0 && b[N - 1] == 2.0);

#pragma acc parallel loop copyin(a[0 : N])
    for (int i = 0; i < N; i++)
        increment(a, i);
    check("copyin that a routine writes", a[0] == 1.0 && a[N - 1] == 1.0);

    double *alias = a;
#pragma acc parallel loop copyin(a[0 : N])
    for (int i = 0; i < N; i++) {
        double *p = i % 2 ? a : a + 1;
        p[0] = 9.0;
    }
    check("copyin written through another pointer", a[0] == 1.0 && a[N - 1] == 1.0);

#pragma acc parallel loop create(a[0 : N])
    for (int i = 0; i < N; i++)
        a[i] = 5.0;
    check("create", a[0] == 1.0 && a[N - 1] == 1.0);

    for (int turn = 0; turn < 50; turn++)
        add(a, b);
    check("again and again", b[0] == 52.0 && b[N - 1] == 52.0);

#pragma acc data copyin(a[0 : N])
    {
        set(a, 100.0);
        add(a, b); /* the device has ones */
        check("present in part", b[0] == 53.0 && b[N - 1] == 53.0);
#pragma acc update device(a[0 : N])
        add(a, b);
        check("updated", b[0] == 153.0);
    }
    add(a, b);
    check("no longer present", b[0] == 253.0 && b[N - 1] == 253.0);

#pragma acc enter data create(b[0 : N])
    add(a, b);
    check("present afterwards", b[0] == 253.0);
#pragma acc exit data delete(b)
    add(a, b);
    check("deleted", b[0] == 353.0);

#pragma acc parallel loop copy(b[0 : N]) async(1)
    for (int i = 0; i < N; i++)
        b[i] = i;
#pragma acc wait(1)
    check("asynchronous", b[7] == 7.0);

    set(table, 3.0);
#pragma acc parallel loop
    for (int i = 0; i < N; i++)
        table[i] *= 2.0;
    check("implicit copy of a global array", table[0] == 6.0 && table[N - 1] == 6.0);

    double sum = 0.0, local[100];
    for (int i = 0; i < 100; i++)
        local[i] = i;
#pragma acc parallel loop reduction(+ : sum) copy(sum) copy(local)
    for (int i = 0; i < 100; i++) {
        sum += local[i];
        local[i] = -1.0;
    }
    check("reductions", sum == 4950.0 && local[99] == -1.0);

    set(b, 0.0);
    struct pair p = {4.0, b};
#pragma acc parallel loop copy(p) copy(p.values[0 : N])
    for (int i = 0; i < N; i++)
        p.values[i] = p.first;
    check("attached pointers", p.values == b && b[0] == 4.0 && b[N - 1] == 4.0);

    int condition = N < 10;
#pragma acc parallel loop copy(b[0 : N]) if (condition)
    for (int i = 0; i < N; i++)
        b[i] = 8.0;
    check("on the host", b[N - 1] == 8.0);

    set(b, 1.0);
#pragma acc kernels copy(a[0 : N], b[0 : N])
    {
        for (int i = 0; i < N; i++)
            a[i] = b[i] + 1.0;
        for (int i = 0; i < N; i++)
            b[i] = a[i] + 1.0;
    }
    check("kernels", a[0] == 2.0 && b[0] == 3.0 && b[N - 1] == 3.0);
    check("the host's own pointer", alias[0] == 2.0);
    return wrong;
}
