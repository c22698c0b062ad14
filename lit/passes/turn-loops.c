// RUN: accopt %s --emit data -p turn-loops | filecheck %s

// Iterations that count down are numbered from the other end.
// CHECK-LABEL: @down
// CHECK:           %[[BELOW:below.*]] = arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK-NEXT:      acc.loop {{.*}} control(%i : i64)
// CHECK-NEXT:        arith.subi %i, %[[BELOW]] overflow<nsw> : i64
void down(int n, double *a)
{
#pragma acc parallel loop present(a[0:n])
    for (int i = n - 1; i >= 0; i--)
        a[i] = 0;
}

// Each variable of a nest for itself.
// CHECK-LABEL: @both
// CHECK:           %[[I:below.*]] = arith.subi
// CHECK:           %[[J:below.*]] = arith.subi
// CHECK-NEXT:      acc.loop {{.*}} control(%i_3 : i32, %j : i32)
// CHECK-NEXT:        arith.subi %i_3, %[[I]]
// CHECK-NEXT:        arith.subi %j, %[[J]]
void both(int n, int m, double *a)
{
#pragma acc parallel loop collapse(2) present(a[0:n*m])
    for (int i = n; i > 0; i--)
        for (int j = m - 1; j >= 2; j--)
            a[(i - 1) * m + j] = 0;
}

// In order, reduced, or in chunks that gangs are given in order: they stay.
// CHECK-LABEL: @others
// CHECK-NOT:       %below
// CHECK:           llvm.return
void others(int n, double *a)
{
    double sum = 0;
#pragma acc parallel loop present(a[0:n]) reduction(+:sum)
    for (int i = n - 1; i >= 0; i--)
        sum += a[i];
#pragma acc parallel loop gang(static:4) present(a[0:n])
    for (int i = n - 1; i >= 0; i--)
        a[i] = sum;
#pragma acc parallel loop seq present(a[0:n])
    for (int i = n - 1; i >= 0; i--)
        a[i] = a[i + 1];
}
