// RUN: accopt %s --target=host --emit=llvm | filecheck %s

// Lanes would access any element, so the loop is not run in lanes. LLVM unrolls the short loop, and may then vectorise
// the other, as its iterations do not depend on each other.
// CHECK-LABEL: define void @points_{{.*}}_host
// CHECK:         load double, ptr %x_{{.*}}!llvm.access.group
// CHECK:         store double {{.*}}!llvm.access.group
// CHECK:         br label %bb{{[0-9]+}}, !llvm.loop
void points(int n, const int *restrict at, double x[5][1000], double y[5][1000])
{
#pragma acc parallel loop present(at[0:n], x[0:5], y[0:5])
    for (int i = 0; i < n; i++)
        for (int m = 0; m < 5; m++)
            x[m][at[i]] = 0.5 * x[m][at[i]] + y[m][i];
}

// LLVM would not unroll this one.
// CHECK-LABEL: define void @longer_{{.*}}_host
// CHECK-NOT:     llvm.access.group
// CHECK:         ret void
void longer(int n, const int *restrict at, double x[9][1000], double y[9][1000])
{
#pragma acc parallel loop present(at[0:n], x[0:9], y[0:9])
    for (int i = 0; i < n; i++)
        for (int m = 0; m < 9; m++)
            x[0][at[i]] = 0.5 * x[0][at[i]] + y[m][i];
}

// Nor may iterations with atomic operations be mixed.
// CHECK-LABEL: define void @counted_{{.*}}_host
// CHECK-NOT:     llvm.access.group
// CHECK:         ret void
void counted(int n, const int *restrict at, int x[5][1000])
{
#pragma acc parallel loop present(at[0:n], x[0:5])
    for (int i = 0; i < n; i++)
        for (int m = 0; m < 5; m++)
#pragma acc atomic update
            x[m][at[i]] += m;
}
