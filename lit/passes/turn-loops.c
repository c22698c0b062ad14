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

// Each variable of a nest for itself; one that may begin far from its end has a complement in the front end's form.
// CHECK-LABEL: @both
// CHECK:           %[[NOT_FIRST:.*]] = arith.subi %cm1, %{{.*}} overflow<nsw> : i32
// CHECK:           %[[END:j_end.*]] = arith.subi
// CHECK:           %[[I:below.*]] = arith.subi
// CHECK:           %[[FIRST:.*]] = arith.subi %{{.*}}, %[[NOT_FIRST]] overflow<nsw> : i32
// CHECK-NEXT:      %[[LOW:.*]] = arith.subi %{{.*}}, %[[END]] overflow<nsw> : i32
// CHECK-NEXT:      acc.loop {{.*}} control(%i_3 : i32, %j : i32) = (%{{.*}}, %[[LOW]] : i32, i32) to (%{{.*}}, %[[FIRST]] : i32, i32)
// CHECK-NEXT:        arith.subi %i_3, %[[I]]
// CHECK:             %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT:        arith.addi %j, %[[ONE]]
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
