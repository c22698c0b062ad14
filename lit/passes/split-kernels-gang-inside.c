// RUN: accopt %s --emit=data | filecheck %s

// A loop in order around one that names gang: what stands around it is done once, so one gang does all.
// CHECK-LABEL: llvm.func @in_order
// CHECK:         acc.parallel {{.*}} num_gangs({%{{.*}} : i32})
// CHECK:           acc.loop worker
// CHECK-NOT:       acc.loop gang
// CHECK:         llvm.return
void in_order(int n, int a[5][40], int *r)
{
    int t = 0;
#pragma acc kernels copyin(a[0:5]) copy(r[0:n])
    for (int i = 1; i < n; i++) {
        t = r[i - 1] & 7;
#pragma acc loop independent gang worker
        for (int j = 0; j < 40; j++)
            r[i] = t;
    }
}

// A loop found independent that does more than run the loop that names gang: gangs share the outer one.
// CHECK-LABEL: llvm.func @with_work
// CHECK:         acc.loop private
// CHECK:           acc.loop worker
// CHECK:         llvm.return
void with_work(int a[5][40], int r[5])
{
    int i, j, s;
#pragma acc kernels copyin(a[0:5]) copyout(r[0:5])
    for (i = 0; i < 5; i++) {
        s = 3;
#pragma acc loop gang worker
        for (j = 0; j < 40; j++)
            s += a[i][j];
        r[i] = s;
    }
}

// One that does nothing else leaves the levels where the user wants them.
// CHECK-LABEL: llvm.func @nothing_else
// CHECK:         acc.loop control
// CHECK:           acc.loop gang worker
void nothing_else(int a[5][40], int b[5][40])
{
#pragma acc kernels copyin(a[0:5]) copyout(b[0:5])
    for (int i = 0; i < 5; i++)
#pragma acc loop gang worker
        for (int j = 0; j < 40; j++)
            b[i][j] = a[i][j];
}
