// RUN: accopt %s --target=nvptx --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s

// Elements i / 2 of neighbouring iterations are the same or neighbours, so that the nest gets a grid over rows and columns.
// CHECK:      quotients.c:[[# @LINE + 4]]:13: remark: loop mapped to gang (blockIdx), gang dimension 2: tightly nested loops
// CHECK:      quotients.c:[[# @LINE + 5]]:13: remark: loop mapped to gang (blockIdx), vector (threadIdx.x): tightly nested loops
void divided(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n * m], b[0:n * m])
    for (int j = 0; j < n; j++) {
#pragma acc loop
        for (int i = 0; i < m; i++)
            b[j * m + i] = a[(j / 2) * m + i / 2] + a[(j / 2) * m + (i + 1) / 2];
    }
}

// So are they of shifted and unsigned numbers, of rows by pointers to rows, and of 2 * i / 2.
// CHECK:      quotients.c:[[# @LINE + 4]]:13: remark: loop mapped to gang (blockIdx), gang dimension 2: tightly nested loops
// CHECK:      quotients.c:[[# @LINE + 5]]:13: remark: loop mapped to gang (blockIdx), vector (threadIdx.x): tightly nested loops
void shifted(int n, int m, float (*restrict a)[m], float (*restrict b)[m])
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int j = 0; j < n; j++) {
#pragma acc loop
        for (long i = 0; i < m; i++)
            b[j][i] = a[j >> 1][i >> 1] + a[j][(unsigned)i / 2] + a[j][2 * i / 2];
    }
}

// Quotients that move by more than one element, or in steps of an unknown number of iterations, are not contiguous.
// CHECK:      quotients.c:[[# @LINE + 3]]:13: remark: loop mapped to gang (blockIdx): outermost parallel loop
void apart(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n * m], b[0:n * m])
    for (int j = 0; j < n; j++) {
#pragma acc loop
        for (int i = 0; i < m; i++)
            b[j * m + i] = a[(9 * i / 3) * n + j] + a[9 * i / 2] + a[j * i / 2];
    }
}
