/* Kernels for CPU threads, each with an OpenMP and an OpenACC directive: a compiler takes its own. One line per
   kernel: name, calls, least and median wall-clock µs of a call, CPU µs of a call, a checksum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    DOT = 1 << 24,
    GRID = 4096,
    ROWS = 1 << 18,
    ROW = 27,
    BODIES = 8192,
    MATH = 4 << 20,
    ORDER = 1024,
    SMALL = 1000,
    LAUNCHES = 1000,
    LATTICE = 192,
    BINS = 256,
    CALLS = 400
};

static double *x, *y, *grid, *next, *values, *vector, *product, *room, *later;
static int *starts, *columns;
static float *px, *py, *pz, *fx, *fy, *fz, *in, *out, *left, *right, *square, *little;
static double answer;

static void dot(void)
{
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum)
#pragma acc parallel loop reduction(+ : sum) present(x[0 : DOT], y[0 : DOT])
    for (int i = 0; i < DOT; i++)
        sum += x[i] * y[i];
    answer = sum;
}

static void triad(void)
{
#pragma omp parallel for
#pragma acc parallel loop present(x[0 : DOT], y[0 : DOT])
    for (int i = 0; i < DOT; i++)
        y[i] = 0.5 * y[i] + 0.25 * x[i];
}

static void stencil(void)
{
    double *restrict a = grid, *restrict b = next;
#pragma omp parallel for
#pragma acc parallel loop collapse(2) present(a[0 : GRID * GRID], b[0 : GRID * GRID])
    for (int i = 1; i < GRID - 1; i++)
        for (int j = 1; j < GRID - 1; j++)
            b[i * GRID + j] = 0.25 * (a[i * GRID + j - 1] + a[i * GRID + j + 1]
                                      + a[(i - 1) * GRID + j] + a[(i + 1) * GRID + j]);
}

static void lattice(void)
{
    double *restrict a = room, *restrict b = later;
    const int n = LATTICE;
#pragma omp parallel for
#pragma acc parallel loop collapse(3) present(a[0 : n * n * n], b[0 : n * n * n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                b[(i * n + j) * n + k]
                    = 0.4 * a[(i * n + j) * n + k]
                      + 0.1 * (a[(i * n + j) * n + k - 1] + a[(i * n + j) * n + k + 1]
                               + a[(i * n + j - 1) * n + k] + a[(i * n + j + 1) * n + k]
                               + a[((i - 1) * n + j) * n + k] + a[((i + 1) * n + j) * n + k]);
}

static void csr(void)
{
#pragma omp parallel for
#pragma acc parallel loop present(values[0 : ROWS * ROW], columns[0 : ROWS * ROW], \
                                      starts[0 : ROWS + 1], vector[0 : ROWS], product[0 : ROWS])
    for (int i = 0; i < ROWS; i++) {
        double sum = 0.0;
        for (int k = starts[i]; k < starts[i + 1]; k++)
            sum += values[k] * vector[columns[k]];
        product[i] = sum;
    }
}

static void nbody(void)
{
#pragma omp parallel for
#pragma acc parallel loop present(px[0 : BODIES], py[0 : BODIES], pz[0 : BODIES], fx[0 : BODIES], \
                                      fy[0 : BODIES], fz[0 : BODIES])
    for (int i = 0; i < BODIES; i++) {
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (int j = 0; j < BODIES; j++) {
            float dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
            float r = dx * dx + dy * dy + dz * dz + 1e-4f;
            float inverse = 1.0f / sqrtf(r);
            float s = inverse * inverse * inverse;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        fx[i] = ax;
        fy[i] = ay;
        fz[i] = az;
    }
}

static void mathematics(void)
{
#pragma omp parallel for
#pragma acc parallel loop present(x[0 : MATH], y[0 : MATH])
    for (int i = 0; i < MATH; i++)
        y[i] = exp(x[i]) * sin(x[i]) + log1p(x[i]);
}

static void mathematics_f32(void)
{
#pragma omp parallel for
#pragma acc parallel loop present(in[0 : MATH], out[0 : MATH])
    for (int i = 0; i < MATH; i++)
        out[i] = expf(in[i]) * sinf(in[i]) + log1pf(in[i]);
}

static void matmul(void)
{
#pragma omp parallel for
#pragma acc parallel loop collapse(2) present(left[0 : ORDER * ORDER], right[0 : ORDER * ORDER], \
                                                  square[0 : ORDER * ORDER])
    for (int i = 0; i < ORDER; i++)
        for (int j = 0; j < ORDER; j++) {
            float sum = 0.0f;
            for (int k = 0; k < ORDER; k++)
                sum += left[i * ORDER + k] * right[k * ORDER + j];
            square[i * ORDER + j] = sum;
        }
}

static void escape(void)
{
#pragma omp parallel for schedule(dynamic, 8)
#pragma acc parallel loop present(out[0 : 512 * 512])
    for (int i = 0; i < 512; i++)
        for (int j = 0; j < 512; j++) {
            float cx = i * (3.0f / 512) - 2.0f, cy = j * (2.0f / 512) - 1.0f, zx = 0, zy = 0;
            int steps = 0;
            while (zx * zx + zy * zy < 4.0f && steps < 200) {
                float t = zx * zx - zy * zy + cx;
                zy = 2.0f * zx * zy + cy;
                zx = t;
                steps++;
            }
            out[i * 512 + j] = steps;
        }
}

static void launches(void)
{
    for (int l = 0; l < LAUNCHES; l++) {
#pragma omp parallel for
#pragma acc parallel loop present(little[0 : SMALL])
        for (int i = 0; i < SMALL; i++)
            little[i] = 0.5f * little[i] + 1.0f;
    }
}

static void sums(void)
{
    float sum = 0.0f;
    for (int l = 0; l < LAUNCHES; l++) {
#pragma omp parallel for reduction(+ : sum)
#pragma acc parallel loop reduction(+ : sum) present(little[0 : SMALL])
        for (int i = 0; i < SMALL; i++)
            sum += little[i];
    }
    answer = sum;
}

static void medium(void)
{
    for (int l = 0; l < LAUNCHES / 10; l++) {
#pragma omp parallel for
#pragma acc parallel loop present(in[0 : 100000], out[0 : 100000])
        for (int i = 0; i < 100000; i++)
            out[i] = 0.5f * in[i] + 1.0f;
    }
}

/* Without data directives: every launch maps its arrays. */
static void no_data(void)
{
    double *a = room, *b = later;
#pragma omp parallel for
#pragma acc parallel loop copyin(a[0 : LATTICE * LATTICE * LATTICE]) copy(b[0 : LATTICE * LATTICE * LATTICE])
    for (int i = 0; i < LATTICE * LATTICE * LATTICE; i++)
        b[i] = 0.5 * b[i] + a[i];
}

