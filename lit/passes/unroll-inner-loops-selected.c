// RUN: accopt %s --emit transformed | filecheck %s
// RUN: accopt %s --emit ptx | filecheck %s --check-prefix PTX

// The row of the largest element, in an array of each iteration: each element of it is selected among those of the rows
// that the search may find.
// CHECK-LABEL: llvm.func @pivots
// CHECK:         %chosen = arith.cmpi eq
// CHECK:         llvm.load %{{.*}} {accx.speculative}
// CHECK:         arith.select %chosen
// PTX-LABEL:   .entry pivots_{{[0-9]+}}_kernel
// PTX-NOT:       .local
// PTX:           ret
void pivots(int n, const double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:9*n], s[0:3*n])
  for (int i = 0; i < n; i++) {
    double m[3][3];
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        m[r][c] = a[9 * i + 3 * r + c];
    for (int k = 0; k < 3; k++) {
      int q = k;
      for (int r = k + 1; r < 3; r++)
        q = m[r][k] > m[q][k] ? r : q;
      for (int c = 0; c < 3; c++) {
        double t = m[q][c];
        m[q][c] = m[k][c];
        m[k][c] = t * 2;
      }
    }
    for (int r = 0; r < 3; r++)
      s[3 * i + r] = m[r][r];
  }
}

// A subscript of which nothing is known but that C permits no others than those of the array; a row of a flat array.
// CHECK-LABEL: llvm.func @given
// CHECK:         %chosen{{.*}} = arith.cmpi eq
// CHECK-LABEL: llvm.func @flat
// CHECK:         %chosen{{.*}} = arith.cmpi eq
// PTX-LABEL:   .entry given_{{[0-9]+}}_kernel
// PTX-NOT:       .local
// PTX-LABEL:   .entry flat_{{[0-9]+}}_kernel
// PTX-NOT:       .local
// PTX:           ret
void given(int n, const int *restrict at, const double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:4*n], at[0:n], s[0:n])
  for (int i = 0; i < n; i++) {
    double m[4];
    for (int r = 0; r < 4; r++)
      m[r] = a[4 * i + r];
    m[at[i]] = 7;
    s[i] = m[0] + m[1] * m[2] / m[3];
  }
}
void flat(int n, const int *restrict at, const double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:8*n], at[0:n], s[0:2*n])
  for (int i = 0; i < n; i++) {
    double m[8];
    for (int r = 0; r < 8; r++)
      m[r] = a[8 * i + r];
    for (int c = 0; c < 2; c++)
      s[2 * i + c] = m[2 * at[i] + c];
  }
}

// Declined: more choices than selections are worth; in a loop that is not unrolled; two subscripts; a row that may begin
// within another.
// CHECK-LABEL: llvm.func @many
// CHECK-NOT:     %chosen
void many(int n, const int *restrict at, const double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:20*n], at[0:n], s[0:n])
  for (int i = 0; i < n; i++) {
    double m[20];
    for (int r = 0; r < 20; r++)
      m[r] = a[20 * i + r];
    s[i] = m[at[i]];
  }
}
// CHECK-LABEL: llvm.func @counters
// CHECK-NOT:     %chosen
void counters(int n, int l, const int *restrict at, int *restrict s) {
#pragma acc parallel loop present(at[0:l*n], s[0:8*n])
  for (int i = 0; i < n; i++) {
    int m[8];
    for (int r = 0; r < 8; r++)
      m[r] = 0;
    for (int k = 0; k < l; k++)
      m[at[i * l + k]]++;
    for (int r = 0; r < 8; r++)
      s[8 * i + r] = m[r];
  }
}
// CHECK-LABEL: llvm.func @both
// CHECK-NOT:     %chosen
void both(int n, const int *restrict at, const double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:9*n], at[0:n], s[0:n])
  for (int i = 0; i < n; i++) {
    double m[3][3];
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        m[r][c] = a[9 * i + 3 * r + c];
    s[i] = m[at[i]][at[i + 1]];
  }
}
// CHECK-LABEL: llvm.func @within
// CHECK-NOT:     %chosen
void within(int n, const int *restrict at, const double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:8*n], at[0:n], s[0:2*n])
  for (int i = 0; i < n; i++) {
    double m[8];
    for (int r = 0; r < 8; r++)
      m[r] = a[8 * i + r];
    for (int c = 0; c < 3; c++)
      s[3 * i + c] = m[2 * at[i] + c];
  }
}
