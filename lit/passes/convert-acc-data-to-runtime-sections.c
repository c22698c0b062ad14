// RUN: accopt %s --target host --emit runtime | filecheck %s

// Whole planes and rows of variable length are one run of bytes: the runtime needs no shape, and native code
// finds them.
// CHECK-LABEL: llvm.func @whole
// CHECK-NOT:     shape
// CHECK-LABEL: llvm.func @first_rows
// CHECK-NOT:     shape
// CHECK-LABEL: llvm.func @part
// CHECK:         shape
void whole(int n, int m, long k, double a[n][m][k], float b[k][n][m][n]) {
#pragma acc parallel loop present(a[0:n][0:m][0:k], b[0:k][0:n][0:m][0:n])
  for (int i = 0; i < n; i++)
    a[i][0][0] = b[0][i][0][0];
}
void first_rows(int n, int m, double a[n][m][8]) {
#pragma acc parallel loop present(a[1:n-1][0:m][0:8])
  for (int i = 1; i < n; i++)
    a[i][0][0] = 1;
}
void part(int n, int m, int k, double a[n][m][k]) {
#pragma acc parallel loop present(a[0:n][0:m][0:n])
  for (int i = 0; i < n; i++)
    a[i][0][0] = 1;
}
