// RUN: accopt %s --emit=data | filecheck %s
// RUN: accopt %s --emit=data --target=host | filecheck %s --check-prefix=HOST

// The loop over the terms is inside the loops over the elements: one kernel. CPU threads keep the order.
// CHECK-LABEL: @product
// CHECK:         acc.parallel
// CHECK:           acc.loop {{.*}}control(%i
// CHECK:             acc.loop {{.*}}control(%j
// CHECK:               scf.for %k
// CHECK:                 llvm.store
// HOST-LABEL: @product
// HOST:         scf.for %k
// HOST:           acc.parallel
void product(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc kernels present(a[0:n*n], b[0:n*n], c[0:n*n])
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// With a directive that leaves it open whether the loop is parallel.
// CHECK-LABEL: @open
// CHECK:         acc.parallel
// CHECK:           acc.loop {{.*}}control(%j
// CHECK:             scf.for %i
void open(int n, int m, const float *restrict a, const float *restrict x, float *restrict y)
{
#pragma acc kernels loop present(a[0:n*m], x[0:n], y[0:m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j] += a[i * m + j] * x[i];
}

// Parallel as it is; a recurrence; arrays that may overlap: as written.
// CHECK-LABEL: @others
// CHECK:         acc.parallel
// CHECK:           acc.loop {{.*}}control(%i
// CHECK:             acc.loop {{.*}}control(%j
// CHECK:         scf.for %k
// CHECK:           acc.parallel
// CHECK:             acc.loop {{.*}}control(%j
// CHECK:         scf.for %l
// CHECK:           acc.parallel
void others(int n, const float *restrict a, float *restrict c, float *p, const float *q)
{
#pragma acc kernels present(a[0:n*n], c[0:n*n], p[0:n], q[0:n*n])
  {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        c[j * n + i] += a[i * n + j];
    for (int k = 1; k < n; k++)
      for (int j = 0; j < n; j++)
        c[k * n + j] += c[(k - 1) * n + j];
    for (int l = 0; l < n; l++)
      for (int j = 0; j < n; j++)
        p[j] += q[l * n + j];
  }
}
