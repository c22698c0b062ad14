// RUN: not accopt %s -o /dev/null --openmp --emit=data 2>&1 | filecheck %s
// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s --check-prefix=WITHOUT --allow-empty

// Routines of OpenMP are named where device code calls them, though they are small, and written in C. In a program without
// OpenMP they are those of one thread.
#include <omp.h>

static int share(int n) { return n / omp_get_num_threads(); }

void f(int n, int *restrict a)
{
    // CHECK: infer-routines-openmp.c:[[# @LINE - 4]]:{{.*}}error: 'omp_get_num_threads' in device code
    // CHECK: help: OpenMP is for host code here
    // WITHOUT-NOT: error
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        a[i] = share(n);
}
