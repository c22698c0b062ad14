/* kernels and serial: clauses, several loops and statements in order, dependences, mixed code. */
#include "check.h"

#define N 100

static int global_total;

static void ordered_statements(void)
{
    int a[N], b[N], c[N], i, last, first = -1;

#pragma acc kernels copyout(a, b, c) copyout(last)
    {
        for (i = 0; i < N; i++)
            a[i] = i;
        for (i = 0; i < N; i++)
            b[i] = a[N - 1 - i];
        c[0] = 0;
        for (i = 1; i < N; i++)
            c[i] = c[i - 1] + i;
        last = c[N - 1];
        c[0] = last;
    }
    CHECK_EQ(a[5], 5);
    CHECK_EQ(b[5], N - 6);
    CHECK_EQ(c[N - 1], N * (N - 1) / 2);
    CHECK_EQ(last, N * (N - 1) / 2);
    CHECK_EQ(c[0], last);

#pragma acc kernels
    {
        for (i = 0; i < N; i++)
            c[i] = 1;
        for (i = 1; i < N; i++)
            c[i] += c[i - 1];
        last = c[N - 1];
        if (last > 50)
            first = c[0];
        else
            first = c[1];
        global_total += last;
    }
    CHECK_EQ(last, N);
    CHECK_EQ(first, 1);
    CHECK_EQ(global_total, N);
}

static void recurrences(void)
{
    int i, j, a[N], m[20][30];
    long fib[50];

    for (i = 0; i < N; i++)
        a[i] = i % 7;
#pragma acc kernels copy(a)
    for (i = 2; i < N; i++)
        a[i] = a[i - 1] + a[i - 2] - a[i];
    {
        int r[N], k;
        for (k = 0; k < N; k++)
            r[k] = k % 7;
        for (k = 2; k < N; k++)
            r[k] = r[k - 1] + r[k - 2] - r[k];
        CHECK(memcmp(r, a, sizeof a) == 0);
    }
#pragma acc kernels
    {
        fib[0] = 0;
        fib[1] = 1;
        for (i = 2; i < 50; i++)
            fib[i] = fib[i - 1] + fib[i - 2];
    }
    CHECK_EQ(fib[49], 7778742049L);
#pragma acc kernels loop collapse(2) independent copyout(m)
    for (i = 0; i < 20; i++)
        for (j = 0; j < 30; j++)
            m[i][j] = i * 100 + j;
#pragma acc kernels
    for (i = 1; i < 20; i++)
        for (j = 0; j < 30; j++)
            m[i][j] += m[i - 1][j];
    CHECK_EQ(m[19][29], 100 * 190 + 20 * 29);
    CHECK_EQ(m[3][1], 604);
}

static void clauses(void)
{
    int i, a[N], on = 0, sum = 7;

    for (i = 0; i < N; i++)
        a[i] = i;
#pragma acc kernels if(on)
    for (i = 0; i < N; i++)
        a[i] += 1;
#pragma acc kernels self
    for (i = 0; i < N; i++)
        a[i] += 1;
#pragma acc kernels loop gang(16) vector(64) copy(a)
    for (i = 0; i < N; i++)
        a[i] += 1;
#pragma acc kernels num_gangs(8) num_workers(2) vector_length(32) async(4)
#pragma acc loop gang worker vector
    for (i = 0; i < N; i++)
        a[i] += 1;
#pragma acc wait(4)
#pragma acc kernels loop worker(4)
    for (i = 0; i < N; i++)
        a[i] += 1;
#pragma acc kernels loop auto
    for (i = 0; i < N; i++)
        a[i] += 1;
#pragma acc kernels loop reduction(+:sum)
    for (i = 0; i < N; i++)
        sum += a[i];
    for (i = 0; i < N; i++)
        CHECK_EQ(a[i], i + 6);
    CHECK_EQ(sum, 7 + N * (N - 1) / 2 + 6 * N);
#pragma acc kernels
    {
        sum = 0;
#pragma acc loop seq
        for (i = 0; i < N; i++)
            sum = sum * 3 % 1000 + a[i];
    }
    {
        int want = 0, k;
        for (k = 0; k < N; k++)
            want = want * 3 % 1000 + k + 6;
        CHECK_EQ(sum, want);
    }
}

static void serial(void)
{
    int i, n = 10, fact[11], s = 3, t = 4, out = 0;

#pragma acc serial copyout(fact) private(s) firstprivate(t)
    {
        s = 1;
        fact[0] = 1;
        for (i = 1; i <= n; i++) {
            s *= i;
            fact[i] = s + t - 4;
        }
    }
    CHECK_EQ(fact[10], 3628800);
    CHECK_EQ(s, 3);
#pragma acc serial loop reduction(+:out)
    for (i = 0; i < n; i++)
        out += fact[i] % 100;
    {
        int k, want = 0;
        for (k = 0; k < n; k++)
            want += fact[k] % 100;
        CHECK_EQ(out, want);
    }
#pragma acc serial loop gang vector copy(fact)
    for (i = 0; i < n; i++)
        fact[i]++;
    CHECK_EQ(fact[3], 7);
#pragma acc serial reduction(*:out) if(n > 100)
    out *= 2;
#pragma acc serial async
    { fact[0] = 99; }
#pragma acc wait
    CHECK_EQ(fact[0], 99);
#pragma acc serial copyout(out)
    {
        /* an inner while, a goto, a switch */
        int x = 27, steps = 0;
        while (x != 1) {
            if (x % 2 == 0)
                x /= 2;
            else
                x = 3 * x + 1;
            steps++;
            if (steps > 1000)
                goto done;
        }
done:
        switch (steps) {
        case 111: out = 1; break;
        case 112: out = 2; /* fall through */
        default: out = 3;
        }
    }
    CHECK_EQ(out, 1);
}

int main(void)
{
    ordered_statements();
    recurrences();
    clauses();
    serial();
    return report();
}
