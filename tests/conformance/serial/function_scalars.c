/* Scalars declared at the top of the function, as C89 has them, under every construct: temporaries, sums of rows
   and last values. */
#include <math.h>
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ROWS 7
#define COLUMNS 45

static int a[ROWS][COLUMNS];
static double out[ROWS][COLUMNS], row[ROWS];
static int global_last, global_sum;

static void show(const char *what)
{
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        sum += (i + 1) * row[i];
        for (int j = 0; j < COLUMNS; j++)
            sum += out[i][j] * ((i + 3 * j) % 11);
        row[i] = 0;
    }
    printf("%s %g\n", what, sum);
}

int main(void)
{
    int i, j, k, left, right, last, hit;
    float t;
    double d, m;

    for (i = 0; i < ROWS; i++)
        for (j = 0; j < COLUMNS; j++)
            a[i][j] = (i * 31 + j * 7) % 13;

#pragma acc kernels loop collapse(2) independent copyin(a) copy(out)
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < COLUMNS; j++) {
            t = a[i][j];
            out[i][j] = 2 * t;
        }
    show("collapsed");

#pragma acc kernels copyin(a) copy(out)
    {
#pragma acc loop independent
        for (i = 0; i < ROWS; i++) {
#pragma acc loop independent
            for (j = 1; j < COLUMNS - 1; j++) {
                left = j - 1;
                right = j + 1;
                d = a[i][left] - 2 * a[i][j] + a[i][right];
                out[i][j] = 0.25 * d;
            }
        }
    }
    show("stencil");

#pragma acc parallel loop copyin(a) copy(row)
    for (i = 0; i < ROWS; i++) {
        d = 0;
#pragma acc loop reduction(+:d)
        for (j = 0; j < COLUMNS; j++)
            d += a[i][j];
        row[i] = d;
    }
    show("row sums");

#pragma acc parallel copyin(a) copy(out)
    {
#pragma acc loop gang
        for (i = 0; i < ROWS; i++) {
#pragma acc loop worker
            for (j = 0; j < COLUMNS; j++) {
                d = 0;
#pragma acc loop vector reduction(+:d)
                for (k = 0; k < ROWS; k++)
                    d += a[k][j] * (i + 1);
                out[i][j] = d;
            }
        }
    }
    show("product");

#pragma acc parallel loop gang copyin(a) copy(row)
    for (i = 0; i < ROWS; i++) {
        m = -1;
        hit = 0;
#pragma acc loop vector
        for (j = 0; j < COLUMNS; j++) {
            last = a[i][j];
            m = MAX(m, last);
            if (last == 5)
                hit = 1;
        }
        row[i] = m + 100 * hit + 1000 * last;
    }
    show("largest, hits and last ones");

#pragma acc parallel loop gang copyin(a) copy(row)
    for (i = 0; i < ROWS; i++) {
#pragma acc loop vector
        for (j = 0; j < COLUMNS; j++)
            t = a[i][j] - 0.5f;
        row[i] = t;
    }
    show("last of a row");

    last = -1;
    hit = 0;
#pragma acc kernels loop independent copyin(a) copy(out)
    for (i = 0; i < ROWS; i++) {
        for (j = 0; j < COLUMNS; j++) {
            last = a[i][j] + i;
            global_last = last + 1;
            out[i][j] = global_last;
            if (last == 12)
                hit = 1;
        }
    }
    printf("last %d global %d hit %d\n", last, global_last, hit);
    show("with globals");

#pragma acc data copy(last, global_sum)
    {
#pragma acc kernels copyin(a)
        for (i = 0; i < ROWS; i++)
            for (j = 0; j < COLUMNS; j += 2) {
                last = a[i][j];
                global_sum += last;
            }
    }
    printf("last %d sum %d\n", last, global_sum);

#pragma acc kernels copyin(a) copy(row) create(d)
    {
#pragma acc loop seq
        for (i = 0; i < ROWS; i++) {
            d = 2;
#pragma acc loop independent
            for (j = 0; j < COLUMNS; j++)
                d += a[i][j];
            row[i] = d + row[(i + ROWS - 1) % ROWS];
        }
    }
    show("rows in order");

#pragma acc kernels loop copyin(a) copy(row)
    for (i = 0; i < ROWS; i++) {
        m = 2;
#pragma acc loop independent gang worker vector reduction(max:m)
        for (j = 0; j < COLUMNS; j++) {
            global_last = a[i][j] + (i > 0 ? (int)row[i - 1] % 3 : 0);
            if (m < global_last)
                m = global_last;
        }
        row[i] = m;
    }
    printf("global %d\n", global_last);
    show("gangs inside of a loop in order");

    hit = 3;
#pragma acc parallel num_gangs(3) copyin(a) copy(row)
    {
#pragma acc loop auto reduction(+:hit)
        for (i = 1; i < ROWS; i++) {
            hit++;
            row[i] = row[i - 1] + a[i][0];
        }
    }
    printf("hits %d\n", hit);
    show("one loop in order");
    return 0;
}
