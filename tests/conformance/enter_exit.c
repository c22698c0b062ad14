/* enter data, exit data: counters, finalize, attach and detach, deep copy of structures. */
#include <openacc.h>
#include "check.h"

#define N 32

typedef struct { int n; float *x, *y; int tag; } Vec;
typedef struct { int rows; Vec *v; } Mat;

static void counters(void)
{
    int a[N], i;

    for (i = 0; i < N; i++)
        a[i] = i;
#pragma acc enter data copyin(a)
#pragma acc enter data copyin(a)
#pragma acc parallel loop present(a)
    for (i = 0; i < N; i++)
        a[i] *= 2;
#pragma acc exit data copyout(a)
    CHECK(acc_is_present(a, sizeof a));
    if (separate_memory())
        CHECK_EQ(a[3], 3);
#pragma acc exit data copyout(a)
    CHECK_EQ(a[3], 6);
    CHECK(!acc_is_present(a, sizeof a));
#pragma acc enter data create(a)
#pragma acc enter data create(a)
#pragma acc exit data delete(a) finalize
    CHECK(!acc_is_present(a, sizeof a));
#pragma acc exit data delete(a)
#pragma acc enter data copyin(a) if(0)
    CHECK(!acc_is_present(a, sizeof a));
#pragma acc enter data copyin(a) async(1)
#pragma acc parallel loop async(1)
    for (i = 0; i < N; i++)
        a[i] += 1;
#pragma acc exit data copyout(a) async(1)
#pragma acc wait(1)
    CHECK_EQ(a[3], 7);
#pragma acc data copy(a)
    {
#pragma acc enter data copyin(a)
#pragma acc parallel loop
        for (i = 0; i < N; i++)
            a[i] += 1;
    }
    CHECK(acc_is_present(a, sizeof a));
#pragma acc exit data copyout(a) wait
    CHECK_EQ(a[3], 8);
}

static void members(int n)
{
    Vec *p = malloc(sizeof *p), local;
    int i;

    p->n = n;
    p->x = malloc(n * sizeof(float));
    p->y = malloc(n * sizeof(float));
    p->tag = 4;
    for (i = 0; i < n; i++)
        p->x[i] = i, p->y[i] = 1;
#pragma acc enter data copyin(p[0:1])
#pragma acc enter data copyin(p->x[0:n]) create(p->y[0:p->n])
#pragma acc parallel loop present(p)
    for (i = 0; i < p->n; i++)
        p->y[i] = p->x[i] * p->tag;
#pragma acc exit data copyout(p->y[0:n]) delete(p->x[0:n])
#pragma acc exit data delete(p[0:1])
    for (i = 0; i < n; i++)
        CHECK_NEAR(p->y[i], 4 * i);
    local = *p;
#pragma acc data copy(local) copyin(local.x[0:n]) copy(local.y[0:n])
    {
#pragma acc parallel loop
        for (i = 0; i < local.n; i++)
            local.y[i] += local.x[i];
#pragma acc serial
        local.tag = 9;
    }
    CHECK_EQ(local.tag, 9);
    CHECK(local.x == p->x && local.y == p->y);
    for (i = 0; i < n; i++)
        CHECK_NEAR(local.y[i], 5 * i);
    free(p->x);
    free(p->y);
    free(p);
}

static void deep(void)
{
    Mat m;
    int r, i;
    float total = 0;

    m.rows = 5;
    m.v = malloc(m.rows * sizeof(Vec));
    for (r = 0; r < m.rows; r++) {
        m.v[r].n = 4 + r;
        m.v[r].tag = r;
        m.v[r].x = malloc(m.v[r].n * sizeof(float));
        m.v[r].y = NULL;
        for (i = 0; i < m.v[r].n; i++)
            m.v[r].x[i] = r;
    }
#pragma acc enter data copyin(m)
#pragma acc enter data copyin(m.v[0:m.rows])
    for (r = 0; r < m.rows; r++) {
#pragma acc enter data copyin(m.v[r].x[0:m.v[r].n])
    }
#pragma acc parallel loop present(m) reduction(+:total)
    for (r = 0; r < m.rows; r++) {
        int k;
        for (k = 0; k < m.v[r].n; k++) {
            m.v[r].x[k] += 1;
            total += m.v[r].x[k];
        }
    }
    CHECK_NEAR(total, 4 * 1 + 5 * 2 + 6 * 3 + 7 * 4 + 8 * 5);
    for (r = 0; r < m.rows; r++) {
#pragma acc exit data copyout(m.v[r].x[0:m.v[r].n])
    }
#pragma acc exit data delete(m.v[0:m.rows])
#pragma acc exit data delete(m)
    CHECK_NEAR(m.v[4].x[7], 5);
    for (r = 0; r < m.rows; r++)
        free(m.v[r].x);
    free(m.v);
}

static void attachment(void)
{
    Vec s;
    float a[N], b[N];
    int i;

    for (i = 0; i < N; i++)
        a[i] = i, b[i] = 100 + i;
    s.n = N;
    s.x = a;
    s.y = b;
    s.tag = 0;
#pragma acc enter data copyin(a, b)
#pragma acc enter data copyin(s)
#pragma acc enter data attach(s.x, s.y)
#pragma acc parallel loop present(s)
    for (i = 0; i < s.n; i++)
        s.x[i] += s.y[i];
#pragma acc exit data detach(s.x)
#pragma acc exit data detach(s.y) finalize
#pragma acc exit data delete(s)
#pragma acc exit data copyout(a) delete(b)
    CHECK_NEAR(a[2], 104);
    CHECK(s.x == a);
}

int main(void)
{
    counters();
    members(20);
    deep();
    attachment();
    return report();
}
