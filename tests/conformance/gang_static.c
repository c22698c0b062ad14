/* gang(static:n): loops of one region with equal trip counts and chunks give an iteration to the same
   gang, which may then read what it wrote before without any synchronisation. */
#include <stdio.h>

#define N 203
#define M 7

static int a[N], b[N], c[N], d[N];

static int chained(int chunk)
{
    int wrong = 0;
#pragma acc parallel num_gangs(5) copyout(a, b, c, d)
    {
#pragma acc loop gang(static:chunk)
        for (int i = 0; i < N; i++)
            a[i] = 3 * i;
#pragma acc loop gang(static:chunk) vector
        for (int i = 0; i < N; i++)
            b[i] = a[i] + 1;
#pragma acc loop gang(static:chunk) worker vector
        for (int i = 10; i < 10 + 2 * N; i += 2)
            c[(i - 10) / 2] = b[(i - 10) / 2] + 1;
#pragma acc loop gang(static:chunk)
        for (int i = N - 1; i >= 0; i--)
            d[N - 1 - i] = c[N - 1 - i] + 1;
    }
    for (int i = 0; i < N; i++)
        wrong += a[i] != 3 * i || b[i] != 3 * i + 1 || c[i] != 3 * i + 2 || d[i] != 3 * i + 3;
    return wrong;
}

static int any_chunk(void)
{
    int wrong = 0;
#pragma acc parallel copyout(a, b)
    {
#pragma acc loop gang(static:*)
        for (int i = 0; i < N; i++)
            a[i] = i ^ 5;
#pragma acc loop gang(static:*) vector
        for (int i = 0; i < N; i++)
            b[i] = a[i] * 2;
    }
    for (int i = 0; i < N; i++)
        wrong += b[i] != (i ^ 5) * 2;
    return wrong;
}

static int with_reductions_and_privates(void)
{
    int sum = 0, largest = -1, wrong = 0, t[3], last;
    int grid[29][M];
#pragma acc parallel loop gang(static:4) vector reduction(+:sum) reduction(max:largest) private(t, last)
    for (int i = 0; i < N; i++) {
        last = i;
        for (int k = 0; k < 3; k++)
            t[k] = last * k;
        sum += t[2];
        largest = t[1] > largest ? t[1] : largest;
    }
    wrong += sum != N * (N - 1) || largest != N - 1;

    sum = 0;
#pragma acc parallel loop gang(static:8) reduction(+:sum)
    for (int i = 0; i < N; i++) {
#pragma acc loop vector reduction(+:sum)
        for (int j = 0; j < M; j++)
            sum += i + j;
    }
    wrong += sum != M * N * (N - 1) / 2 + N * M * (M - 1) / 2;

#pragma acc parallel loop collapse(2) gang(static:6) vector copyout(grid)
    for (int i = 0; i < 29; i++)
        for (int j = 0; j < M; j++)
            grid[i][j] = 100 * i + j;
    for (int i = 0; i < 29; i++)
        for (int j = 0; j < M; j++)
            wrong += grid[i][j] != 100 * i + j;
    return wrong;
}

int main(void)
{
    int wrong = any_chunk() + with_reductions_and_privates();
    for (int chunk = 1; chunk < 300; chunk = chunk * 5 + 1)
        wrong += chained(chunk);
    printf("gang static: %d wrong\n", wrong);
    return wrong != 0;
}
