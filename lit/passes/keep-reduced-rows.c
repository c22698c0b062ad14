// RUN: accopt %s --target=nvptx --stop-before schedule-loops | filecheck %s
// RUN: accopt %s --target=nvptx --stop-before schedule-loops --sizes=as-written | filecheck %s --check-prefix=KEPT
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS

// A sum over two loops, of which the inner one is short: chosen at launch.
// CHECK-LABEL: @statistics
// CHECK:         %few_or_long_rows = arith.cmpi sge
// CHECK:         scf.if %few_or_long_rows {
// CHECK:           acc.parallel combined(loop) dataOperands(%x_1, %out_1 : !llvm.ptr, !llvm.ptr) {
// CHECK:         } else {
// CHECK:           acc.parallel {{.*}}num_workers(%c32{{.*}}) vector_length(%c32
// KEPT-LABEL: @statistics
// KEPT-NOT:     num_workers(
// SAYS: remark: loop over 'p': a warp takes a row of fewer than 1024 iterations, of at least 16 rows (tested at launch)
void statistics(int n, int c, int m, const float *restrict x, float *restrict out)
{
#pragma acc parallel loop present(x[0:n*c*m], out[0:c])
    for (int k = 0; k < c; k++) {
        float s = 0;
#pragma acc loop reduction(+:s)
        for (int b = 0; b < n; b++)
#pragma acc loop reduction(+:s)
            for (int p = 0; p < m; p++)
                s += x[(b * c + k) * m + p];
        out[k] = s;
    }
}

// Constant numbers: decided at once, here for a collapsed loop.
// CHECK-LABEL: @constant
// CHECK-NOT:     scf.if
// CHECK:         acc.parallel {{.*}}num_workers(%c32{{.*}}) vector_length(%c32
void constant(int c, const float *restrict x, float *restrict out)
{
#pragma acc parallel loop gang present(x[0:64*c*100], out[0:c])
    for (int k = 0; k < c; k++) {
        float s = 0;
#pragma acc loop vector collapse(2) reduction(+:s)
        for (int b = 0; b < 64; b++)
            for (int p = 0; p < 100; p++)
                s += x[(b * c + k) * 100 + p];
        out[k] = s;
    }
}

// Not for few or long rows, a triangle, a loop beside, and a loop inside.
// CHECK-LABEL: @others
// CHECK-NOT:     num_workers(%c32
// CHECK:         llvm.return
void others(int n, int c, int m, const float *restrict x, float *restrict out)
{
#pragma acc parallel loop present(x[0:n*c*m], out[0:c])
    for (int k = 0; k < c; k++) {
        float s = 0;
#pragma acc loop reduction(+:s)
        for (int b = 0; b < 9; b++)
#pragma acc loop reduction(+:s)
            for (int p = 0; p < m; p++)
                s += x[(b * c + k) * m + p];
        out[k] = s;
    }
#pragma acc parallel loop present(x[0:n*c*2000], out[0:c])
    for (int k = 0; k < c; k++) {
        float s = 0;
#pragma acc loop reduction(+:s)
        for (int b = 0; b < n; b++)
#pragma acc loop reduction(+:s)
            for (int p = 0; p < 2000; p++)
                s += x[(b * c + k) * 2000 + p];
        out[k] = s;
    }
#pragma acc parallel loop present(x[0:n*c*m], out[0:c])
    for (int k = 0; k < c; k++) {
        float s = 0;
#pragma acc loop reduction(+:s)
        for (int b = 0; b < n; b++)
#pragma acc loop reduction(+:s)
            for (int p = 0; p < k; p++)
                s += x[(b * c + k) * m + p];
        out[k] = s;
    }
#pragma acc parallel loop present(x[0:n*c*m], out[0:c])
    for (int k = 0; k < c; k++) {
        float s = 0, t = 0;
#pragma acc loop reduction(+:s)
        for (int b = 0; b < n; b++)
#pragma acc loop reduction(+:s)
            for (int p = 0; p < m; p++)
                s += x[(b * c + k) * m + p];
#pragma acc loop reduction(+:t)
        for (int p = 0; p < m; p++)
            t += x[k * m + p];
        out[k] = s + t;
    }
#pragma acc parallel loop present(x[0:n*c*m], out[0:c])
    for (int k = 0; k < c; k++) {
        float s = 0;
#pragma acc loop reduction(+:s)
        for (int b = 0; b < n; b++)
#pragma acc loop reduction(+:s)
            for (int p = 0; p < m; p++)
                for (int q = 0; q < 3; q++)
                    s += x[(b * c + k) * m + p + q];
        out[k] = s;
    }
}
