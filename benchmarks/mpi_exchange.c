/*
 * What messages cost between neighbours, in microseconds: halo exchanges of n doubles (both directions, from
 * device copies), the least of many; reductions of one double over all ranks, the least mean of a hundred. See
 * docs/scaling.md.
 *
 *     OMPI_CC=accc mpicc -O3 mpi_exchange.c -o exchange && mpirun -n 2 ./exchange
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 20, TURNS = 200 };

static double exchange(double *x, int n, int above, int below)
{
    double best = 1e9;
#pragma acc host_data use_device(x)
    for (int t = 0; t < TURNS; t++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_Sendrecv(x, n, MPI_DOUBLE, above, 0, x + n, n, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(x, n, MPI_DOUBLE, below, 1, x + n, n, MPI_DOUBLE, above, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        best = fmin(best, MPI_Wtime() - start);
    }
    return 1e6 * best;
}

static double reduction(void)
{
    double best = 1e9, own = 1, sum;
    for (int t = 0; t < TURNS; t++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int k = 0; k < 100; k++)
            MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        best = fmin(best, MPI_Wtime() - start);
    }
    return 1e4 * best;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *x = calloc(2 * MOST, sizeof *x);
#pragma acc data copy(x[0:2 * MOST])
    for (int n = 1; n <= MOST; n *= 8) {
        double took = exchange(x, n, (rank + ranks - 1) % ranks, (rank + 1) % ranks);
        double all;
        MPI_Reduce(&took, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("exchange of %8d bytes: %9.2f us\n", 8 * n, all);
    }
    double took = reduction(), all;
    MPI_Reduce(&took, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("reduction: %9.2f us\n", all);
    MPI_Finalize();
}
