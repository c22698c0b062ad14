// RUN: accopt %s --stop-before split-numbered-loops | filecheck %s
// RUN: accopt %s --stop-before split-numbered-loops --target=host | filecheck %s --check-prefix=HOST

// Three nests of one loop read the same arrays; the program declares the outer loop only.
// CHECK-LABEL: @field
// CHECK:         acc.loop combined(parallel) control(%i
// CHECK-NEXT:      acc.loop control(%{{j.*}} :
// CHECK-NEXT:        acc.loop control(%{{k.*}} :
// CHECK:               llvm.store {{.*}}, %x
// CHECK:               llvm.store {{.*}}, %y
// CHECK:               llvm.store {{.*}}, %z
// CHECK-NOT:       acc.loop
// CHECK:         llvm.return
// HOST-LABEL: @field
// HOST:         acc.loop combined(parallel) control(%i
// HOST:           for %{{j.*}} =
// HOST:           for %{{j.*}} =
// HOST:         llvm.return
void field(int n, float *restrict x, float *restrict y, float *restrict z, const float *restrict c)
{
#pragma acc parallel loop present(x[0:n*n*n], y[0:n*n*n], z[0:n*n*n], c[0:n*n*n])
  for (int i = 1; i < n; i++) {
    for (int j = 1; j < n; j++)
      for (int k = 1; k < n; k++)
        x[(i * n + j) * n + k] += c[(i * n + j) * n + k];
    for (int j = 1; j < n; j++)
      for (int k = 1; k < n; k++)
        y[(i * n + j) * n + k] += c[(i * n + j - 1) * n + k];
    for (int j = 1; j < n; j++)
      for (int k = 1; k < n; k++)
        z[(i * n + j) * n + k] += c[(i * n + j) * n + k - 1];
  }
}

// An element that the first loop stores is read by the same iteration of the second one. Where the host does not know that
// arrays are apart, they stay two loops.
// CHECK-LABEL: @pointers
// CHECK:         scf.if
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK-NEXT:        acc.loop control(%{{j.*}} :
// CHECK:               llvm.store
// CHECK:               llvm.load
// CHECK-NOT:         acc.loop
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop control(%{{j.*}} :
// CHECK:             acc.loop control(%{{j.*}} :
// CHECK:         llvm.return
void pointers(int n, int m, double *a, double *b, const double *c)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m], c[0:n*m])
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      a[i * m + j] = 2 * c[i * m + j];
    for (int j = 0; j < m; j++)
      b[i * m + j] = a[i * m + j] + c[i * m + j];
  }
}

// The second loop reads what another iteration of the first one stores.
// CHECK-LABEL: @neighbours
// CHECK:         acc.loop control(%{{j.*}} :
// CHECK:         acc.loop control(%{{j.*}} :
// CHECK:         llvm.return
void neighbours(int n, int m, double a[n][m + 1], double b[n][m + 1])
{
#pragma acc parallel loop present(a[0:n][0:m+1], b[0:n][0:m+1])
  for (int i = 0; i < n; i++) {
#pragma acc loop
    for (int j = 0; j < m; j++)
      a[i][j] = i + j;
#pragma acc loop
    for (int j = 0; j < m; j++)
      b[i][j] = a[i][j + 1];
  }
}

// Other bounds; a loop that reduces.
// CHECK-LABEL: @bounds
// CHECK:         acc.loop control(%{{j.*}} :
// CHECK:         acc.loop control(%{{j.*}} :
// CHECK:         acc.loop {{.*}}control(%{{j.*}} :
// CHECK:         llvm.return
void bounds(int n, int m, double *restrict a, double *restrict b, double *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m], c[0:n])
  for (int i = 0; i < n; i++) {
    double s = 0;
#pragma acc loop
    for (int j = 0; j < m; j++)
      a[i * m + j] = i;
#pragma acc loop
    for (int j = 1; j < m; j++)
      b[i * m + j] = i;
#pragma acc loop reduction(+:s)
    for (int j = 1; j < m; j++)
      s += b[i * m + j];
    c[i] = s;
  }
}
