/*
 * 2D heat equation on any number of ranks: each has a slab of rows on its device. After each step neighbours
 * exchange border rows between device copies, and every tenth step all ranks learn the largest change. Rank 0
 * checks the result against a run of its own.
 *
 *     OMPI_CC=accc mpicc -O3 heat_mpi.c -o heat && mpirun -n 4 ./heat [n [steps]]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(i, j) ((size_t)(i) * n + (j))

typedef struct { int n, rows; double *now, *next; } Slab; /* rows 0 and rows + 1 belong to neighbours */

static Slab new_slab(int n, int first, int rows)
{
    Slab s = {n, rows, malloc((rows + 2) * n * sizeof(double)), malloc((rows + 2) * n * sizeof(double))};
    for (int i = 0; i < rows + 2; i++)
        for (int j = 0; j < n; j++)
            s.now[AT(i, j)] = s.next[AT(i, j)] = (first + i) * 7 % 11 + j * 3 % 5;
    return s;
}

/* One step of a slab; the largest change if `wanted`, else 0. */
static double step(Slab s, int wanted)
{
    int n = s.n, rows = s.rows;
    size_t cells = (size_t)(rows + 2) * n;
    const double *restrict u = s.now;
    double *restrict v = s.next, change = 0;
#pragma acc parallel loop collapse(2) present(u[0:cells], v[0:cells])
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < n - 1; j++)
            v[AT(i, j)] = u[AT(i, j)]
                          + 0.2 * (u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)]
                                   + u[AT(i, j + 1)] - 4 * u[AT(i, j)]);
    if (wanted) {
#pragma acc parallel loop collapse(2) present(u[0:cells], v[0:cells]) reduction(max : change)
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j < n - 1; j++)
                change = fmax(change, fabs(v[AT(i, j)] - u[AT(i, j)]));
    }
    return change;
}

static void exchange(Slab s, int above, int below)
{
    int n = s.n, rows = s.rows;
    double *v = s.next;
#pragma acc host_data use_device(v)
    {
        MPI_Sendrecv(v + AT(1, 0), n, MPI_DOUBLE, above, 0, v + AT(rows + 1, 0), n, MPI_DOUBLE, below, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(v + AT(rows, 0), n, MPI_DOUBLE, below, 1, v, n, MPI_DOUBLE, above, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* `steps` steps with neighbours `above` and `below`; the last largest change. The result is in `now`. */
static double heat(Slab *s, int steps, int above, int below)
{
    size_t cells = (size_t)(s->rows + 2) * s->n;
    double *a = s->now, *b = s->next, change = 0;
#pragma acc data copy(a[0:cells], b[0:cells])
    for (int t = 1; t <= steps; t++) {
        double own = step(*s, t % 10 == 0);
        exchange(*s, above, below);
        if (t % 10 == 0)
            MPI_Allreduce(&own, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        double *other = s->now;
        s->now = s->next;
        s->next = other;
    }
    return change;
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int n = argc > 1 ? atoi(argv[1]) : 130, steps = argc > 2 ? atoi(argv[2]) : 40;
    int first = (n - 2) * rank / ranks, rows = (n - 2) * (rank + 1) / ranks - first;
    int above = rank ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    Slab s = new_slab(n, first, rows);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), change = heat(&s, steps, above, below), took = MPI_Wtime() - start;
    if (rank)
        MPI_Send(s.now + n, rows * n, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    else {
        double *all = malloc((size_t)n * n * sizeof *all);
        memcpy(all + n, s.now + n, (size_t)rows * n * sizeof *all);
        for (int r = 1; r < ranks; r++) {
            int begin = (n - 2) * r / ranks, end = (n - 2) * (r + 1) / ranks;
            MPI_Recv(all + (size_t)(begin + 1) * n, (end - begin) * n, MPI_DOUBLE, r, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        Slab alone = new_slab(n, 0, n - 2);
        for (int t = 1; t <= steps; t++) {
            const double *u = alone.now;
            double *v = alone.next;
            for (int i = 1; i <= n - 2; i++)
                for (int j = 1; j < n - 1; j++)
                    v[AT(i, j)] = u[AT(i, j)]
                                  + 0.2 * (u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)]
                                           + u[AT(i, j + 1)] - 4 * u[AT(i, j)]);
            alone.next = alone.now;
            alone.now = v;
        }
        for (size_t k = n; k < (size_t)n * (n - 1); k++)
            wrong += fabs(all[k] - alone.now[k]) > 1e-12;
        printf("heat: n = %d, steps = %d, ranks = %d, change = %.6f, %d wrong\n", n, steps, ranks, change, wrong);
        if (getenv("HEAT_TIME"))
            printf("%.1f us a step\n", 1e6 * took / steps);
    }
    MPI_Finalize();
    return wrong != 0;
}
