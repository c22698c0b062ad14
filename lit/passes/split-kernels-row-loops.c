// RUN: accopt %s --stop-before infer-routines | filecheck %s
// RUN: accopt %s --stop-before infer-routines --sizes=as-written | filecheck %s --check-prefix=OTHER
// RUN: accopt %s --stop-before infer-routines --target=host | filecheck %s --check-prefix=OTHER
// RUN: accopt %s --stop-before infer-routines --fast-math | filecheck %s --check-prefix=FAST

// Loops over rows beside stores, calls and conditional values: lanes share them.
// CHECK-LABEL: @beside
// CHECK:         acc.loop combined(parallel) control(%i : i32)
// CHECK:           llvm.store
// CHECK:           acc.loop control(%j : i32)
// CHECK:           } attributes {accx.why = "found independent: {{.*}}independent
// CHECK:         acc.loop combined(parallel)
// CHECK:           llvm.call @expf
// CHECK:           acc.loop control(%j
// CHECK:         acc.loop combined(parallel)
// CHECK:           scf.if
// CHECK:             acc.loop control(%j
// CHECK:             acc.loop control(%j
// OTHER-NOT:     found independent
float expf(float);
void beside(int n, int m, float *restrict a, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < m; j++)
            a[i * m + j] = 0;
    }
#pragma acc parallel loop gang vector present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float w = expf(s[i]);
        for (int j = 0; j < m; j++)
            a[i * m + j] *= w;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        if (s[i] < 0)
            continue;
        for (int j = 0; j < m; j++)
            a[i * m + j] += 1;
        for (int j = 1; j < m; j++)
            a[i * m + j] *= 2;
        s[i] += 1;
    }
}

// Values that a row's elements are combined to, if the result does not depend on their order. Sums may then
// wrap around.
// CHECK-LABEL: @reduced
// CHECK:         %[[SUM:.*]] = acc.reduction {{.*}}recipe(@reduction_add_i32)
// CHECK:         %[[COUNT:.*]] = acc.reduction {{.*}}recipe(@reduction_add_i32)
// CHECK:         %[[MOST:.*]] = acc.reduction {{.*}}recipe(@reduction_max_f32)
// CHECK:         acc.loop reduction({{.*}}%[[MOST]]
// CHECK:           arith.addi {{.*}} : i32
// CHECK-NOT:       acc.loop reduction
// FAST-LABEL:  @reduced
// FAST-COUNT-2:  acc.loop reduction
void reduced(int n, int m, const int *restrict k, const float *restrict a, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*m], k[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        int sum = 3, count = 0;
        float most = a[i * m];
        for (int j = 0; j < m; j++) {
            sum += k[i * m + j];
            if (k[i * m + j] > 7)
                count++;
            most = a[i * m + j] > most ? a[i * m + j] : most;
        }
        s[i] = sum + count + most;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            sum += a[i * m + j];
        s[i] = sum;
    }
}

// One thread processes a row: where neighbouring iterations of the outer loop have neighbouring elements, where
// one of the loops has dependent iterations, or a number of them that each row computes, beside an array of the row,
// under a reduction of the outer loop, beside a call that may do anything, and inside another parallel loop.
// CHECK-LABEL: @alone
// CHECK-NOT:     found independent
// CHECK:         llvm.return
#pragma acc routine seq
void other(float *);
void alone(int n, int m, float *restrict a, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < m; j++)
            a[j * n + i] = 0;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            a[i * m + j] = 0;
        for (int j = 1; j < m; j++)
            a[i * m + j] = a[i * m + j - 1] + 1;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < i * i; j++)
            a[i * m + j] = 0;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float own[3] = {s[i], 1, 2};
        for (int j = 0; j < m; j++)
            a[i * m + j] = own[j % 3];
        s[i] = own[i % 3];
    }
    float sum = 0;
#pragma acc parallel loop reduction(+:sum) present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        sum += s[i];
        for (int j = 0; j < m; j++)
            a[i * m + j] = 0;
    }
    s[0] = sum;
#pragma acc parallel loop present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        other(s + i);
        for (int j = 0; j < m; j++)
            a[i * m + j] = 0;
    }
#pragma acc parallel loop present(a[0:n*m], s[0:n*n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int k = 0; k < n; k++) {
            s[i * n + k] = 0;
            for (int j = 0; j < m; j++)
                a[(i * n + k) * m + j] = 0;
        }
}

// Rows of kernels constructs, beside loops that are parallel already, and rows of which one loop has a directive.
// CHECK-LABEL: @of_kernels
// CHECK:         acc.parallel
// CHECK:           acc.loop reduction({{.*}}) control(%j
// CHECK:           acc.loop reduction({{.*}}) control(%j
// CHECK:           } attributes {{.*}}accx.in_order
// CHECK:           acc.loop control(%j
// CHECK:         acc.parallel
// CHECK:           acc.loop vector{{.*}} reduction({{.*}}) control(%j
// CHECK:           acc.loop reduction({{.*}}) control(%j
// CHECK:           } attributes {{.*}}accx.in_order
// OTHER-LABEL: @of_kernels
// OTHER-NOT:     in_order
void of_kernels(int n, int m, const float *restrict a, float *restrict b, float *restrict s)
{
#pragma acc kernels present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        float most = a[i * m], sum = 0;
        for (int j = 0; j < m; j++)
            most = a[i * m + j] > most ? a[i * m + j] : most;
        for (int j = 0; j < m; j++)
            sum += a[i * m + j] - most;
        for (int j = 0; j < m; j++)
            b[i * m + j] = a[i * m + j] / sum;
    }
#pragma acc parallel loop gang present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float most = a[i * m], sum = 0;
#pragma acc loop vector reduction(max:most)
        for (int j = 0; j < m; j++)
            most = a[i * m + j] > most ? a[i * m + j] : most;
        for (int j = 0; j < m; j++)
            sum += a[i * m + j] - most;
        s[i] = sum;
    }
}

// Not beside a loop over gangs, which the rows' gangs would share, nor a loop with loops inside.
// CHECK-LABEL: @of_gangs
// CHECK-NOT:     accx.in_order
// CHECK:         llvm.return
void of_gangs(int n, int m, const float *restrict a, float *restrict s)
{
#pragma acc kernels present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float most = a[i * m], sum = 0;
        for (int j = 0; j < m; j++)
            most = a[i * m + j] > most ? a[i * m + j] : most;
        for (int j = 0; j < m; j++)
            for (int k = 0; k < n; k++)
                sum += a[i * m + j] - most;
        s[i] = sum;
    }
}
