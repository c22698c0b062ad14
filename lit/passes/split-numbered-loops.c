// RUN: accopt %s --stop-before tile-loops | filecheck %s

// Rows and places are loops of their own, where the host sees that the rows are long.
// CHECK-LABEL: @matrix
// CHECK:         %[[LONG:.*]] = arith.addi %{{.*}}, %cm128
// CHECK:         %in_rows = arith.cmpi sge, %[[LONG]]
// CHECK:         scf.if %in_rows{{.*}} {
// CHECK:           acc.loop combined(parallel) control(%row : i32, %place : i32) = (%c0{{.*}}) to (%n, %m : i32, i32)
// CHECK-NOT:         arith.divsi
// CHECK:             %[[ROW:.*]] = arith.muli %row, %m overflow<nsw> : i32
// CHECK:             %e = arith.addi %[[ROW]], %place overflow<nsw> : i32
// CHECK:             collapse = [2 : i64]
// CHECK:         } else {
// CHECK:             arith.remsi %e
// CHECK:             arith.divsi %e
void matrix(int n, int m, const float *restrict a, float *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], c[0:n*m])
    for (int e = 0; e < n * m; e++)
        c[e] = a[e % m] + a[e / m];
}

// Numbers without sign may wrap around; what the host tests says that they do not.
// CHECK-LABEL: @without_sign
// CHECK:         scf.if %in_rows{{.*}} {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i64, %j{{.*}} : i64)
// CHECK-NOT:         arith.divui
// CHECK:         } else {
// CHECK:             arith.divui
void without_sign(unsigned n, unsigned m, const float *restrict a, float *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], c[0:n*m])
    for (unsigned e = 0; e < n * m; e++) {
        unsigned i = e / m, j = e % m;
        c[e] = a[j] + a[i];
    }
}

// Three dimensions, and one choice; constant lengths need none.
// CHECK-LABEL: @volume
// CHECK:         scf.if %in_rows{{.*}} {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32, %j{{.*}} : i32, %k{{.*}} : i32)
// CHECK-NOT:         arith.divsi
// CHECK:         } else {
// CHECK:           control(%e{{.*}} : i32)
void volume(int n, int m, int l, const float *restrict a, float *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], c[0:n*m*l])
    for (int e = 0; e < l * n * m; e++) {
        int i = e / (n * m);
        int j = e / m % n;
        int k = e % m;
        c[e] = a[j * m + k] + i;
    }
}
// CHECK-LABEL: @constants
// CHECK-NOT:     scf.if
// CHECK:         acc.loop combined(parallel) control(%row{{.*}} : i32, %place{{.*}} : i32) = (%c0{{.*}}) to (%c16{{.*}}, %c256{{.*}} : i32, i32)
void constants(const float *restrict a, float *restrict c)
{
#pragma acc parallel loop present(a[0:4096], c[0:4096])
    for (int e = 0; e < 4096; e++)
        c[e] = a[e >> 8] + a[e & 255];
}

// An end that is given by itself has to be whole rows.
// CHECK-LABEL: @given
// CHECK:         arith.remsi
// CHECK:         %whole_rows{{.*}} = arith.cmpi eq
// CHECK:         scf.if %in_rows{{.*}} {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32, %j{{.*}} : i32) = (%c0{{.*}}) to (%rows{{.*}}, %m{{.*}} : i32, i32)
void given(int total, int m, const float *restrict a, float *restrict c)
{
#pragma acc parallel loop present(a[0:total], c[0:total])
    for (int e = 0; e < total; e++) {
        int i = e / m, j = e % m;
        c[e] = a[j] + a[i];
    }
}

// Left alone: short rows, lengths that only the device knows, loops that begin elsewhere, tiles.
// CHECK-LABEL: @others
// CHECK-NOT:     control(%{{.*}}, %
// CHECK:         llvm.return
void others(int n, int m, const int *restrict a, int *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], c[0:n*m])
    for (int e = 0; e < n * 3; e++)
        c[e] = a[e / 3] + a[e % 3];
#pragma acc parallel loop present(a[0:n*m], c[0:n*m])
    for (int e = 0; e < n * m; e++)
        c[e] = a[e / a[0]];
#pragma acc parallel loop present(a[0:n*m], c[0:n*m])
    for (int e = 1; e < n * m; e++)
        c[e] = a[e / m];
}
