// RUN: accopt %s --stop-before order-product-loops | filecheck %s
// RUN: accopt %s --stop-before hoist-invariant-loops | filecheck %s --check-prefix=TILED

// The statement gets a construct of its own, before that of the triangle, where the arrays do not overlap.
// CHECK-LABEL: llvm.func @correlation
// CHECK:         scf.if %apart
// CHECK:         acc.parallel
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK-NOT:         acc.loop
// CHECK:             llvm.store %cst,
// CHECK-NEXT:        acc.yield
// CHECK:         acc.parallel
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK-NOT:         llvm.store
// CHECK:             acc.loop control(%j
// CHECK-NOT:     acc.parallel
// CHECK:         } else {
// CHECK:           acc.parallel
// CHECK-NOT:       acc.parallel
// CHECK:           accx.fallback
// TILED-LABEL: llvm.func @correlation
// TILED-NOT:     %several
// TILED:         scf.if %apart
// TILED-COUNT-4:   acc.cache
// TILED-NOT:       acc.cache
// TILED:         } else {
// TILED:           acc.parallel
// TILED-NOT:       acc.cache
// TILED:         llvm.func
void correlation(int m, int n, const double *data, double *corr)
{
#pragma acc parallel loop default(present)
    for (int i = 0; i < m - 1; i++) {
        corr[i * m + i] = 1;
#pragma acc loop
        for (int j = i + 1; j < m; j++) {
            corr[i * m + j] = 0;
            for (int k = 0; k < n; k++)
                corr[i * m + j] += data[k * m + i] * data[k * m + j];
            corr[j * m + i] = corr[i * m + j];
        }
    }
}

// Statements on both sides; the one before computes a value that all parts copy.
// CHECK-LABEL: llvm.func @sides
// CHECK-COUNT-3: acc.parallel
// CHECK-NOT:     acc.parallel
void sides(int n, const float *restrict a, const float *restrict b, float *restrict c, float *restrict d)
{
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; i++) {
        float w = a[i];
        d[i] = w;
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = w;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
        if (w > 0)
            d[i + n] = c[i * n];
    }
}

// What the statement changes, the product needs as it was before.
// CHECK-LABEL: llvm.func @changed
// CHECK:         acc.parallel
// CHECK-NOT:     acc.parallel
void changed(int n, const float *restrict a, const float *restrict b, float *restrict c, float *restrict d)
{
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; i++) {
        float w = d[i];
        d[i] = 2 * w;
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = w;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
    }
}
