/* Several runs in one block, with calls between them that no region may span. */
#include <stdio.h>
#include <stdlib.h>
#define N 16
static double a[N], b[N];

#define PAIR(k)                                   \
    _Pragma("acc parallel loop")                  \
    for (int i = 0; i < N; i++) a[i] += k;        \
    _Pragma("acc parallel loop")                  \
    for (int i = 0; i < N; i++) b[i] += a[i] * k;

int main(void)
{
    PAIR(1)
    if (getenv("NO_SUCH_VARIABLE")) return 3;
    PAIR(2)
    a[1] += 1;
    PAIR(3)
    PAIR(4)
    if (getenv("NO_SUCH_VARIABLE")) return 4;
    PAIR(5)
    double sum = 0;
    for (int i = 0; i < N; i++) sum += a[i] * 3 + b[i] * (i + 1);
    printf("%.9g\n", sum);
    return 0;
}
