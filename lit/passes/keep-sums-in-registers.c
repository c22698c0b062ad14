// RUN: accopt %s --target=nvptx --stop-before split-column-sums --skip-pass tell-arrays-apart | filecheck %s
// RUN: accopt %s --target=nvptx --stop-before split-column-sums | filecheck %s --check-prefix APART

// The element is set before the loop: that store comes after it, with the sum.
// CHECK-LABEL: llvm.func @set_before
// CHECK-NOT:   llvm.store
// CHECK:       %[[SUM:.*]] = scf.for %i = {{.*}} iter_args(%{{.*}} = %cst{{.*}}) -> (f32)
// CHECK:       llvm.store %[[SUM]]
void set_before(int n, int m, const float *restrict a, float *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m])
  for (int j = 0; j < m; j++) {
    out[j] = 0;
    for (int i = 0; i < n; i++)
      out[j] += a[i * m + j];
  }
}

// Both elements are set before the loop, in either order.
// CHECK-LABEL: llvm.func @two_set_before
// CHECK-NOT:   llvm.store
// CHECK-NOT:   scf.if
// CHECK:       %[[SUM:.*]], %[[OTHER:.*]] = scf.for %i{{.*}} iter_args(%{{.*}} = %cst{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32)
// CHECK:       llvm.store %[[SUM]]
// CHECK:       llvm.store %[[OTHER]]
void two_set_before(int n, int m, const float *restrict a, float *restrict out, float *restrict more) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m], more[0:m])
  for (int j = 0; j < m; j++) {
    out[j] = 0;
    more[j] = 1;
    for (int i = 0; i < n; i++) {
      out[j] += a[i * m + j];
      more[j] *= a[i * m + j];
    }
  }
}

// What is read in between stays.
// CHECK-LABEL: llvm.func @read_between
// CHECK:       llvm.store
// CHECK:       llvm.load
// CHECK:       scf.for
void read_between(int n, int m, const float *restrict a, float *restrict out, float *restrict more) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m], more[0:m])
  for (int j = 0; j < m; j++) {
    out[j] = 0;
    more[j] = out[m - 1 - j];
    for (int i = 0; i < n; i++) {
      out[j] += a[i * m + j];
      more[j] *= a[i * m + j];
    }
  }
}

// A variable of an iteration that the program declares outside.
// CHECK-LABEL: llvm.func @private_variable
// CHECK:       scf.for %i{{.*}} = {{.*}} iter_args
// CHECK:         arith.addf
// CHECK-NEXT:    scf.yield
void private_variable(int n, int m, const float *restrict a, float *restrict out) {
  int i, j;
  float s;
#pragma acc parallel loop private(s, i) copyin(a[0:n*m]) copyout(out[0:m])
  for (j = 0; j < m; j++) {
    s = 0;
    for (i = 0; i < n; i++)
      s += a[i * m + j];
    out[j] = s;
  }
}

// The pointers may name the same array; the element moves; the old value is not read first.
// CHECK-LABEL: llvm.func @overlap
// CHECK-NOT:   iter_args
// Where the host finds that they do not, the sum is kept.
// APART-LABEL: llvm.func @overlap
// APART:         iter_args
// APART:         accx.apart
void overlap(int n, int m, const float *a, float *out) {
#pragma acc parallel loop copyin(a[0:n*m]) copy(out[0:m])
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      out[j] += a[i * m + j];
}

void moving(int n, int m, float *restrict out) {
#pragma acc parallel loop copy(out[0:n*m])
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      out[j * n + i] += i;
}

void under_a_condition(int n, int m, const float *restrict a, float *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copy(out[0:m])
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      if (a[i * m + j] > 0)
        out[j] += a[i * m + j];
}
