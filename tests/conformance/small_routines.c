/* Functions of an element, called in constructs in different styles: what they hide must not change what is computed. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 37, COLUMNS = 29 };
typedef struct { int row, column; } Place;

static inline int at(int i, int j, int m) { return i * m + j; }
static double *element(double *a, int i, int j) { return &a[at(i, j, COLUMNS)]; }
static int index_of(Place p) { return at(p.row, p.column, COLUMNS); }
static void put(double *a, int i, double v) { a[i] = v; }

#pragma acc routine seq
static double clamped(double x)
{
    if (x < 0)
        return 0;
    if (x > 100)
        return 100;
    return x;
}

#pragma acc routine seq
static double power(double x, int n) { return n == 0 ? 1 : x * power(x, n - 1); }

static void add_to(double *total, double x) { *total += x; }

static double row_sum(const double *row, int n)
{
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += row[j];
    return sum;
}

/* Loops that one thread runs, in every spelling: each function is a polynomial in x. */
#define SEQUENTIAL(name, clauses) \
    _Pragma("acc routine seq") static double name(double x, int n) \
    { \
        double sum = 0, part = 0; \
        _Pragma(clauses) \
        for (int k = 0; k < n; k++) { \
            part = x * k; \
            sum += part + 1; \
        } \
        return sum; \
    }
SEQUENTIAL(marked, "acc loop seq")
SEQUENTIAL(with_private, "acc loop seq private(part)")
SEQUENTIAL(reduced, "acc loop seq private(part) reduction(+:sum)")
SEQUENTIAL(by_default, "acc loop private(part) reduction(+:sum)")
SEQUENTIAL(found_by_compiler, "acc loop auto")

#pragma acc routine seq
static double collapsed(double x, int n)
{
    double sum = 0;
#pragma acc loop seq collapse(2)
    for (int k = 0; k < n; k++)
        for (int l = 0; l < 1; l++)
            sum += x * k + 1;
#pragma acc loop seq
    for (int k = n; k > 0; k--) {
        if (k > 2)
            continue;
        sum += k;
    }
    return sum - 3;
}

static int check(const char *what, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i]) {
            printf("%s failed: element %d is %g, not %g\n", what, i, a[i], b[i]);
            return 1;
        }
    return 0;
}

int main(void)
{
    int n = ROWS * COLUMNS, bad = 0;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *want = malloc(n * sizeof *want);
    for (int k = 0; k < n; k++) {
        b[k] = k % 211 - 50;
        a[k] = want[k] = 0;
    }
    for (int i = 1; i < ROWS - 1; i++)
        for (int j = 0; j < COLUMNS; j++)
            want[i * COLUMNS + j] = b[(i - 1) * COLUMNS + j] + b[(i + 1) * COLUMNS + j];
#pragma acc kernels
    for (int i = 1; i < ROWS - 1; i++)
        for (int j = 0; j < COLUMNS; j++)
            a[at(i, j, COLUMNS)] = b[at(i - 1, j, COLUMNS)] + b[at(i + 1, j, COLUMNS)];
    bad += check("index function", a, want, n);

#pragma acc parallel loop collapse(2) copy(a[0:n]) copyin(b[0:n])
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            Place p = {i, j};
            *element(a, i, j) = clamped(b[index_of(p)]);
        }
    for (int k = 0; k < n; k++)
        want[k] = b[k] < 0 ? 0 : b[k] > 100 ? 100 : b[k];
    bad += check("returned address", a, want, n);

    double sums[ROWS], wanted[ROWS];
#pragma acc parallel loop copyin(b[0:n]) copyout(sums)
    for (int i = 0; i < ROWS; i++)
        put(sums, i, row_sum(&b[i * COLUMNS], COLUMNS));
    for (int i = 0; i < ROWS; i++) {
        wanted[i] = 0;
        for (int j = 0; j < COLUMNS; j++)
            wanted[i] += b[i * COLUMNS + j];
    }
    bad += check("sums of rows", sums, wanted, ROWS);

#pragma acc parallel loop copyout(sums)
    for (int i = 0; i < ROWS; i++) {
        double total = 0;
        for (int j = 0; j < 5; j++)
            add_to(&total, power(2, j) * i);
        sums[i] = total;
    }
    for (int i = 0; i < ROWS; i++)
        wanted[i] = 31.0 * i;
    bad += check("address of a local variable", sums, wanted, ROWS);

    double (*values)[6] = malloc(ROWS * sizeof *values);
#pragma acc parallel loop copyout(values[0:ROWS])
    for (int i = 0; i < ROWS; i++) {
        values[i][0] = marked(i, COLUMNS);
        values[i][1] = with_private(i, COLUMNS);
        values[i][2] = reduced(i, COLUMNS);
        values[i][3] = by_default(i, COLUMNS);
        values[i][4] = found_by_compiler(i, COLUMNS);
        values[i][5] = collapsed(i, COLUMNS);
    }
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < ROWS; i++) {
            sums[i] = values[i][k];
            wanted[i] = i * (COLUMNS * (COLUMNS - 1) / 2) + COLUMNS;
        }
        bad += check("loop of one thread", sums, wanted, ROWS);
    }

    puts(bad ? "small routines failed" : "small routines right");
    return bad != 0;
}
