/* kernels: values that loops combine in variables which the region itself declares. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

#define N 1000

static int a[N];
static double b[N], out[8], changed[N];

static void flat(void)
{
    double sum = 0, most = -1e9, least = 1e9, weighted = 0;
    int positive = 0;
    unsigned bits = 0;
    float last = 0;

#pragma acc kernels copyin(a, b) copyout(out)
    {
        double s = 0, m = -1e9, l = 1e9, w = 0;
        int p = 0;
        unsigned o = 0;
        float carried = 0;
        for (int i = 0; i < N; i++)
            s += b[i];
        for (int i = 0; i < N; i++) {
            if (b[i] > m)
                m = b[i];
            l = b[i] < l ? b[i] : l;
        }
        for (int i = 0; i < N; i++)
            if (b[i] > 0)
                p++;
        for (int i = 0; i < N; i++)
            o |= a[i] & 255;
        for (int i = 0; i < N; i++)
            carried = carried * 0.5f + a[i];
        for (int i = 0; i < N / 100; i++)
            for (int j = 0; j < 100; j++)
                w += b[i * 100 + j] * (i + j);
        out[0] = s, out[1] = m, out[2] = l, out[3] = p, out[4] = o, out[5] = carried, out[6] = w;
    }
    for (int i = 0; i < N; i++) {
        sum += b[i];
        most = b[i] > most ? b[i] : most;
        least = b[i] < least ? b[i] : least;
        positive += b[i] > 0;
        bits |= a[i] & 255;
        last = last * 0.5f + a[i];
        weighted += b[i] * (i / 100 + i % 100);
    }
    CHECK(out[0] == sum);
    CHECK(out[1] == most);
    CHECK(out[2] == least);
    CHECK(out[3] == positive);
    CHECK(out[4] == bits);
    CHECK(out[5] == last);
    CHECK(out[6] == weighted);
}

/* Two arrays that may be one: the host decides; the values are the same in both versions. */
static void step(int n, double *from, double *to, double *result)
{
#pragma acc kernels copyin(from[0:n]) copy(to[0:n]) copyout(result[0:2])
    {
        double change = 0;
        int count = 0;
        for (int i = 1; i < n - 1; i++) {
            double new = (from[i - 1] + from[i + 1]) / 2, d = new > from[i] ? new - from[i] : from[i] - new;
            to[i] = new;
            if (d > change)
                change = d;
            count += d > 1;
        }
        result[0] = change;
        result[1] = count;
    }
}

static void overlapping(void)
{
    double copy[N], result[2], change = 0;
    int count = 0;

    for (int i = 0; i < N; i++)
        copy[i] = b[i];
    step(N, b, changed, result);
    for (int i = 1; i < N - 1; i++) {
        double d = fabs((b[i - 1] + b[i + 1]) / 2 - b[i]);
        change = d > change ? d : change;
        count += d > 1;
    }
    CHECK(result[0] == change && result[1] == count);

    step(N, copy, copy, result);
    change = count = 0;
    for (int i = 1; i < N - 1; i++) {
        double d = fabs((b[i - 1] + b[i + 1]) / 2 - b[i]);
        b[i] = (b[i - 1] + b[i + 1]) / 2;
        change = d > change ? d : change;
        count += d > 1;
    }
    CHECK(result[0] == change && result[1] == count);
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i * 37 % 1001 - 500;
        b[i] = a[i];
    }
    flat();
    overlapping();
    return report();
}
