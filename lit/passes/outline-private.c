// RUN: accopt %s --emit=nvvm | filecheck %s

// Scalars of the function that iterations assign are private, and only name their originals, which are no arguments
// of the kernel: the arrays, each an object of its own, stay apart.

// CHECK-LABEL: llvm.func @step_{{[0-9]+}}_kernel(%{{[a-z0-9_]+}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{[a-z0-9_]+}}: !llvm.ptr {llvm.noalias}) attributes {
double a[512], b[512];

void step(void)
{
    int i;
    double t, u;
#pragma acc parallel loop present(a, b) private(u)
    for (i = 0; i < 512; i++) {
        t = a[i];
        u = t * t;
        b[i] = t + u;
    }
}
