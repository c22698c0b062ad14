// RUN: accopt %s --target nvptx --emit transformed | filecheck %s
// RUN: accopt %s --target nvptx --emit ptx | filecheck %s --check-prefix PTX
// RUN: accopt %s --target host --emit transformed | filecheck %s --check-prefix HOST
// HOST-NOT: accx.unchanged

// Pointers in a structure are loaded once: no store of a number changes them.
// CHECK-LABEL: llvm.func @members
// CHECK-COUNT-3: -> !llvm.ptr
// CHECK:         llvm.load {{.*}} {accx.unchanged} : !llvm.ptr -> !llvm.ptr
// CHECK-NOT:     {accx.unchanged} : !llvm.ptr -> f64
// PTX-LABEL:   .entry members_
// PTX-COUNT-3:   ld.global.nc.b64
// PTX-NOT:       ld.global
// PTX:         .entry rows_
struct fields { int n; double *a, *b, *c; };
void members(struct fields *s) {
#pragma acc parallel loop default(present)
  for (int i = 0; i < s->n; i++) {
    s->a[i] = 2 * s->c[i];
    s->b[i] = 3 * s->c[i];
  }
}

// The addresses of rows.
// CHECK-LABEL: llvm.func @rows
// CHECK:         llvm.load {{.*}} {accx.unchanged} : !llvm.ptr -> !llvm.ptr
// CHECK-NOT:     {accx.unchanged} : !llvm.ptr -> f64
void rows(int n, double **a, double **b) {
#pragma acc parallel loop collapse(2) present(a[0:n][0:n], b[0:n][0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = 2 * b[i][j];
}

// Indices, as they are no floats; bytes may be anything.
// CHECK-LABEL: llvm.func @indices
// CHECK:         llvm.load {{.*}} {accx.unchanged} : !llvm.ptr -> i32
// CHECK-NOT:     {accx.unchanged} : !llvm.ptr -> f32
// CHECK-LABEL: llvm.func @bytes
// CHECK-NOT:     accx.unchanged
void indices(int n, float *a, const float *b, const int *at) {
#pragma acc parallel loop present(a[0:n], b, at[0:n])
  for (int i = 0; i < n; i++)
    a[i] = b[at[i]];
}
void bytes(int n, char *a, const int *at) {
#pragma acc parallel loop present(a[0:n], at[0:n])
  for (int i = 0; i < n; i++)
    a[i] = at[i] > 0;
}

// A pointer that the construct itself stores, and what other threads update.
// CHECK-LABEL: llvm.func @swapped
// CHECK-NOT:     accx.unchanged
// CHECK-LABEL: llvm.func @counted
// CHECK-NOT:     accx.unchanged
void swapped(int n, double **a) {
#pragma acc parallel loop present(a[0:2*n])
  for (int i = 0; i < n; i++) {
    double *p = a[2 * i];
    a[2 * i] = a[2 * i + 1];
    a[2 * i + 1] = p;
  }
}
void counted(int n, int *a, const int *at) {
#pragma acc parallel loop present(a, at[0:n])
  for (int i = 0; i < n; i++) {
#pragma acc atomic update
    a[at[i]]++;
  }
}
