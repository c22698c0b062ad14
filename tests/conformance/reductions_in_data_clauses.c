/* Reductions of variables in data clauses, on one and on nested directives: results stay on the device if the
   clause leaves them there (OpenACC 3.4, 2.5.15, 2.7). */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

enum { N = 50 };
static int a[N];

#define PRAGMA(text) _Pragma(#text)
#define KEPT(directive, data, inner, begin, end)                                \
    {                                                                           \
        int s = 1, *host = &s;                                                  \
        PRAGMA(acc directive data copyin(a))                                    \
        begin                                                                   \
        inner                                                                   \
        for (int i = 0; i < N; i++)                                             \
            s += a[i];                                                          \
        end                                                                     \
        if (separate_memory())                                                  \
            CHECK_EQ(*host, 1);                                                 \
    }
#define LOOP(clauses) PRAGMA(acc loop clauses)

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = i;
    KEPT(parallel loop reduction(+:s), copyin(s), , , )
    KEPT(kernels loop gang vector, copyin(s) reduction(+:s), , , )
    KEPT(serial loop, reduction(+:s) copyin(s), , , )
    KEPT(parallel, copyin(s), LOOP(reduction(+:s)), {, })
    KEPT(parallel, copyin(s), LOOP(gang reduction(+:s)), {, })
    KEPT(kernels, copyin(s), LOOP(vector reduction(+:s)), {, })
    KEPT(serial reduction(+:s), copyin(s), LOOP(reduction(+:s)), {, })
    KEPT(parallel firstprivate(s), , LOOP(gang reduction(+:s)), {, })
    int s = 1, t = 1, u = 2;
#pragma acc data copy(s) copyin(t)
    {
#pragma acc parallel loop reduction(+:s, t) present(s, t)
        for (int i = 0; i < N; i++)
            s += a[i], t += a[i];
#pragma acc parallel loop copyin(s) reduction(+:s, u)
        for (int i = 0; i < N; i++)
            s += a[i], u += a[i];
    }
    CHECK_EQ(s, 1 + N * (N - 1));
    CHECK_EQ(u, 2 + N * (N - 1) / 2);
    return report();
}
