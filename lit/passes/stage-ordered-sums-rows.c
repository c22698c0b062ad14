// RUN: accopt %s --target=nvptx --stop-before stage-transposed-accesses | filecheck %s

// Rows of a sparse matrix: 256 threads load the terms of 256 rows, from the first row's first to the last row's last.
// CHECK-LABEL: llvm.func @sparse
// CHECK:         acc.parallel {{.*}} vector_length(%c256{{.*}} : i32) {
// CHECK:           accx.gang_threads [256 : i64] {
// CHECK:             accx.shared_tile "terms" 8448
// CHECK:             scf.if %fits
// CHECK-COUNT-8:       llvm.load
// CHECK:               scf.for %piece
// CHECK:                 accx.gang_barrier
// CHECK:                 scf.for %term
// CHECK:             scf.if %inside
// CHECK:             } else {
// CHECK:               scf.for %k
// CHECK:             scf.if %finishes
void sparse(int n, const int *restrict begin, const int *restrict column, const float *restrict a,
            const float *restrict x, float *restrict y) {
#pragma acc parallel loop default(present)
  for (int i = 0; i < n; i++) {
    float s = y[i];
    for (int k = begin[i]; k < begin[i + 1]; k++)
      s += a[k] * x[column[k]];
    y[i] = s;
  }
}

// Terms that depend on their row, and rows with ends of their own, stay in one thread.
// CHECK-LABEL: llvm.func @scaled
// CHECK-NOT:     accx.gang_threads
// CHECK-LABEL: llvm.func @ends
// CHECK-NOT:     accx.gang_threads
void scaled(int n, const int *restrict begin, const float *restrict a, float *restrict y) {
#pragma acc parallel loop default(present)
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      s += a[k] * i;
    y[i] = s;
  }
}

void ends(int n, const int *restrict begin, const int *restrict end, const float *restrict a, float *restrict y) {
#pragma acc parallel loop default(present)
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int k = begin[i]; k < end[i]; k++)
      s += a[k];
    y[i] = s;
  }
}