static double sum_f64(double *a, long n)
{
    double sum = 0.0;
#pragma acc update self(a[0 : n])
    for (long i = 0; i < n; i += 7)
        sum += fabs(a[i]);
    return sum;
}

static double sum_f32(float *a, long n)
{
    double sum = 0.0;
#pragma acc update self(a[0 : n])
    for (long i = 0; i < n; i += 7)
        sum += fabs(a[i]);
    return sum;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static int later_first(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

/* Calls `kernel` for about `budget` µs after once to warm up, long ones at least three times within ten budgets. */
static void measure(const char *name, void (*kernel)(void), double budget)
{
    static double times[CALLS];
    int n = 0;
    kernel();
    double begin = now(), used = cpu();
    while (n < CALLS && now() - begin < (n < 3 ? 10 * budget : budget)) {
        double start = now();
        kernel();
        times[n++] = now() - start;
    }
    used = (cpu() - used) / n;
    qsort(times, n, sizeof *times, later_first);
    printf("%s %d %.2f %.2f %.2f ", name, n, times[0], times[n / 2], used);
}

static double *doubles(long n)
{
    double *a = malloc(n * sizeof *a);
    for (long i = 0; i < n; i++)
        a[i] = 0.25 + (i * 7919 % 1024) / 1024.0;
    return a;
}

static float *floats(long n)
{
    float *a = malloc(n * sizeof *a);
    for (long i = 0; i < n; i++)
        a[i] = 0.25f + (i * 7919 % 1024) / 1024.0f;
    return a;
}

static int wanted(const char *name, int argc, char **argv)
{
    int found = argc < 3;
    for (int i = 2; i < argc; i++)
        found |= strcmp(name, argv[i]) == 0;
    return found;
}

#define RUN(kernel, array, n, sum)                        \
    if (wanted(#kernel, argc, argv)) {                    \
        measure(#kernel, kernel, budget);                 \
        printf("%.9g\n", sum(array, n));                 \
    }

int main(int argc, char **argv)
{
    const double budget = argc > 1 ? atof(argv[1]) : 3e5;
    const long cube = (long)LATTICE * LATTICE * LATTICE;
    x = doubles(DOT), y = doubles(DOT), grid = doubles(GRID * GRID), next = doubles(GRID * GRID);
    values = doubles(ROWS * ROW), vector = doubles(ROWS), product = doubles(ROWS);
    room = doubles(cube), later = doubles(cube);
    px = floats(BODIES), py = floats(BODIES), pz = floats(BODIES);
    fx = floats(BODIES), fy = floats(BODIES), fz = floats(BODIES);
    in = floats(MATH), out = floats(MATH), little = floats(SMALL);
    left = floats(ORDER * ORDER), right = floats(ORDER * ORDER), square = floats(ORDER * ORDER);
    starts = malloc((ROWS + 1) * sizeof *starts), columns = malloc(ROWS * ROW * sizeof *columns);
    for (int i = 0; i <= ROWS; i++)
        starts[i] = i * ROW;
    for (int i = 0; i < BODIES; i++)
        py[i] = (i * 31 % 997) / 997.0f, pz[i] = (i * 17 % 509) / 509.0f;
    for (int k = 0; k < ROWS * ROW; k++)
        columns[k] = (k / ROW + k % 3 + k % ROW / 3 % 3 * 64 + k % ROW / 9 * 4096) % ROWS;
#pragma acc data copyin(x[0 : DOT], y[0 : DOT], grid[0 : GRID * GRID], next[0 : GRID * GRID])          \
    copyin(values[0 : ROWS * ROW], columns[0 : ROWS * ROW], starts[0 : ROWS + 1], vector[0 : ROWS])    \
    copyin(product[0 : ROWS], room[0 : cube], later[0 : cube], px[0 : BODIES], py[0 : BODIES])         \
    copyin(pz[0 : BODIES], fx[0 : BODIES], fy[0 : BODIES], fz[0 : BODIES], in[0 : MATH], out[0 : MATH]) \
    copyin(left[0 : ORDER * ORDER], right[0 : ORDER * ORDER], square[0 : ORDER * ORDER], little[0 : SMALL])
    {
        if (wanted("dot", argc, argv)) {
            measure("dot", dot, budget);
            printf("%.9g\n", answer);
        }
        RUN(stencil, next, GRID * GRID, sum_f64)
        RUN(lattice, later, cube, sum_f64)
        RUN(csr, product, ROWS, sum_f64)
        RUN(nbody, fx, BODIES, sum_f32)
        RUN(mathematics, y, MATH, sum_f64)
        RUN(mathematics_f32, out, MATH, sum_f32)
        RUN(matmul, square, ORDER * ORDER, sum_f32)
        RUN(escape, out, 512 * 512, sum_f32)
        RUN(medium, out, 100000, sum_f32)
        RUN(launches, little, SMALL, sum_f32)
        if (wanted("sums", argc, argv)) {
            measure("sums", sums, budget);
            printf("%.6g\n", answer);
        }
        if (wanted("triad", argc, argv)) {
            measure("triad", triad, budget);
            printf("1\n");
        }
    }
    if (wanted("no_data", argc, argv)) {
        measure("no_data", no_data, budget);
        printf("1\n");
    }
    return 0;
}
