// RUN: accopt %s --target host --emit host | filecheck %s

// LLVM may load and store elements at constant distances together, at the first load and the last store of an
// iteration. It is not told that iterations are independent where that swaps two accesses to one element.

// An array may be the other one, and is read behind a store. Where they are apart LLVM is told.
// CHECK-LABEL: llvm.func @product_{{[0-9]+}}_host
// CHECK:         accx.access_groups
// CHECK-LABEL: llvm.func @product_{{[0-9]+}}_2_host
// CHECK-NOT:     accx.access_groups
void product(int n, float *c, const float *a) {
#pragma acc parallel loop present(a[0:2*n], c[0:2*n])
  for (int i = 0; i < n; i++) {
    c[2 * i] = a[2 * i] * a[2 * i] - a[2 * i + 1] * a[2 * i + 1];
    c[2 * i + 1] = 2 * a[2 * i] * a[2 * i + 1];
  }
}

// One element after another, in a loop that LLVM unrolls.
// CHECK-LABEL: llvm.func @chain
// CHECK-NOT:     accx.access_groups
// CHECK-LABEL: llvm.func @scaled
// CHECK:         accx.access_groups
void chain(int n, double *a) {
#pragma acc parallel loop present(a[0:4*n])
  for (int i = 0; i < n; i++)
    for (int k = 1; k < 4; k++)
      a[4 * i + k] += a[4 * i + k - 1];
}
void scaled(int n, double *a) {
#pragma acc parallel loop present(a[0:4*n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      a[4 * i + k] *= 2;
}

// Neighbouring elements are not moved, nor those whose places are loaded; what follows a load stays behind it.
// CHECK-LABEL: llvm.func @rows
// CHECK:         accx.access_groups
// CHECK-LABEL: llvm.func @scattered
// CHECK:         accx.access_groups
// CHECK-LABEL: llvm.func @before
// CHECK:         accx.access_groups
void rows(int n, double *a, double *b) {
#pragma acc parallel loop present(a[0:2*n], b[0:n])
  for (int i = 0; i < n; i++) {
    a[i] = b[i];
    a[i + n] += b[i] + a[i];
  }
}
void scattered(int n, double *restrict a, double *restrict b, const int *at) {
#pragma acc parallel loop present(a[0:n], b[0:n], at[0:n])
  for (int i = 0; i < n; i++) {
    a[at[i]] += 1;
    b[i] = a[at[i]];
  }
}
void before(int n, double *a) {
#pragma acc parallel loop present(a[0:2*n])
  for (int i = 0; i < n; i++)
    a[2 * i] += a[2 * i + 1];
}

// Accesses of different types reach different memory, as long as there are no unions.
// CHECK-LABEL: llvm.func @types
// CHECK:         accx.access_groups
struct cell { double value; long count; };
void types(int n, struct cell *a, float *b) {
#pragma acc parallel loop present(a[0:n], b[0:n])
  for (int i = 0; i < n; i++) {
    a[i].value = b[i];
    a[i].count = (long)b[i];
  }
}
