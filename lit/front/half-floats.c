// RUN: accopt %s --emit=acc | filecheck %s
// RUN: accopt %s --emit=ptx --sm=75 | filecheck %s --check-prefix=PTX
// _Float16 is evaluated in float; one operation that is rounded at once is one on f16.

_Float16 scale = 2.5f16;
#pragma acc declare copyin(scale)

// CHECK-LABEL: llvm.func @once
// CHECK-NEXT:    %{{.*}} = arith.mulf %{{.*}}, %{{.*}} : f16
// CHECK-NEXT:    llvm.return %{{.*}} : f16
_Float16 once(_Float16 a, _Float16 b)
{
    return a * b;
}

// CHECK-LABEL: llvm.func @excess
// CHECK:         arith.mulf {{.*}} : f32
// CHECK:         arith.addf {{.*}} : f32
// CHECK-NEXT:    arith.truncf {{.*}} : f32 to f16
_Float16 excess(_Float16 a, _Float16 b)
{
    return a * b + 0.1f16;
}

// CHECK-LABEL: llvm.func @kept
// CHECK:         arith.mulf {{.*}} : f32
// CHECK-NOT:     arith.truncf
// CHECK:         llvm.return
double kept(_Float16 a, _Float16 b)
{
    return a * b;
}

// CHECK-LABEL: llvm.func @compared
// CHECK:         arith.cmpf olt, %{{.*}}, %{{.*}} : f16
// CHECK:         arith.cmpf ogt, %{{.*}}, %{{.*}} : f16
// CHECK:         arith.cmpf ogt, %{{.*}}, %{{.*}} : f32
int compared(_Float16 a, _Float16 b)
{
    return (a < b) + (a > 3) + (a > 0.1f16);
}

// PTX:         .global .align 2 .u16 scale = 16640;
// PTX:         .entry updated
// PTX:         add.rn.f16
// PTX:         atom{{.*}}.cas.b
// PTX:         .entry rounded
// PTX-NOT:     fma.rn.f16
// PTX:         cvt.rn.f16.f64
void updated(int n, _Float16 *a, _Float16 sum)
{
#pragma acc parallel loop copyin(a[0:n]) copy(sum)
    for (int i = 0; i < n; i++) {
#pragma acc atomic
        sum += a[i];
    }
}

void rounded(int n, _Float16 *a, double *d)
{
#pragma acc parallel loop copy(a[0:n]) copyin(d[0:n])
    for (int i = 0; i < n; i++) {
        _Float16 product = a[i] * scale;
        a[i] = product + 1;
        a[i] += (_Float16)d[i];
    }
}
