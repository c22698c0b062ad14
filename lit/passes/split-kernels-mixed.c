// RUN: accopt %s --stop-before infer-routines | filecheck %s
// RUN: accopt %s --stop-before infer-routines --target=host | filecheck %s --check-prefix=HOST

// A recurrence beside loops of independent iterations: each iteration of the loop around belongs to one thread of a GPU.
// CHECK-LABEL: @recurrence
// CHECK:         acc.loop control(%x
// CHECK-NOT:       acc.loop
// CHECK:         llvm.return
// HOST-LABEL: @recurrence
// HOST:         acc.loop control(%x
// HOST:           acc.loop control(%y
void recurrence(int n, const float *restrict c, float *restrict a)
{
#pragma acc kernels present(a[0:n], c[0:n*64])
    for (int x = 0; x < n; x++) {
        float row[64];
        for (int y = 0; y < 64; y++)
            row[y] = c[x * 64 + y];
        for (int y = 1; y < 64; y++)
            row[y] += 0.5f * row[y - 1];
        a[x] = row[63];
    }
}

// Lanes share loops of independent iterations in a loop that runs in order, if nothing else does.
// CHECK-LABEL: @steps
// CHECK:         acc.loop control(%x
// CHECK:           scf.for %t
// CHECK:             acc.loop control(%y
// CHECK:         llvm.return
void steps(int n, int m, float *restrict a)
{
#pragma acc kernels present(a[0:n*m])
    for (int x = 0; x < n; x++)
        for (int t = 0; t < 10; t++)
            for (int y = 0; y < m; y++)
                a[x * m + y] = 0.5f * a[x * m + y] + t;
}

// What a directive says is done.
// CHECK-LABEL: @declared
// CHECK:         acc.loop control(%x
// CHECK:           acc.loop control(%y
// CHECK:         llvm.return
void declared(int n, const float *restrict c, float *restrict a)
{
#pragma acc kernels present(a[0:n], c[0:n*64])
    for (int x = 0; x < n; x++) {
        float row[64];
#pragma acc loop independent
        for (int y = 0; y < 64; y++)
            row[y] = c[x * 64 + y];
        for (int y = 1; y < 64; y++)
            row[y] += 0.5f * row[y - 1];
        a[x] = row[63];
    }
}
