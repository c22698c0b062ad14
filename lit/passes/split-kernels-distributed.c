// RUN: accopt %s --emit=data | filecheck %s

// Two sums over the same matrix, one of which the other needs; two that need nothing of each other, in one loop: each gets a kernel.
// CHECK-LABEL: @chained
// CHECK:         acc.parallel
// CHECK:           acc.loop {{.*}}control(%i
// CHECK:             llvm.store
// CHECK:             scf.for %j
// CHECK:         acc.parallel
// CHECK:           acc.loop {{.*}}control(%j
// CHECK:             scf.for %i
// CHECK:         llvm.return
void chained(int n, int m, const double *restrict a, const double *restrict x, double *restrict t, double *restrict y)
{
#pragma acc kernels present(a[0:n*m], x[0:m], t[0:n], y[0:m])
  for (int i = 0; i < n; i++) {
    t[i] = 0;
    for (int j = 0; j < m; j++)
      t[i] += a[i * m + j] * x[j];
    for (int j = 0; j < m; j++)
      y[j] += a[i * m + j] * t[i];
  }
}

// CHECK-LABEL: @beside
// CHECK:         acc.parallel
// CHECK:           acc.loop {{.*}}control(%j
// CHECK:             scf.for %i
// CHECK:         acc.parallel
// CHECK:           acc.loop {{.*}}control(%i
// CHECK:             scf.for %j
// CHECK:         llvm.return
void beside(int n, int m, const double *restrict a, const double *restrict x, double *restrict t, double *restrict y)
{
#pragma acc kernels present(a[0:n*m], x[0:m], t[0:n], y[0:m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      y[j] += a[i * m + j] * x[i];
      t[i] += a[i * m + j] * x[j];
    }
}

// What another iteration stores later, an element read before it is stored, what the later statement stores, and arrays that
// may overlap: one loop, of which the host runs the iterations.
// CHECK-LABEL: @others
// CHECK:         scf.for %k
// CHECK:           acc.parallel
// CHECK:         scf.for %l
// CHECK:           acc.parallel
// CHECK:         scf.for %p
// CHECK:           acc.parallel
// CHECK:         scf.for %q
// CHECK:           acc.parallel
// CHECK:         llvm.return
void others(int n, const double *restrict a, double *restrict t, double *restrict y, double *u, double *v)
{
#pragma acc kernels present(a[0:n*n], t[0:n+1], y[0:n], u[0:n], v[0:n])
  {
    for (int k = 0; k < n; k++) {
      t[k] = k;
      for (int j = 0; j < n; j++)
        y[j] += a[k * n + j] * t[k + 1];
    }
    for (int l = 0; l < n; l++) {
      const double old = t[l];
      t[l] = l;
      for (int j = 0; j < n; j++)
        y[j] += a[l * n + j] * old;
    }
    for (int p = 0; p < n; p++) {
      t[p] = y[0];
      for (int j = 0; j < n; j++)
        y[j] += a[p * n + j];
    }
    for (int q = 0; q < n; q++) {
      u[q] = q;
      for (int j = 0; j < n; j++)
        v[j] += a[q * n + j];
    }
  }
}
