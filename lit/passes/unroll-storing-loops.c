// RUN: accopt %s --target=nvptx --emit scheduled -p unroll-storing-loops | filecheck %s
// RUN: accopt %s --target=nvptx --emit scheduled -p unroll-storing-loops,load-early | filecheck %s --check-prefix=EARLY
// RUN: accopt %s --target=host --emit scheduled -p unroll-storing-loops | filecheck %s --check-prefix=HOST

// HOST-NOT: accx.unroll

#define COLUMNS _Pragma("acc parallel loop gang vector present(a[:n], b[:n])")
#define SEQ _Pragma("acc loop seq")

// Eight iterations in a group, and those that remain; all loads of a group come first.
// CHECK-LABEL: llvm.func @copy
// CHECK:         %runs = arith.cmpi slt
// CHECK:         %distance = arith.select %runs
// CHECK:         scf.for %i = %{{.*}} to %[[MIDDLE:.*]] step %c8
// CHECK-COUNT-8:   llvm.store
// CHECK:         } {{{.*}}accx.unroll = 1
// CHECK-NEXT:    scf.for %i_1 = %[[MIDDLE]] to %n step
// CHECK:           llvm.store
// CHECK:         } {{{.*}}accx.unroll = 1
// EARLY-LABEL: llvm.func @copy
// EARLY:         scf.for
// EARLY-COUNT-8:   llvm.load
// EARLY-NOT:       llvm.load
// EARLY:           llvm.store
void copy(int n, int m, double a[restrict n][m], double b[restrict n][m]) {
COLUMNS
  for (int j = 0; j < m; j++)
    SEQ for (int i = 0; i < n; i++) b[i][j] = 2 * a[i][j];
}

// What an iteration hands on goes through the group. Rows are at least one element long where a loop over their elements runs,
// so that rows of one array are apart.
// CHECK-LABEL: llvm.func @recurrence
// CHECK:         %[[SUM:[_a-z0-9]+]] = scf.for %i{{[_0-9]*}} = {{.*}} step %c8{{.*}} iter_args
// CHECK-COUNT-16:   llvm.store
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[SUM]]
// EARLY-LABEL: llvm.func @recurrence
// EARLY:         scf.for
// EARLY-COUNT-16:   llvm.load
// EARLY-NOT:       llvm.load
// EARLY:           llvm.store
void recurrence(int n, int m, double *restrict a, double *restrict b) {
#pragma acc parallel loop gang vector present(a[:n * m], b[:n * m])
  for (int j = 0; j < m; j++) {
    double s = 0;
    SEQ for (int i = 1; i < n; i++) {
      s = 0.5 * s + a[i * m + j];
      b[(i - 1) * m + j] = s;
      a[(i - 1) * m + j] = s * b[i * m + j];
    }
  }
}

// A few iterations are copied, all of them.
// CHECK-LABEL: llvm.func @few
// CHECK:         acc.loop
// CHECK-NOT:     scf.for
// CHECK-COUNT-3: llvm.store
// CHECK-NOT:     llvm.store
// CHECK:         acc.yield
void few(int n, int m, double a[restrict n][m], double b[restrict n][m]) {
COLUMNS
  for (int j = 0; j < m; j++)
    SEQ for (int i = 0; i < 3; i++) b[i][j] = 2 * a[i][j];
}

// A loop that may be shorter than a group, and all that another one repeats: then both are one loop.
// CHECK-LABEL: llvm.func @stage
// CHECK:         %short = arith.cmpi slt, %trips
// CHECK:         scf.if %short {
// CHECK:           scf.for {{.*}} iter_args(%p{{.*}} = %{{.*}}, %number{{.*}} = %{{.*}}) -> (i32, i64)
// CHECK-COUNT-8:     llvm.store
// CHECK:           scf.for {{.*}} iter_args
// CHECK:         } else {
// CHECK:           scf.for %p
// CHECK:             scf.for %k{{.*}} = {{.*}} step %c8
// CHECK-COUNT-8:       llvm.store
// CHECK:             scf.for %k
void stage(int n, int m, int l, double a[restrict n][m], double b[restrict n][m]) {
COLUMNS
  for (int j = 0; j < m; j++)
    SEQ for (int p = 0; p < n / 8; p++)
      SEQ for (int k = 0; k < l; k++) b[p * l + k][j] = a[k * l + p][j];
}

// Not loops that have something else beside such a loop, or whose bounds depend on the iteration.
// CHECK-LABEL: llvm.func @apart
// CHECK-NOT:     %short
void apart(int n, int m, double a[restrict n][m], double b[restrict n][m]) {
COLUMNS
  for (int j = 0; j < m; j++) {
    SEQ for (int p = 0; p < n; p++) {
      a[p][j] = 1;
      SEQ for (int k = 0; k < n; k++) b[k][j] = a[k][j];
    }
    SEQ for (int p = 0; p < n; p++)
      SEQ for (int k = 0; k < p; k++) b[k][j] = a[k][j];
  }
}

// Not loops of which every load may be of what the iteration before has stored, whose loads are of one element, that only load, that
// branch, or that use an array of the thread's own.
// CHECK-LABEL: llvm.func @declined
// CHECK-NOT:     accx.unroll
void declined(int n, int m, double a[restrict n][m], double b[restrict n][m]) {
#pragma acc parallel loop gang vector present(a[:n], b[:n])
  for (int j = 0; j < m; j++) {
    double own[4] = {0}, s = 0;
    SEQ for (int i = 1; i < n; i++) a[i][j] = a[i - 1][j] * s;
    SEQ for (int i = 0; i < n; i++) b[i][j] = a[0][j];
    SEQ for (int i = 0; i < n; i++) s += a[i][j];
    SEQ for (int i = 0; i < n; i++)
      if (a[i][j] > s) b[i][j] = a[i][j];
    SEQ for (int i = 0; i < n; i++) own[i % 4] = a[i][j];
    b[0][j] = s + own[0];
  }
}
