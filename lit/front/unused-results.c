// RUN: accopt %s --emit=acc | filecheck %s
#include <openacc.h>

// Whoever does not look at the device address gets the same done by a routine that does not tell it.
// CHECK-LABEL: llvm.func @unused
// CHECK:         llvm.call @acc_copyin_async(%{{.*}}, %{{.*}}, %cm2{{.*}}) : (!llvm.ptr, i64, i32) -> ()
// CHECK:         llvm.call @acc_create_async
void unused(double *a, long n)
{
    acc_copyin(a, n * 8);
    (void)acc_create(a + n, 8);
}

// CHECK-LABEL: llvm.func @used
// CHECK:         llvm.call @acc_copyin(
void *used(double *a, long n)
{
    return acc_copyin(a, n * 8);
}
