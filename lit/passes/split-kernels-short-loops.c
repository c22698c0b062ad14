// RUN: accopt %s --target=nvptx --stop-before infer-routines | filecheck %s
// RUN: accopt %s --target=host --stop-before infer-routines | filecheck %s --check-prefix THREAD
// RUN: accopt %s --target=nvptx --stop-before infer-routines --sizes=as-written | filecheck %s --check-prefix THREAD

// Loops too short for the lanes are found parallel where several of them fill the lanes together, whether the
// innermost one's sum is a variable or in memory; those of CPU threads, and with sizes as written, are not.
// CHECK-LABEL: llvm.func @products
// CHECK:         acc.loop combined(parallel)
// CHECK:           acc.loop control(%i
// CHECK:             acc.loop control(%j
// CHECK:               scf.for
// CHECK-LABEL: llvm.func @in_memory
// CHECK:           acc.loop control(%i
// CHECK:             acc.loop control(%j
// CHECK:               scf.for
// CHECK-LABEL: llvm.func @with_outer
// CHECK:           acc.loop control(%i
// CHECK:             acc.loop control(%j
// THREAD-LABEL: llvm.func @products
// THREAD-NOT:     acc.loop control(%j
void products(int n, const float (*restrict a)[8][5], const float (*restrict b)[5][6], float (*restrict c)[8][6])
{
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 6; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 5; k++)
                    sum += a[m][i][k] * b[m][k][j];
                c[m][i][j] = sum;
            }
}

void in_memory(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    int m, i, j, k;
#pragma acc parallel loop present(a[0:n*40], b[0:n*30], c[0:n*48])
    for (m = 0; m < n; m++)
        for (i = 0; i < 8; i++)
            for (j = 0; j < 6; j++)
                for (k = 0; k < 5; k++)
                    c[m * 48 + i * 6 + j] += a[m * 40 + i * 5 + k] * b[m * 30 + k * 6 + j];
}

// With less iterations than a warp together, the loop around them counts, too.
void with_outer(int n, const float (*restrict a)[3][3], float (*restrict c)[3][3])
{
#pragma acc parallel loop present(a[0:n], c[0:n])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 3; k++)
                    sum += a[m][i][k] * a[m][k][j];
                c[m][i][j] = sum;
            }
}

// A single short loop has not enough iterations, statements beside the inner loop keep it from being one with
// the loop around, and what iterations pass on keeps its order.
// CHECK-LABEL: llvm.func @single
// CHECK-NOT:     acc.loop control(%i
// CHECK-LABEL: llvm.func @beside
// CHECK-NOT:     acc.loop control(%j
// CHECK-LABEL: llvm.func @passed_on
// CHECK-NOT:     acc.loop control(%j
void single(int n, const float (*restrict a)[8][8], const float (*restrict x)[8], float (*restrict y)[8])
{
#pragma acc parallel loop present(a[0:n], x[0:n], y[0:n])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < 8; i++) {
            float sum = 0.0f;
            for (int k = 0; k < 8; k++)
                sum += a[m][i][k] * x[m][k];
            y[m][i] = sum;
        }
}

void beside(int n, const float (*restrict a)[8][8], float (*restrict c)[8][8], float (*restrict d)[8])
{
#pragma acc parallel loop present(a[0:n], c[0:n], d[0:n])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < 8; i++) {
            d[m][i] = a[m][i][i];
            for (int j = 0; j < 8; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 8; k++)
                    sum += a[m][i][k] + a[m][k][j];
                c[m][i][j] = sum;
            }
        }
}

void passed_on(int n, const float (*restrict a)[8][8], float (*restrict c)[8][8])
{
#pragma acc parallel loop present(a[0:n], c[0:n])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < 8; i++)
            for (int j = 1; j < 8; j++) {
                float sum = c[m][i][j - 1];
                for (int k = 0; k < 8; k++)
                    sum += a[m][i][k] * a[m][k][j];
                c[m][i][j] = sum;
            }
}

// The same in kernels constructs, where a single short loop stays as it is, too.
// CHECK-LABEL: llvm.func @in_kernels
// CHECK:         acc.loop {{.*}}control(%m
// CHECK:           acc.loop control(%i
// CHECK:             acc.loop control(%j
// CHECK:               scf.for
// CHECK-LABEL: llvm.func @single_in_kernels
// CHECK-NOT:     acc.loop control(%i
// CHECK:         llvm.return
// THREAD-LABEL: llvm.func @in_kernels
// THREAD-NOT:     acc.loop control(%j
void in_kernels(int n, const float (*restrict a)[3][3], float (*restrict c)[3][3])
{
#pragma acc kernels present(a[0:n], c[0:n])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 3; k++)
                    sum += a[m][i][k] * a[m][k][j];
                c[m][i][j] = sum;
            }
}

void single_in_kernels(int n, const float (*restrict a)[8][8], const float (*restrict x)[8], float (*restrict y)[8])
{
#pragma acc kernels loop independent present(a[0:n], x[0:n], y[0:n])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < 8; i++) {
            float sum = 0.0f;
            for (int k = 0; k < 8; k++)
                sum += a[m][i][k] * x[m][k];
            y[m][i] = sum;
        }
}
