/* A support vector machine with Gaussian kernel, trained by sequential minimal optimisation: of all points
   two are chosen by reductions, and every point's error is corrected in parallel (P2SMO).
   Usage: svm [points] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FEATURES 4
#define COST 10.0
#define GAMMA 0.5
#define TOLERANCE 1e-3

static unsigned state = 12345;

static double random_number(void)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / (double)(1 << 24);
}

/* Points in two shells, which no plane tells apart; a few are labelled wrongly. */
static void make_points(int n, double x[n][FEATURES], double y[n])
{
    for (int i = 0; i < n; i++) {
        double norm = 0;
        for (int k = 0; k < FEATURES; k++) {
            x[i][k] = random_number() - 0.5;
            norm += x[i][k] * x[i][k];
        }
        y[i] = i % 2 ? 1 : -1;
        double radius = y[i] > 0 ? 1.6 + 0.8 * random_number() : 1.2 * random_number();
        for (int k = 0; k < FEATURES; k++)
            x[i][k] *= radius / sqrt(norm);
        if (i % 50 == 7)
            y[i] = -y[i];
    }
}

#pragma acc routine seq
static double gauss(const double *a, const double *b)
{
    double distance = 0;
    for (int k = 0; k < FEATURES; k++)
        distance += (a[k] - b[k]) * (a[k] - b[k]);
    return exp(-GAMMA * distance);
}

/* Whether a multiplier may move up (side 1) or down (side -1) along its label. */
#pragma acc routine seq
static int may_move(double alpha, double y, int side)
{
    return y * side > 0 ? alpha < COST : alpha > 0;
}

/* Trains; the bias, and in `steps` how many pairs it took. */
static double train(int n, double x[n][FEATURES], double y[n], double alpha[n], int *steps)
{
    double *error = malloc(n * sizeof(double)), high, low;
    *steps = 0;
#pragma acc data copyin(x, y) copyout(alpha) create(error[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) {
            alpha[i] = 0;
            error[i] = -y[i];
        }
        for (;;) {
            int up = n, down = n;
            high = INFINITY, low = -INFINITY;
#pragma acc parallel loop reduction(min:high) reduction(max:low)
            for (int i = 0; i < n; i++) {
                if (may_move(alpha[i], y[i], 1))
                    high = fmin(high, error[i]);
                if (may_move(alpha[i], y[i], -1))
                    low = fmax(low, error[i]);
            }
            if (low <= high + 2 * TOLERANCE || ++*steps > 100 * n)
                break;
#pragma acc parallel loop reduction(min:up, down)
            for (int i = 0; i < n; i++) {
                if (error[i] == high && may_move(alpha[i], y[i], 1) && i < up)
                    up = i;
                if (error[i] == low && may_move(alpha[i], y[i], -1) && i < down)
                    down = i;
            }
            double change[2];
#pragma acc serial copyout(change)
            {
                double curvature = 2 - 2 * gauss(x[up], x[down]);
                double step = (low - high) / fmax(curvature, 1e-12);
                step = fmin(step, y[up] > 0 ? COST - alpha[up] : alpha[up]);
                step = fmin(step, y[down] > 0 ? alpha[down] : COST - alpha[down]);
                alpha[up] += y[up] * step;
                alpha[down] -= y[down] * step;
                change[0] = step;
                change[1] = -step;
            }
#pragma acc parallel loop copyin(change)
            for (int i = 0; i < n; i++)
                error[i] += change[0] * gauss(x[up], x[i]) + change[1] * gauss(x[down], x[i]);
        }
    }
    free(error);
    return -(high + low) / 2;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200, steps, wrong = 0, vectors = 0;
    double(*x)[FEATURES] = malloc(sizeof(double[n][FEATURES])), *y = malloc(n * sizeof(double));
    double *alpha = malloc(n * sizeof(double)), balance = 0, worst = 0;
    make_points(n, x, y);
    double bias = train(n, x, y, alpha, &steps);

#pragma acc parallel loop copyin(x[0:n], y[0:n], alpha[0:n]) reduction(+:wrong) reduction(max:worst)
    for (int i = 0; i < n; i++) {
        double value = bias;
        for (int j = 0; j < n; j++)
            value += alpha[j] * y[j] * gauss(x[j], x[i]);
        if (value * y[i] <= 0)
            wrong++;
        /* the conditions of Karush, Kuhn and Tucker */
        if (alpha[i] < COST)
            worst = fmax(worst, 1 - value * y[i]);
        if (alpha[i] > 0)
            worst = fmax(worst, value * y[i] - 1);
    }
    for (int i = 0; i < n; i++) {
        balance += alpha[i] * y[i];
        vectors += alpha[i] > 0;
    }
    int good = worst < 2.5 * TOLERANCE && fabs(balance) < 1e-9 && wrong <= n / 40 && vectors < n;
    printf("%d of %d points on the wrong side, bias %.2f\n", wrong, n, bias);
    puts(good ? "the machine is optimal" : "WRONG");
    if (!good)
        printf("worst violation %g, balance %g, %d vectors, %d steps\n", worst, balance, vectors, steps);
    free(x);
    free(y);
    free(alpha);
    return !good;
}
