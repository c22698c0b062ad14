// RUN: accopt %s --stop-before infer-routines | filecheck %s

// Several nests in one iteration, and short loops around rows: lanes share them, as with a directive on every loop.
// CHECK-LABEL: @fields
// CHECK:         acc.loop combined(parallel) control(%x
// CHECK:           acc.loop control(%y
// CHECK:             acc.loop control(%z
// CHECK:           acc.loop control(%y
// CHECK:             acc.loop control(%z
// CHECK:         llvm.return
void fields(int n, int m, int k, float (*restrict a)[m][k], float (*restrict b)[m][k])
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int x = 1; x < n; x++) {
        for (int y = 1; y < m; y++)
            for (int z = 1; z < k; z++)
                a[x][y][z] += b[x][y][z] - b[x][y - 1][z];
        for (int y = 0; y < m; y++)
            for (int z = 1; z < k; z++)
                b[x][y][z] -= a[x][y][z];
    }
}

// CHECK-LABEL: @components
// CHECK:         acc.loop combined(parallel) control(%x
// CHECK:           scf.for %q
// CHECK:             acc.loop control(%y
// CHECK:           acc.loop control(%y
// CHECK:         llvm.return
void components(int n, int m, float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:3*n*m], b[0:n*m])
    for (int x = 0; x < n; x++) {
        for (int q = 0; q < 3; q++)
            for (int y = 0; y < m; y++)
                a[(q * n + x) * m + y] = q;
        for (int y = 0; y < m; y++)
            b[x * m + y] = a[x * m + y] + a[(n + x) * m + y] + a[(2 * n + x) * m + y];
    }
}

// One thread runs an iteration: if one of the innermost loops has dependent iterations, if a plane is added up in
// order, and where neighbouring iterations of the outer loop have neighbouring elements.
// CHECK-LABEL: @alone
// CHECK-NOT:     found independent
// CHECK:         llvm.return
void alone(int n, int m, int k, float (*restrict a)[m][k], float (*restrict b)[k][n], float *restrict s)
{
#pragma acc parallel loop present(a[0:n])
    for (int x = 0; x < n; x++) {
        for (int y = 0; y < m; y++)
            for (int z = 0; z < k; z++)
                a[x][y][z] = 0;
        for (int y = 0; y < m; y++)
            for (int z = 1; z < k; z++)
                a[x][y][z] += a[x][y][z - 1];
    }
#pragma acc parallel loop present(a[0:n], s[0:n])
    for (int x = 0; x < n; x++) {
        float sum = 0;
        for (int y = 0; y < m; y++)
            for (int z = 0; z < k; z++)
                sum += a[x][y][z];
        s[x] = sum;
    }
#pragma acc parallel loop present(b[0:m])
    for (int x = 0; x < n; x++) {
        for (int y = 0; y < m; y++)
            for (int z = 0; z < k; z++)
                b[y][z][x] = 0;
        for (int y = 0; y < m; y++)
            for (int z = 1; z < k; z++)
                b[y][z][x] += 1;
    }
}

// Loops along a row in one over the steps of the row, which run in order.
// CHECK-LABEL: @steps
// CHECK:         acc.loop combined(parallel) control(%x
// CHECK:           acc.loop control(%y
// CHECK:           scf.for %t
// CHECK:             acc.loop control(%y
// CHECK:             acc.loop control(%y
// CHECK:         acc.loop combined(parallel) control(%x
// CHECK:           scf.for %t
// CHECK:             acc.loop control(%y
// CHECK:         llvm.return
void steps(int n, int m, int k, float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int x = 0; x < n; x++) {
        for (int y = 0; y < m; y++)
            a[x * m + y] = 0;
        for (int t = 0; t < k; t++) {
            for (int y = 1; y < m - 1; y++)
                b[x * m + y] = a[x * m + y - 1] + a[x * m + y + 1];
            for (int y = 1; y < m - 1; y++)
                a[x * m + y] = b[x * m + y];
        }
    }
#pragma acc parallel loop present(a[0:n*m])
    for (int x = 0; x < n; x++)
        for (int t = 0; t < k; t++)
            for (int y = 0; y < m; y++)
                a[x * m + y] = 0.5f * a[x * m + y] + t;
}

// Not if rows have different numbers of steps, or if a loop along the row depends on itself.
// CHECK-LABEL: @unequal
// CHECK-NOT:     found independent
// CHECK:         llvm.return
void unequal(int n, int m, int k, float *restrict a)
{
#pragma acc parallel loop present(a[0:n*m])
    for (int x = 0; x < n; x++)
        for (int t = 0; t < x; t++)
            for (int y = 0; y < m; y++)
                a[x * m + y] = 0.5f * a[x * m + y] + t;
#pragma acc parallel loop present(a[0:n*m])
    for (int x = 0; x < n; x++)
        for (int t = 0; t < k; t++)
            for (int y = 1; y < m; y++)
                a[x * m + y] = 0.5f * a[x * m + y - 1] + t;
}
