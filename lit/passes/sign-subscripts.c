// RUN: accopt %s --stop-before shape-reduced-nests | filecheck %s

// The host sees whether any subscript leaves 31 bits; if none does, they are signed, and counters 32 bits wide.
// CHECK-LABEL: @product
// CHECK:         scf.if %no_wrap{{.*}} {
// CHECK:           acc.loop combined(parallel) control(%i : i32) = (%c0{{.*}}) to (%n : i32)
// CHECK:             acc.loop control(%j : i32)
// CHECK:               scf.for %k = %c0{{.*}} to %n step
// CHECK:                 %[[ROW:.*]] = arith.muli %i, %n overflow<nsw> : i32
// CHECK:                 %[[A:.*]] = arith.addi %[[ROW]], %k overflow<nsw> : i32
// CHECK:                 accx.element %a{{.*}}[%[[A]]] of f32 : i32
// CHECK-NOT:       ui32
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i64)
// CHECK:                 accx.element %{{.*}} of f32 : ui32
void product(unsigned n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            float sum = 0;
            for (unsigned k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

// Constant bounds need no test; those that surely wrap around get none.
// CHECK-LABEL: @constants
// CHECK-NOT:     scf.if
// CHECK:         accx.element %{{.*}} of f32 : i32
// CHECK:         accx.element %{{.*}} of f32 : i32
// CHECK-LABEL: @wrapping
// CHECK-NOT:     scf.if
// CHECK:         accx.element %{{.*}} of f32 : ui32
void constants(const float *restrict a, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:4096], c[0:4096])
    for (unsigned i = 0; i < 64; i++)
        for (unsigned j = 0; j < 64; j++) {
            float sum = 0;
            for (unsigned k = 0; k < 64; k++)
                sum += a[i * 64 + k];
            c[i * 64 + j] = sum;
        }
}
void wrapping(const float *restrict a, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:4096], c[0:4096])
    for (unsigned i = 0; i < 64; i++)
        for (unsigned j = 0; j < 64; j++) {
            float sum = 0;
            for (unsigned k = 0; k < 64; k++)
                sum += a[(i + 4294967295u) * 64 + k];
            c[j] = sum;
        }
}

// Sums of products may exceed 63 bits: their size is tested in floating-point numbers first.
// CHECK-LABEL: @long_products
// CHECK:         arith.mulf
// CHECK:         %exact{{.*}} = arith.cmpf ole
// CHECK:         scf.if %no_wrap{{.*}} {
void long_products(unsigned n, const float *restrict a, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n*n], c[0:n*n])
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            float sum = 0;
            for (unsigned k = 0; k < n; k++)
                sum += a[(k * n + i) * n + j];
            c[i * n + j] = sum;
        }
}

// 64-bit counters and subscripts are narrowed where an access goes across memory.
// CHECK-LABEL: @transposition
// CHECK:         scf.if %no_wrap{{.*}} {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32)
// CHECK:             %[[COLUMN:.*]] = arith.muli %j{{.*}}, %{{.*}} overflow<nsw> : i32
// CHECK:             arith.addi %[[COLUMN]], %i{{.*}} overflow<nsw> : i32
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i64)
void transposition(long n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], b[0:n*n])
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            b[j * n + i] = a[i * n + j];
}

// Subscripts of which only the device knows the range stay as they are.
// CHECK-LABEL: @by_values
// CHECK:         scf.if %no_wrap{{.*}} {
// CHECK:           accx.element %b{{.*}} of f32 : i32
// CHECK:           accx.element %a{{.*}} of f32 : ui32
// CHECK:         } else {
void by_values(unsigned n, const unsigned *restrict k, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop collapse(2) present(k[0:n], a[0:n*n], b[0:n*n])
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            for (unsigned l = 0; l < 3; l++)
                b[i * n + j] += a[k[i] + k[l]];
}

// Left alone: what waits for memory as it is.
// CHECK-LABEL: @others
// CHECK-NOT:     scf.if %no_wrap
// CHECK:         llvm.return
void others(unsigned n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n], b[0:n*2])
    for (unsigned i = 0; i < n - 1; i++)
        b[i * 2] = a[i + 1];
#pragma acc parallel loop collapse(2) present(a[0:n*n], b[0:n*n])
    for (unsigned i = 1; i < n - 1; i++)
        for (unsigned j = 1; j < n - 1; j++)
            b[i * n + j] = a[i * n + j - 1] + a[(i - 1) * n + j];
}

// A value that two others use, and nothing else, is erased once: a loop that counts down has 36 - 1 twice.
// CHECK-LABEL: @counted_down
// CHECK:         scf.if %no_wrap{{.*}} {
// CHECK:           acc.loop control(%l{{.*}} : i32) = (%c0{{.*}}) to (%{{.*}} : i32)
// CHECK:         llvm.return
void counted_down(int n, const int *restrict a, int *restrict r)
{
#pragma acc parallel loop present(a[0:36*n], r[0:36*n])
    for (unsigned long j = 0; j < (unsigned long)n; j++)
#pragma acc loop
        for (long l = 36 - 1; l >= 0; l--)
            r[j * 36 + l] = a[l * n + j];
}
