// RUN: accopt --emit=acc %s | filecheck %s
// RUN: accopt --emit=ptx %s | filecheck %s --check-prefix=PTX

// A restrict parameter promises that nothing else reaches what it points to: kernels that only read
// it use the read-only cache. A restrict-qualified pointee promises nothing about the parameter.
// CHECK:  llvm.func @scale(%n: i32, %x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %rows: !llvm.ptr)
// PTX:    scale_11_kernel
// PTX:    ld.global.nc
void scale(int n, const float *restrict x, float *restrict y, float *restrict *rows)
{
#pragma acc parallel loop copyin(x[0:n]) copyout(y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = 2.0f * x[i];
}

// CHECK:  llvm.func @plain(%{{.*}}: i32, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// PTX:    plain_21_kernel
// PTX-NOT: ld.global.nc
void plain(int n, const float *x, float *y)
{
#pragma acc parallel loop copyin(x[0:n]) copyout(y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = 2.0f * x[i];
}
