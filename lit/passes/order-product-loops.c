// RUN: accopt %s --stop-before find-shared-sections | filecheck %s

// The loop over the terms of a product runs in order in each thread, without its clause.
// CHECK-LABEL: llvm.func @product
// CHECK:         acc.loop combined(parallel) control(%i
// CHECK:           acc.loop control(%j
// CHECK-NOT:         acc.reduction
// CHECK:             scf.for %k
// CHECK:             } {accx.why = "the loops around it share what it reads in shared memory"}
void product(int n, float (*restrict a)[n], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
#pragma acc loop reduction(+:sum)
            for (int k = 0; k < n; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

// So does the one of a triangle, stored twice.
// CHECK-LABEL: llvm.func @covariance
// CHECK:         acc.loop combined(parallel) control(%i
// CHECK:           acc.loop control(%j
// CHECK-NOT:         acc.reduction
// CHECK:             scf.for %k
// CHECK:             } {accx.why = "the loops around it share what it reads in shared memory"}
void covariance(int n, const double *data, double *result)
{
    double sum;
#pragma acc parallel loop present(data[0:n*n], result[0:n*n]) private(sum)
    for (int i = 0; i < n; i++) {
#pragma acc loop private(sum)
        for (int j = i; j < n; j++) {
            sum = 0;
#pragma acc loop reduction(+:sum)
            for (int k = 0; k < n; k++)
                sum += data[k * n + i] * data[k * n + j];
            result[i * n + j] = sum / (n - 1);
            result[j * n + i] = result[i * n + j];
        }
    }
}

// Rows that share nothing keep their lanes.
// CHECK-LABEL: llvm.func @rows
// CHECK:         acc.loop reduction(
void rows(int n, float (*restrict a)[n], float (*restrict b)[n], float *restrict c)
{
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
#pragma acc loop reduction(+:sum)
        for (int k = 0; k < n; k++)
            sum += a[i][k] * b[i][k];
        c[i] = sum;
    }
}
