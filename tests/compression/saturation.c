/* Stores that may saturate: -DREAL=float or double, -DCODE=the format of y. */

void scale(long n, const REAL *restrict x, REAL *restrict y)
{
#pragma acc parallel loop present(x[0:n], y[0:n]) compression(CODE: y)
    for (long i = 0; i < n; i++)
        y[i] = x[i];
}

void overwrite(long n, const REAL *restrict x, REAL *restrict y)
{
#pragma acc parallel loop present(x[0:n], y[0:n]) compression(CODE: y)
    for (long i = 0; i < n; i++) {
        y[i] = x[i];
        y[i] = 0;
    }
}

void rows(long n, const REAL *restrict x, REAL *restrict y)
{
#pragma acc parallel loop gang present(x[0:n], y[0:n]) compression(CODE: y)
    for (long r = 0; r < n / 10; r++) {
        REAL sum = 0;
#pragma acc loop vector reduction(+:sum)
        for (long i = 0; i < 10; i++)
            sum += x[10 * r + i] > 1 ? 1 : 0;
        if (sum > 3)
            y[r] = 1000;
    }
}
