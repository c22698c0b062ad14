/* A directive only on the outermost loop of a nest, whose inner loops declare variables, jump, choose their neighbours,
   gather, and add to what the directive reduces. Arrays are present without sections, and may be parts of one. */
#include "check.h"
#include <stdlib.h>

enum { NX = 37, NY = 21, Q = 9 };

static int mod(int a, int n) { return (a % n + n) % n; }

static void neighbours(int nx, int ny, double *out, const double *in)
{
#pragma acc parallel loop default(present)
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            int i = y * nx + x, e = x == nx - 1 ? i : i + 1, w = x == 0 ? i : i - 1;
            int n = y == ny - 1 ? i : i + nx, s = y == 0 ? i : i - nx;
            out[i] = in[e] - 2 * in[w] + 3 * in[n] - 4 * in[s];
        }
}

static void gathered(int nx, int ny, double *out, const double *in, const int *index)
{
#pragma acc parallel loop default(present)
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++)
            out[y * nx + x] = in[index[y * nx + x]];
}

static void escapes(int nx, int ny, double *out)
{
#pragma acc parallel loop default(present)
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            double z = x + y;
            int steps = 50;
            while (steps > 0) {
                if (z > 100)
                    break;
                steps--;
                z += y + 1;
            }
            if (steps == 7) {
                out[y * nx + x] = -1;
                continue;
            }
            out[y * nx + x] = steps + z;
        }
}

static void directions(int nx, int ny, double *to, const double *from)
{
    const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
#pragma acc parallel loop default(present) copyin(cx, cy)
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            double rho = 0, own[Q];
            for (int q = 0; q < Q; q++) {
                own[q] = from[q * nx * ny + (y - cy[q] + ny) % ny * nx + (x - cx[q] + nx) % nx];
                rho += own[q];
            }
            for (int q = 0; q < Q; q++)
                to[q * nx * ny + y * nx + x] = own[q] + rho;
        }
}

/* `last` and `kept` go from one iteration of the inner loop to the next. */
static void carried(int nx, int ny, double *out, const double *in)
{
#pragma acc parallel loop default(present)
    for (int y = 0; y < ny; y++) {
        double last = y, kept[2] = {1, 2};
        for (int x = 0; x < nx; x++) {
            out[y * nx + x] = last + kept[x % 2];
            last = in[y * nx + x];
            kept[x % 2] = last + 1;
        }
    }
}

static void totals(int nx, int ny, double (*a)[NY][NX], double *out)
{
    double sum = 0, largest = -1;
    int count = 0;
#pragma acc parallel loop reduction(+:sum,count) reduction(max:largest) default(present)
    for (int q = 0; q < Q; q++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                double twice = 2 * a[q][y][x];
                sum = sum + twice;
                largest = largest > twice ? largest : twice;
                if (twice > 100)
                    count++;
                a[q][y][x] = twice;
            }
    out[0] = sum, out[1] = largest, out[2] = count;
}

/* The sum so far is stored: its order counts. */
static void sums_so_far(int nx, int ny, double *out)
{
#pragma acc parallel loop default(present)
    for (int y = 0; y < ny; y++) {
        double sum = 0;
        for (int x = 0; x < nx; x++) {
            sum += x + y;
            out[y * nx + x] = sum;
        }
    }
}

static int differ(const double *a, const double *b, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += a[i] != b[i];
    return count;
}

int main(void)
{
    enum { N = NX * NY };
    double *both = malloc(2 * N * sizeof *both), *in = both, *out = both + N, want[N];
    double(*a)[NY][NX] = malloc(Q * sizeof *a), *b = malloc(Q * N * sizeof *b), *wide = malloc(Q * N * sizeof *wide), totals_of[3];
    int index[N];
    for (int i = 0; i < N; i++)
        in[i] = i % 101, index[i] = i * 17 % N;

    /* `in` and `out` are parts of one array, and one mapping. */
#pragma acc data copy(both[0:2 * N]) copyin(index)
    {
        neighbours(NX, NY, out, in);
#pragma acc update self(out[0:N])
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                int i = y * NX + x;
                want[i] = in[x == NX - 1 ? i : i + 1] - 2 * in[x == 0 ? i : i - 1]
                          + 3 * in[y == NY - 1 ? i : i + NX] - 4 * in[y == 0 ? i : i - NX];
            }
        CHECK(differ(out, want, N) == 0);
    }
    /* Now each has its own. */
#pragma acc data copyin(in[0:N], index) copyout(out[0:N])
    {
        for (int turn = 0; turn < 3; turn++)
            gathered(NX, NY, out, in, index);
    }
    for (int i = 0; i < N; i++)
        want[i] = in[index[i]];
    CHECK(differ(out, want, N) == 0);
#pragma acc data copyin(in[0:N]) copyout(out[0:N])
    neighbours(NX, NY, out, in);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            int i = y * NX + x;
            want[i] = in[x == NX - 1 ? i : i + 1] - 2 * in[x == 0 ? i : i - 1]
                      + 3 * in[y == NY - 1 ? i : i + NX] - 4 * in[y == 0 ? i : i - NX];
        }
    CHECK(differ(out, want, N) == 0);

#pragma acc data copyout(out[0:N])
    escapes(NX, NY, out);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            double z = x + y;
            int steps = 50;
            for (; steps > 0 && z <= 100; steps--)
                z += y + 1;
            want[y * NX + x] = steps == 7 ? -1 : steps + z;
        }
    CHECK(differ(out, want, N) == 0);

    for (int i = 0; i < Q * N; i++)
        b[i] = i % 13;
#pragma acc data copyin(b[0:Q * N]) copyout(wide[0:Q * N])
    directions(NX, NY, wide, b);
    int bad = 0;
    const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    for (int i = 0; i < N; i++) {
        double rho = 0, own[Q];
        for (int q = 0; q < Q; q++)
            rho += own[q] = b[q * N + mod(i / NX - cy[q], NY) * NX + mod(i % NX - cx[q], NX)];
        for (int q = 0; q < Q; q++)
            bad += wide[q * N + i] != own[q] + rho;
    }
    CHECK(bad == 0);

#pragma acc data copyin(in[0:N]) copyout(out[0:N])
    carried(NX, NY, out, in);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            want[y * NX + x] = (x == 0 ? y : in[y * NX + x - 1]) + (x < 2 ? x + 1 : in[y * NX + x - 2] + 1);
    CHECK(differ(out, want, N) == 0);

    double sum = 0, largest = -1;
    int count = 0;
    for (int i = 0; i < Q * N; i++) {
        double twice = 2 * ((&a[0][0][0])[i] = i % 67);
        sum += twice;
        largest = largest > twice ? largest : twice;
        count += twice > 100;
    }
#pragma acc data copyin(a[0:Q])
    totals(NX, NY, a, totals_of);
    CHECK(totals_of[0] == sum && totals_of[1] == largest && totals_of[2] == count);

#pragma acc data copyout(out[0:N])
    sums_so_far(NX, NY, out);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            want[y * NX + x] = (x ? want[y * NX + x - 1] : 0) + x + y;
    CHECK(differ(out, want, N) == 0);
    return report();
}
