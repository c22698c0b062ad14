// RUN: accopt %s --stop-before split-kernels | filecheck %s
// RUN: accopt %s --emit=transformed -o %t.mlir --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// Both loops are dependent through the pivot's row and column only.
// CHECK-LABEL: @shortest
// CHECK:         scf.for %k = %c0
// CHECK:           %after = arith.addi %k, %{{.*}}
// CHECK-NEXT:      scf.for %i = %{{.*}} to %k step
// CHECK:             scf.for %j = %{{.*}} to %k step
// CHECK:             accx.element %{{.*}}[%i, %k]
// CHECK:             scf.for %{{j.*}} = %after{{.*}} to %n step
// CHECK:           scf.for %{{i.*}} = %k to %after step
// CHECK:             scf.for
// CHECK:             scf.for
// CHECK:           scf.for %{{i.*}} = %after to %n step
// CHECK:         llvm.return
// REMARK-DAG:  {{.*}}:5: remark: loop mapped to gang
// REMARK-DAG:  {{.*}}:7: remark: loop mapped to vector
void shortest(int n, double d[n][n])
{
#pragma acc kernels present(d[0:n][0:n])
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (d[i][k] + d[k][j] < d[i][j])
          d[i][j] = d[i][k] + d[k][j];
}

// Rows of an array of pointers; the program declares the outer loop independent.
// CHECK-LABEL: @rows
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             scf.for
// CHECK:             scf.for
// CHECK-NOT:         scf.for
// CHECK:             acc.yield
void rows(int n, int **r)
{
  for (int k = 0; k < n; k++) {
#pragma acc parallel loop present(r[0:n][0:n])
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        r[i][j] |= r[i][k] & r[k][j];
  }
}

// Counters without sign; the program declares the outer loop independent.
// CHECK-LABEL: @without_sign
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             scf.for
// CHECK:             scf.for
// CHECK-NOT:         scf.for
// CHECK:             acc.yield
void without_sign(unsigned n, char (*r)[n])
{
  for (unsigned k = 0; k < n; k++) {
#pragma acc parallel loop present(r[0:n][0:n])
    for (unsigned i = 0; i < n; i++)
      for (unsigned j = 0; j < n; j++)
        r[i][j] |= r[i][k] & r[k][j];
  }
}

// The pivot may not be an iteration.
// CHECK-LABEL: @beyond
// CHECK:         scf.for %{{k.*}} =
// CHECK:           scf.for %{{i.*}} =
// CHECK-NOT:       scf.for
// CHECK:         llvm.return
void beyond(int n, int m, double *d)
{
#pragma acc kernels present(d[0:n])
  for (int k = 0; k < m; k++)
    for (int i = 0; i < n; i++)
      d[i] += d[k];
}

// Iterations before the pivot depend on each other.
// CHECK-LABEL: @recurrence
// CHECK:         scf.for %{{k.*}} =
// CHECK:           scf.for %{{i.*}} =
// CHECK-NOT:       scf.for
// CHECK:         llvm.return
void recurrence(int n, double *d)
{
#pragma acc kernels present(d[0:n])
  for (int k = 1; k < n; k++)
    for (int i = 1; i < n; i++)
      d[i] += d[k] * d[i - 1];
}

// A directive inside stays where it is.
// CHECK-LABEL: @directive
// CHECK:         scf.for %{{k.*}} =
// CHECK:           scf.for %{{i.*}} =
// CHECK:             acc.loop
// CHECK-NOT:       scf.for
// CHECK:         llvm.return
void directive(int n, double d[n][n])
{
#pragma acc kernels present(d[0:n][0:n])
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {
#pragma acc loop independent
      for (int j = 0; j < n; j++)
        d[i][j] += d[k][j];
    }
}

// Each thread factors an object of its own.
// CHECK-LABEL: @objects
// CHECK:         scf.for %{{k.*}} =
// CHECK:           scf.for %{{r.*}} =
// CHECK-NOT:       scf.for
// CHECK:         llvm.return
void objects(int n, int m, double a[n][m])
{
#pragma acc kernels present(a[0:n][0:m])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      for (int r = 0; r < m; r++)
        a[i][r] -= a[i][k] * .5;
}
