// RUN: accopt %s --target host --emit transformed | filecheck %s
// RUN: accopt %s --target host --emit host | filecheck %s --check-prefix HOST

// Rows and columns differ: no iteration of j reaches an element that another one stores.
// CHECK-LABEL: llvm.func @elimination
// CHECK:         } {accx.independent}
// HOST-LABEL:  llvm.func @elimination_{{[0-9]+}}_host
// HOST:          llvm.store {{.*}} {accx.access_groups = [[[GROUP:[0-9]+]] : i32]}
// HOST:          } {accx.access_groups = [[[GROUP]] : i32]}
// HOST-NOT:      accx.independent
void elimination(int n, double a[n][n], int k) {
#pragma acc parallel loop present(a[0:n][0:n])
  for (int i = k + 1; i < n; i++) {
    a[i][k] /= a[k][k];
    for (int j = k + 1; j < n; j++)
      a[i][j] -= a[i][k] * a[k][j];
  }
}

// Arrays that the host has found to be apart; where they overlap, iterations may depend on each other.
// CHECK-LABEL: llvm.func @rows
// CHECK:         } {accx.independent}
// CHECK:         accx.apart
// CHECK-NOT:     accx.independent
// CHECK:         accx.fallback
void rows(int n, double *a, const double *b, double *s) {
#pragma acc parallel loop present(a[0:n*n], b[0:n*n], s[0:n])
  for (int i = 0; i < n; i++) {
    s[i] = b[i];
    for (int j = 0; j < n; j++)
      a[i * n + j] = b[j * n + i] * s[i];
  }
}

// A carried value does not matter, as LLVM sees it.
// CHECK-LABEL: llvm.func @filter
// CHECK:         } {accx.independent}
void filter(int n, double *restrict a, const double *restrict b) {
#pragma acc parallel loop present(a[0:n*n], b[0:n*n])
  for (int i = 0; i < n; i++) {
    double last = 0;
    for (int j = 0; j < n; j++)
      a[i * n + j] = last = b[i * n + j] + 0.5 * last;
  }
}

// Left alone: an element that an iteration stores and others read, nothing that is stored, loops around others.
// CHECK-LABEL: llvm.func @shortest
// CHECK-NOT:     accx.independent
// CHECK-LABEL: llvm.func @reads
// CHECK-NOT:     accx.independent
// CHECK-LABEL: llvm.func @outer
// CHECK-COUNT-1: accx.independent
// CHECK-NOT:     accx.independent
void shortest(int n, int d[n][n], int k) {
#pragma acc parallel loop present(d[0:n][0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (d[i][j] > d[i][k] + d[k][j])
        d[i][j] = d[i][k] + d[k][j];
}
void reads(int n, double *restrict a, const double *restrict b) {
#pragma acc parallel loop present(a[0:n], b[0:n*n])
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++)
      sum += b[i * n + j];
    a[i] = sum;
  }
}
void outer(int n, double *restrict a) {
#pragma acc parallel loop present(a[0:n*n*n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        a[(i * n + j) * n + k] += k;
}

// GPU code has no use for it.
// RUN: accopt %s --target nvptx --emit transformed | filecheck %s --check-prefix GPU
// GPU-NOT: accx.independent
