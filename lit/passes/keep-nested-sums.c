// RUN: accopt %s --target=nvptx --stop-before find-shared-sections | filecheck %s
// RUN: accopt %s --target=nvptx --stop-before find-shared-sections --sizes=as-written | filecheck %s --check-prefix=KEPT
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS

// A filter's taps: fewer than a warp's lanes, so that a thread adds them, and the sum is a value.
// CHECK-LABEL: llvm.func @filter
// CHECK-NOT:     scf.if
// CHECK:         acc.loop combined(parallel) control(%i
// CHECK:           acc.loop control(%j
// CHECK:             scf.for %l {{.*}} iter_args(
// CHECK:               scf.for %m {{.*}} iter_args(
// CHECK:             accx.why = "the loops around it have a sum for each thread"
// KEPT-LABEL: llvm.func @filter
// KEPT:         acc.loop reduction(
void filter(int n, const float *restrict a, const float *restrict w, float *restrict b)
{
#pragma acc parallel loop gang present(a[0:n*n], w[0:121], b[0:n*n])
    for (int i = 5; i < n - 5; i++) {
#pragma acc loop worker
        for (int j = 5; j < n - 5; j++) {
            float sum = 0;
#pragma acc loop vector reduction(+:sum)
            for (int l = -5; l < 6; l++)
                for (int m = -5; m < 6; m++)
                    sum += w[(l + 5) * 11 + m + 5] * a[(i + l) * n + j + m];
            b[i * n + j] = sum;
        }
    }
}

// Taps along columns, a number known at run time: a thread adds them if there are enough sums.
// CHECK-LABEL: llvm.func @columns
// CHECK:         %many_sums = arith.cmpi sge, %{{.*}}, %c32768
// CHECK:         scf.if %many_sums {
// CHECK:           acc.loop control(%j
// CHECK:             scf.for %k
// CHECK:         } else {
// CHECK:           acc.loop reduction({{.*}} control(%k
// SAYS: keep-nested-sums.c:[[# @LINE + 8]]:13: remark: loop over 'k': a thread runs all of its iterations if those around it are 32768 or more (tested at launch), else lanes share it
void columns(int n, int taps, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n*n], b[0:n*n])
    for (int i = 0; i < n - taps; i++) {
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = 0;
#pragma acc loop reduction(max:sum)
            for (int k = 0; k < taps; k++)
                sum = sum > a[(i + k) * n + j] ? sum : a[(i + k) * n + j];
            b[i * n + j] = sum;
        }
    }
}

// Long rows of their own are for lanes, and so is a reduction of the nest's variable.
// CHECK-LABEL: llvm.func @rows
// CHECK-NOT:     many_sums
// CHECK:         acc.loop reduction({{.*}} control(%k
float rows(int n, int m, const float *restrict a, float *restrict b)
{
    float all = 0;
#pragma acc parallel loop present(a[0:n*n*m], b[0:n*n])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < n; j++) {
            float sum = 0;
#pragma acc loop reduction(+:sum)
            for (int k = 0; k < m; k++)
                sum += a[(i * n + j) * m + k];
            b[i * n + j] = sum;
        }
    }
// CHECK:         acc.loop combined(parallel) reduction({{.*}} control(%i{{[_0-9]*}} : i32, %k{{[_0-9]*}} : i32, %j
#pragma acc parallel loop reduction(+:all) present(a[0:n*n*7])
    for (int i = 0; i < n; i++) {
#pragma acc loop reduction(+:all)
        for (int j = 0; j < n; j++) {
#pragma acc loop reduction(+:all)
            for (int k = 0; k < m; k++)
                all += a[(k * n + i) * n + j];
        }
    }
    return all;
}

// Rows of a table that data select: threads for columns read neighbours. Not if data select the columns, too.
// CHECK-LABEL: llvm.func @gathered
// CHECK:         %many_sums{{.*}} = arith.cmpi sge
// CHECK-NOT:     many_sums{{.*}} = arith
// CHECK:         llvm.return
void gathered(int n, int m, int t, const int *restrict k, const float *restrict table, float *restrict b)
{
#pragma acc parallel loop present(k[0:n*m], table[0:t*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < m; j++) {
            float sum = 0;
#pragma acc loop reduction(+:sum)
            for (int l = 0; l < t; l++)
                sum += table[k[i * t + l] * m + j];
            b[i * m + j] = sum;
        }
    }
#pragma acc parallel loop present(k[0:n*m], table[0:t*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < m; j++) {
            float sum = 0;
#pragma acc loop reduction(+:sum)
            for (int l = 0; l < t; l++)
                sum += table[k[l * t + k[j]] * m + l];
            b[i * m + j] = sum;
        }
    }
}
