// RUN: accopt %s --target=nvptx --stop-before lower-acc-atomics | filecheck %s

// Two arrays of sizes known at run time: a version for the case that both are small, in which they share the
// memory; one for the case that the first is, which has all of it; and the construct as it is.
// CHECK-LABEL: llvm.func @two
// CHECK:         %small = arith.cmpi ult, %{{.*}}, %c4096{{.*}} : i64
// CHECK:         %small_1 = arith.cmpi ult, %{{.*}}, %c4096{{.*}} : i64
// CHECK:         %small_2 = arith.andi %small, %small_1 : i1
// CHECK:         scf.if %small_2 {
// CHECK:           acc.parallel
// CHECK:             llvm.alloca %{{.*}} x !llvm.array<4096 x f32>
// CHECK:             llvm.alloca %{{.*}} x !llvm.array<4096 x i32>
// CHECK:         } else {
// CHECK:           %[[FIRST:small.*]] = arith.cmpi ult, %{{.*}}, %c4096{{.*}} : i64
// CHECK:           scf.if %[[FIRST]] {
// CHECK:             acc.parallel
// CHECK:               llvm.alloca %{{.*}} x !llvm.array<8192 x f32>
// CHECK-NOT:           llvm.alloca
// CHECK:           } else {
// CHECK-NEXT:        acc.parallel
// CHECK-NOT:           llvm.alloca
// CHECK:         llvm.return
void two(int n, int k, int d, const float *restrict x, const int *restrict label, float *restrict sum,
         int *restrict count)
{
#pragma acc parallel loop copyin(x[0 : n * d], label[0 : n]) copy(sum[0 : k * d], count[0 : k])
    for (int i = 0; i < n; i++) {
        for (int q = 0; q < d; q++) {
#pragma acc atomic
            sum[label[i] * d + q] += x[i * d + q];
        }
#pragma acc atomic
        count[label[i]]++;
    }
}

// Four arrays share the memory at most; the fifth one is updated as it is.
// CHECK-LABEL: llvm.func @five
// CHECK:           acc.parallel
// CHECK-COUNT-4:     llvm.alloca %{{.*}} x !llvm.array<2048 x i32>
// CHECK-NOT:         llvm.alloca
// CHECK:         } else {
// CHECK:               llvm.alloca %{{.*}} x !llvm.array<8192 x i32>
// CHECK-NOT:           llvm.alloca
// CHECK:         llvm.return
void five(int n, int k, const int *restrict x, int *restrict a, int *restrict b, int *restrict c,
          int *restrict d, int *restrict e)
{
#pragma acc parallel loop copyin(x[0 : n]) copy(a[0 : k], b[0 : k], c[0 : k], d[0 : k], e[0 : k])
    for (int i = 0; i < n; i++) {
#pragma acc atomic
        a[x[i]]++;
#pragma acc atomic
        b[x[i]] += 2;
#pragma acc atomic
        c[x[i]] += i;
#pragma acc atomic
        d[x[i]] -= i;
#pragma acc atomic
        e[x[i]]++;
    }
}

// An array of a known small size is private without a version; the other one is updated as it is.
// CHECK-LABEL: llvm.func @one_known
// CHECK-NOT:     scf.if %small
// CHECK:         acc.parallel
// CHECK:           llvm.alloca %{{.*}} x !llvm.array<{{.*}} x i32>
// CHECK-NOT:       llvm.alloca
// CHECK:         llvm.return
void one_known(int n, int k, const int *restrict x, int *restrict a, int *restrict b)
{
#pragma acc parallel loop copyin(x[0 : n]) copy(a[0 : k], b[0 : 16])
    for (int i = 0; i < n; i++) {
#pragma acc atomic
        a[x[i]]++;
#pragma acc atomic
        b[x[i] % 16]++;
    }
}
