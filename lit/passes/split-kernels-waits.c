// RUN: accopt %s --emit=data | filecheck %s

// The data of a region with several pieces moves after what the region waits for; the pieces follow in its queue.
// CHECK-LABEL: @twice
// CHECK:         acc.data async(%q : i32) {{.*}} wait({%c1 : i32})
// CHECK:           acc.parallel
// CHECK-NOT:       wait(
// CHECK-LABEL: @perhaps
void twice(int n, int q, const float *restrict x, float *restrict y)
{
#pragma acc kernels wait(1) async(q) copyin(x[0:n]) copyout(y[0:n])
    {
        for (int i = 0; i < n; i++)
            y[i] = 2 * x[i];
        for (int i = 0; i < n; i++)
            y[i] += y[i] * n;
    }
}

// Without the data construct, the first piece waits.
// CHECK:         acc.data if(%{{.*}}) {{.*}} wait({%c1{{.*}} : i32})
// CHECK:           acc.parallel {{.*}} wait({%c1{{.*}} : i32})
// CHECK-NOT:       wait(
// CHECK:         llvm.return
void perhaps(int n, const float *restrict x, float *restrict y)
{
#pragma acc kernels wait(1) if (n > 100) copyin(x[0:n]) copyout(y[0:n])
    {
        for (int i = 0; i < n; i++)
            y[i] = 2 * x[i];
        for (int i = 0; i < n; i++)
            y[i] += y[i] * n;
    }
}
