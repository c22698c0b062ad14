// RUN: accopt %s --target=nvptx --emit=transformed | filecheck %s
// RUN: accopt %s --target=nvptx --emit=transformed | filecheck %s --check-prefix=ROWS

// Terms of neighbouring sums are neighbours in memory: the sums of a gang, up to 32, are as many as there are.
// Two pieces of 4096 terms alternate; the loads of the next piece precede the additions.
// CHECK-LABEL: llvm.func @columns
// CHECK:       %long_sums
// CHECK:       %few_sums = arith.cmpi sle
// CHECK:       %few_long_sums = arith.andi %long_sums, %few_sums
// CHECK:       scf.if %few_long_sums {
// CHECK:         acc.parallel {{.*}} vector_length(%c256{{.*}} : i32) {
// CHECK:           acc.loop {{.*}}gang control(%share : i64)
// CHECK:             accx.gang_threads [256 : i64] {
// CHECK:               accx.shared_tile "terms" 32768
// CHECK:               scf.if %runs
// CHECK-COUNT-16:        llvm.load %a
// CHECK:                 scf.for %piece{{.*}} =
// CHECK-COUNT-16:          llvm.store
// CHECK:                   accx.gang_barrier
// CHECK-COUNT-16:          llvm.load %a
// CHECK:                   scf.if %adds
// CHECK:                     scf.for %term = {{.*}} iter_args
// CHECK:                       llvm.load %slot
// CHECK:                       arith.addf
// CHECK:                     accx.unroll = 16
// CHECK:               scf.if %finishes {
// CHECK-NEXT:            accx.element %out
// CHECK-NEXT:            llvm.store
// CHECK:       } else {
// CHECK:         acc.loop {{.*}}gang vector
void columns(int n, int m, const float *restrict a, float *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m])
  for (int j = 0; j < m; j++) {
    float s = 0;
    for (int i = 0; i < n; i++)
      s += a[i * m + j];
    out[j] = s;
  }
}

// Neighbouring terms of a sum are neighbours in memory: lanes load 32 of one sum; rows of the tile have 33 places.
// What is multiplied is loaded for the next piece, and multiplied before it is stored.
// ROWS-LABEL: llvm.func @rows
// ROWS:       accx.gang_threads [256 : i64] {
// ROWS:         accx.shared_tile "terms" 33792
// ROWS:         llvm.load %a
// ROWS:         llvm.load %x
// ROWS-NOT:     arith.mulf
// ROWS:         scf.for %piece{{.*}} =
// ROWS-COUNT-8:   arith.mulf
// ROWS-NOT:       arith.mulf
// ROWS:           accx.gang_barrier
// ROWS:         arith.addi %place{{.*}}, %c33
void rows(int n, int m, const double a[restrict n][m], const double *restrict x, double *restrict out) {
#pragma acc parallel loop copyin(a[0:n][0:m], x[0:m]) copyout(out[0:n])
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int i = 0; i < m; i++)
      s += a[j][i] * x[i];
    out[j] = s;
  }
}

// No tiles for sums whose terms depend on the sum, of integers (split-column-sums), and that are short.
// CHECK-LABEL: llvm.func @chained
// CHECK-NOT:   accx.shared_tile "terms"
void chained(int n, int m, const float *restrict a, float *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m])
  for (int j = 0; j < m; j++) {
    int s = j;
    float t = 0;
    for (int i = 0; i < n; i++) {
      s = (s * 5 + 1) % m;
      t += a[i * m + s];
    }
    out[j] = t;
  }
}

void integers(int n, int m, const int *restrict a, int *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m])
  for (int j = 0; j < m; j++) {
    int s = 0;
    for (int i = 0; i < n; i++)
      s += a[i * m + j];
    out[j] = s;
  }
}

void brief(int m, const float a[restrict 20][m], float *restrict out) {
#pragma acc parallel loop copyin(a[0:20][0:m]) copyout(out[0:m])
  for (int j = 0; j < m; j++) {
    float s = 0;
    for (int i = 0; i < 20; i++)
      s += a[i][j];
    out[j] = s;
  }
}
