// RUN: accopt %s --target=host --emit=host | filecheck %s
// RUN: accopt %s --target=host --emit=host -DUNIONS | filecheck %s --check-prefix=UNIONS
// Kernels of programs with unions may access memory as several types.

#ifdef UNIONS
union word {
    float f[2];
    unsigned u[2];
};

void punned(union word *p)
{
    p->f[1] = 2.0f;
}
#endif

// CHECK-NOT: accx.puns
// CHECK: llvm.func @scale_{{.*}}accx.typed
// UNIONS: accx.puns
// UNIONS-NOT: accx.typed
void scale(int n, float *a)
{
#pragma acc parallel loop copy(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] *= 2.0f;
}
