/* Loops that name gang inside of loops of a kernels construct: what the outer iteration does around them
   is done once, and it gets their sums and last values in time. */
#include <stdio.h>
static int a[5][40], b[5][40], r[5], q[40];
int main(void)
{
    int i, j, k, s, t, u, n = 5;
    for (i = 0; i < 5; i++)
        for (j = 0; j < 40; j++)
            a[i][j] = (i * 7 + j * 3) % 11;
    /* a sum that the iteration wants */
#pragma acc kernels
    for (i = 0; i < n; i++) {
        s = i;
#pragma acc loop gang worker
        for (j = 0; j < 40; j++)
            for (k = 0; k < 3; k++)
                s += a[i][j] * k;
        r[i] = s;
    }
    printf("%d %d %d\n", r[0], r[1], r[4]);
    /* the same by a clause, in a loop that has to run in order */
#pragma acc kernels loop
    for (i = 1; i < n; i++) {
        t = r[i - 1] % 100;
#pragma acc loop gang vector reduction(+:t)
        for (j = 0; j < 40; j++)
            t += a[i][j];
        r[i] = t;
    }
    printf("%d %d %d\n", r[1], r[2], r[4]);
    /* a temporary of the outer iteration, and last values */
#pragma acc kernels
    for (i = 0; i < n; i++) {
        t = r[i] % 9;
#pragma acc loop gang
        for (j = 0; j < 40; j++) {
            u = a[i][j] + t;
            b[i][j] = u;
        }
    }
    printf("%d %d %d %d\n", b[0][0], b[4][39], t, u);
    /* loops that go on where others have stopped */
#pragma acc kernels
    for (i = 1; i < n; i++) {
#pragma acc loop independent gang worker vector
        for (j = 0; j < 40; j++)
            q[j] = b[i - 1][39 - j];
#pragma acc loop independent gang worker vector
        for (j = 0; j < 40; j++)
            b[i][j] = q[39 - j] + q[j] % 5;
    }
    printf("%d %d %d\n", b[1][3], b[4][0], b[4][39]);
    return 0;
}
