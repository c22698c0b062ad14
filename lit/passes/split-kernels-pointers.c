// RUN: accopt %s --target=nvptx --stop-before infer-routines | filecheck %s

// A pointer that device code computes is not known to the host, which maps data for constructs: the loops that use
// it are one construct with the code that computes it.
typedef unsigned long size_t;
void *malloc(size_t);

// CHECK-LABEL: llvm.func @allocated
// CHECK-NOT:     acc.create
// CHECK:         acc.parallel
// CHECK:           llvm.call @malloc
// CHECK-NOT:     acc.parallel
// CHECK:         llvm.return
void set(unsigned *n);

void allocated(unsigned bytes, float *restrict v)
{
    unsigned n;
    set(&n);
#pragma acc kernels copy(v[0:n])
    for (int j = 0; j < 3; j++) {
        float *r = malloc(bytes);
        for (int i = 0; i < n; i++)
            r[i] = v[i] + i;
        for (int i = 0; i < n; i++)
            v[i] += r[n - 1 - i];
    }
}

// Numbers are kept in variables on the device, so that loops are constructs of their own.
// CHECK-LABEL: llvm.func @number
// CHECK:         acc.create
// CHECK-COUNT-3: acc.parallel
// CHECK:         llvm.return
void number(int n, float *restrict v)
{
#pragma acc kernels copy(v[0:n])
    {
        for (int i = 0; i < n; i++)
            v[i] += 1;
        float s = v[3] + v[0];
        for (int i = 0; i < n; i++)
            v[i] += s;
    }
}
