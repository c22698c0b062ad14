// RUN: accopt %s --emit=data --target=nvptx | filecheck %s

// Variables that a kernels region declares are reduced like those of the function, and are never copied.

// CHECK-LABEL: @sum(
// CHECK: acc.create varPtr(%[[S:.*]] : !llvm.ptr) varType(f64)
// CHECK: llvm.store {{.*}} : f64
// CHECK: acc.reduction {{.*}} recipe(@reduction_add_f64)
// CHECK: acc.loop reduction
// CHECK-NOT: acc.copyout accPtr({{.*}} to varPtr(%[[S]] :
void sum(int n, const double *restrict a, double *restrict out)
{
#pragma acc kernels present(a[0:n], out[0:1])
    {
        double s = 0;
        for (int i = 0; i < n; i++)
            s += a[i];
        out[0] = s;
    }
}

// Both loops of a nest use one variable.
// CHECK-LABEL: @largest_change(
// CHECK: acc.loop reduction{{.*}} control(%i
// CHECK-NOT: llvm.store
// CHECK: acc.loop reduction{{.*}} control(%j
// CHECK-NOT: acc.loop
void largest_change(int n, double (*restrict a)[n], double (*restrict b)[n], double *restrict out)
{
#pragma acc kernels present(a[0:n], b[0:n], out[0:1])
    {
        double change = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double d = b[i][j] - a[i][j];
                if (d > change)
                    change = d;
                a[i][j] = b[i][j];
            }
        out[0] = change;
    }
}

// The order of these iterations matters; the other value of the loop stays with it.
// CHECK-LABEL: @carried(
// CHECK-NOT: acc.loop
// CHECK: scf.for {{.*}} iter_args({{.*}}, {{.*}})
// CHECK: accx.why = "a value is carried between iterations"
// CHECK-NOT: acc.loop
void carried(int n, const double *restrict a, double *restrict out)
{
#pragma acc kernels present(a[0:n], out[0:2])
    {
        double last = 0, sum = 0;
        for (int i = 0; i < n; i++) {
            last = last * 0.5 + a[i];
            sum += a[i];
        }
        out[0] = last;
        out[1] = sum;
    }
}
