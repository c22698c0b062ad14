// RUN: accopt %s --stop-before fuse-sibling-loops | filecheck %s
// RUN: accopt %s --stop-before split-numbered-loops | filecheck %s --check-prefix=FUSED
// RUN: accopt %s --stop-before fuse-sibling-loops --target=host | filecheck %s --check-prefix=KEPT
// RUN: accopt %s --stop-before fuse-sibling-loops --sizes=as-written | filecheck %s --check-prefix=KEPT
// RUN: accopt %s --remarks --emit=ptx --sm 90 -o /dev/null 2>&1 | filecheck %s --check-prefix=REMARK

// A product as rows that are added to the result; what is loaded for a row is loaded by each lane. With the loop that clears the
// row before, it is one loop over the row.
// CHECK-LABEL: @product
// CHECK:         acc.loop combined(parallel) control(%i
// CHECK:           acc.loop control(%j{{.*}} :
// CHECK:           acc.loop control(%[[J:j[_0-9]*]] :
// CHECK-NEXT:        scf.for %[[K:k[_0-9]*]] =
// CHECK:               arith.addi %{{.*}}, %[[K]]
// CHECK:               llvm.load %a
// CHECK:               arith.addi %{{.*}}, %[[J]]
// CHECK:               llvm.store {{.*}}, %c
// CHECK:         llvm.return
// FUSED-LABEL: @product
// FUSED:         acc.loop combined(parallel) control(%i
// FUSED:           acc.loop control(%j{{.*}} :
// FUSED:             scf.for
// FUSED-NOT:       acc.loop
// FUSED:         llvm.return
// KEPT-LABEL: @product
// KEPT:         scf.for %k
// KEPT:           acc.loop {{.*}}control(%j
// KEPT-LABEL: @terms
// REMARK: sink-sequential-loops.c:{{[0-9]+}}:13: remark: around the sequential loop that it was the body of, whose sums stay in registers
void product(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop gang present(a[0:n*n], b[0:n*n], c[0:n*n])
  for (int i = 0; i < n; i++) {
#pragma acc loop vector
    for (int j = 0; j < n; j++)
      c[i * n + j] = 0;
    for (int k = 0; k < n; k++) {
      const float row = a[i * n + k];
#pragma acc loop vector
      for (int j = 0; j < n; j++)
        c[i * n + j] += row * b[k * n + j];
    }
  }
}

// Two sequential loops, marked so; both sink. A sum of three factors under a condition.
// CHECK-LABEL: @terms
// CHECK:         acc.loop combined(parallel) control(%i
// CHECK:           acc.loop control(%[[J:j[_0-9]*]] :
// CHECK:             scf.for %k
// CHECK:               scf.for %l
// CHECK:                 scf.if
// CHECK-NOT:     acc.loop
// CHECK:         llvm.return
void terms(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma acc parallel loop present(a[0:n*n], b[0:n*n], c[0:n*n])
  for (int i = 0; i < n; i++) {
#pragma acc loop seq
    for (int k = 0; k < n; k++) {
#pragma acc loop seq
      for (int l = 0; l < n; l++) {
#pragma acc loop independent
        for (int j = 0; j < n; j++)
          if (b[l * n + j] > 0)
            c[i * n + j] += a[i * n + k] * a[i * n + l] * b[l * n + j];
      }
    }
  }
}

// Bounds that the sequential loop changes (a triangle), elements that it changes (a recurrence down a column), and elements
// that other iterations of the row have changed in the step before: the loops stay in their order.
// CHECK-LABEL: @others
// CHECK:         scf.for %k
// CHECK:           acc.loop control(%j
// CHECK:         scf.for %k
// CHECK:           acc.loop control(%j
// CHECK:         scf.for %k
// CHECK:           acc.loop control(%j
// CHECK:         llvm.return
void others(int n, const float *restrict a, float *restrict c, float *restrict d, float *restrict e)
{
#pragma acc parallel loop present(a[0:n*n], c[0:n*n], d[0:n*n*n], e[0:n*n])
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {
#pragma acc loop independent
      for (int j = k; j < n; j++)
        c[i * n + j] += a[k * n + j];
    }
    for (int k = 1; k < n; k++) {
#pragma acc loop independent
      for (int j = 0; j < n; j++)
        d[(i * n + k) * n + j] = d[(i * n + k - 1) * n + j] + 1;
    }
    for (int k = 0; k < n; k++) {
#pragma acc loop independent
      for (int j = 0; j < n - 1; j++)
        e[i * n + j] = a[k * n + j] + e[i * n + n - 1 - j];
    }
  }
}

// Not the whole body, with a variable of its own, or with a store that the sequential loop makes itself.
// CHECK-LABEL: @more
// CHECK:         scf.for %k
// CHECK:           acc.loop control(%j
// CHECK:           acc.loop control(%j
// CHECK:         scf.for %k
// CHECK:           acc.loop {{.*}}control(%j
// CHECK:         scf.for %k
// CHECK:           llvm.store
// CHECK:           acc.loop control(%j
// CHECK:         llvm.return
void more(int n, const float *restrict a, float *restrict c, float *restrict d, float *restrict e)
{
  float own;
#pragma acc parallel loop present(a[0:n*n], c[0:n*n], d[0:n*n], e[0:n*n])
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {
#pragma acc loop independent
      for (int j = 0; j < n; j++)
        c[i * n + j] += a[k * n + j];
#pragma acc loop independent
      for (int j = 0; j < n; j++)
        d[i * n + j] += c[i * n + n - 1 - j];
    }
    for (int k = 0; k < n; k++) {
      float sum = 0;
#pragma acc loop independent reduction(+:sum)
      for (int j = 0; j < n; j++)
        sum += a[k * n + j];
      d[i * n] += sum;
    }
    for (int k = 0; k < n; k++) {
      e[i * n + k] = 1;
#pragma acc loop independent
      for (int j = 0; j < n; j++)
        d[i * n + j] += a[k * n + j];
    }
  }
}
