// RUN: accopt %s --target=nvptx --emit=data -o %t 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=IR < %t
// RUN: accopt %s --target=nvptx --managed --emit=data -o - 2>&1 | filecheck %s --check-prefix=SHARED
// RUN: accopt %s --target=host --emit=data -o - 2>&1 | filecheck %s --check-prefix=SHARED

// The implicit attribute of an array of pointers names the rows that the nest accesses; pointers that are
// followed and whose targets are not known are reported. Nothing of it where host and device share memory.

// SHARED-NOT: warning
// SHARED-NOT: accx.pointers

// IR-LABEL: llvm.func @known
// IR:         %b_bounds = acc.bounds lowerbound({{.*}}) extent({{.*}}) stride(%c8{{.*}}) startIdx({{.*}}) {accx.pointers, strideInBytes = true}
// IR:         %b_bounds_1 = acc.bounds lowerbound({{.*}}) extent({{.*}}) stride(%c4{{.*}}) startIdx({{.*}}) {strideInBytes = true}
// IR:         acc.copyin varPtr(%b : !llvm.ptr) bounds(%b_bounds, %b_bounds_1) -> !llvm.ptr {dataClause = #acc<data_clause acc_copy>, implicit = true, name = "b"}
// IR:         accx.pointers
// IR:         acc.copyin varPtr(%a : !llvm.ptr) bounds(%a_bounds, %a_bounds_1) -> !llvm.ptr {implicit = true, name = "a"}
// IR-LABEL: llvm.func @unknown
// IR-NOT:     accx.pointers
void known(float **a, float **b, int n, int m) {
#pragma acc parallel loop collapse(2)
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i][j] = a[i - 1][2 * j];
}

typedef struct { int n; double *x; } Vector;
#pragma acc routine seq
double total(const double *x, int n);

// CHECK: rows.c:{{[0-9:]+}} warning: 'a' is copied with the pointers in it, but not what they point to: the part that is accessed differs from row to row [-Wunmapped-rows]
// CHECK: help: name the rows in a data clause: copyin(a[0:n][0:m])
// CHECK: rows.c:{{[0-9:]+}} warning: 'b' is copied with the pointers in it, but not what they point to: it is passed to 'total' [-Wunmapped-rows]
// CHECK: rows.c:{{[0-9:]+}} warning: 'c' is copied with the pointers in it, but not what they point to: a subscript is not an affine expression of loop variables
// CHECK: rows.c:{{[0-9:]+}} warning: 'v' is copied with the pointers in it, but not what they point to [-Wunmapped-rows]
// CHECK: help: map that, too: a data clause for p->x[0:n] attaches the pointer x of *p
void unknown(double **a, double **b, double **c, const int *at, double *y, int n) {
  Vector v = {n, y};
#pragma acc parallel loop copy(y[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      y[i] += a[i][j];
#pragma acc parallel loop copy(y[0:n])
  for (int i = 0; i < n; i++)
    y[i] += total(b[i], n);
#pragma acc parallel loop copy(y[0:n])
  for (int i = 0; i < n; i++)
    y[i] += c[i][at[i]];
#pragma acc parallel loop copy(y[0:n])
  for (int i = 0; i < n; i++)
    y[i] += v.x[i] * v.n;
}

// Rows that a condition ends, each elsewhere: their lengths may differ. Not rows that other accesses need whole, nor
// those under conditions that hold for the row, that all rows share, or that say nothing of its end.
// CHECK: ragged.c:{{[0-9:]+}} warning: 'a' is copied with the pointers in it, {{.*}}: the part that is accessed differs from row to row
// CHECK: ragged.c:{{[0-9:]+}} warning: 'b' is copied with the pointers in it, {{.*}}: the part that is accessed differs from row to row
// CHECK-NOT: warning
#line 1 "ragged.c"
void ragged(double **a, double **b, const int *len, double *y, int n, int m) {
#pragma acc parallel loop copy(y[0:n]) copyin(len[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (a[i] && j + 1 <= len[i])
        y[i] += a[i][j];
#pragma acc parallel loop copy(y[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += i + j < m ? b[i][j] : 0;
}

// IR-LABEL: llvm.func @whole
// IR-COUNT-5:   accx.pointers, strideInBytes
void whole(double **a, double **b, double **c, double **d, double **e, const int *len, double *y, int n, int m) {
#pragma acc parallel loop copy(y[0:n]) copyin(len[0:n])
  for (int i = 0; i < n; i++) {
    if (a[i] && len[i] > 3)
      for (int j = 0; j < m; j++)
        y[i] += a[i][j] + (j > 0 && j < m - 1 ? b[i][j] : 0);
    for (int j = 0; j < m; j++)
      if (j < len[i])
        y[i] += c[i][j];
      else
        y[i] -= c[i][j] * (len[j] ? d[i][j] : 1);
    for (int j = 0; j < m; j++)
      y[i] += c[i][j] + d[i][j];
    for (int j = 0; j < m; j++)
      if (i * i + j * j < n)
        e[i][j] = 0;
  }
}

// Pointers that are only compared, or that the construct makes itself.
void quiet(double **a, double **own, double *y, int n) {
#pragma acc parallel loop copy(y[0:n])
  for (int i = 0; i < n; i++)
    y[i] += a[i] != 0;
#pragma acc parallel loop copy(y[0:n]) default(present)
  for (int i = 0; i < n; i++)
    y[i] += a[i][i];
#pragma acc parallel loop copy(y[0:n]) deviceptr(own)
  for (int i = 0; i < n; i++)
    y[i] += own[i][i * i];
}
