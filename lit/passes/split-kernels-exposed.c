// RUN: accopt %s --emit=data | filecheck %s

// Pointers may point at a global whose address the program takes: iterations may depend on each other by it.
int scanf(const char *, ...);
int exposed, hidden, read_in;
int *where(void)
{
    scanf("%d", &read_in);
    return &exposed;
}

// CHECK-LABEL: llvm.func @reads
// CHECK:         'p' may point at 'exposed'
void reads(int n, int *p, int *restrict b)
{
#pragma acc kernels loop copy(p[0:n], b[0:n])
    for (int i = 0; i < n; i++) {
        p[i] = 3;
        b[i] = exposed;
    }
}

// CHECK-LABEL: llvm.func @assigns
// CHECK:         'p' may point at 'exposed'
void assigns(int n, int *p, int *restrict b)
{
#pragma acc kernels loop copy(p[0:n], b[0:n])
    for (int i = 0; i < n; i++) {
        exposed = i;
        b[i] = p[i] + exposed;
    }
}

// CHECK-LABEL: llvm.func @free
// CHECK-NOT:     may point at
// CHECK:         llvm.return
void free(int n, int *p, double *d, int *restrict b)
{
#pragma acc kernels loop copy(p[0:n], b[0:n], d[0:n])
    for (int i = 0; i < n; i++) {
        p[i] = hidden + read_in;
        d[i] = 1;
        b[i] = 2;
    }
}
