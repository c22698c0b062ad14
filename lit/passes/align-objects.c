// RUN: accopt %s --emit transformed | filecheck %s
// RUN: accopt %s --emit transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix SAID
// RUN: accopt %s --target host --emit transformed | filecheck %s --check-prefix HOST
// RUN: accopt %s --pass-option 'align-objects{target=host}' --emit transformed | filecheck %s --check-prefix HOST
// RUN: accopt %s --emit ptx | filecheck %s --check-prefix PTX

// HOST-NOT: accx.aligned

typedef struct { double re, im; } number;
typedef struct { float x, y, z; } triple;

// Structures: the host tests the arrays whose elements are accessed together.
// CHECK-LABEL: llvm.func @structures
// CHECK:         %[[A:.*]] = llvm.ptrtoint %a_1
// CHECK-NEXT:    %[[B:.*]] = llvm.ptrtoint %b_1
// CHECK-NEXT:    %[[BITS:.*]] = arith.ori %[[A]], %[[B]] : i64
// CHECK:         %[[REST:.*]] = arith.andi %[[BITS]], %c15{{.*}}
// CHECK:         %[[TEST:.*]] = arith.cmpi eq, %[[REST]]
// CHECK-NEXT:    scf.if %[[TEST]] {
// CHECK-NEXT:      acc.parallel
// CHECK:           accx.aligned = [16 : i64, 16 : i64, 1 : i64]
// CHECK:         } else {
// CHECK-NEXT:      acc.parallel
// CHECK-NOT:       accx.aligned
// CHECK:         llvm.return
// SAID:        align-objects.c:[[# @LINE + 9]]:{{.*}} neighbouring elements are accessed together where arrays are aligned (tested at launch)
// PTX-LABEL:   .entry structures_{{[0-9]+}}_kernel
// PTX-NOT:       ld.global.nc.b64
// PTX-COUNT-2:   ld.global.nc.v2.b64
// PTX:           st.global.b64
// PTX-LABEL:   .entry structures_{{[0-9]+}}_2_kernel
// PTX-COUNT-4:   ld.global.nc.b64
// PTX:           st.global.b64
void structures(int n, const number *restrict a, const number *restrict b, double *restrict c) {
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n])
  for (int i = 0; i < n; i++)
    c[i] = a[i].re * b[i].re - a[i].im * b[i].im;
}

// Loops over the elements, which LLVM unrolls; in a loop that it does not; of a function; copies of whole structures.
// CHECK-LABEL: llvm.func @loops
// CHECK:         accx.aligned = [16 : i64, 1 : i64]
// PTX-LABEL:   .entry loops_{{[0-9]+}}_kernel
// PTX-COUNT-2:   ld.global.nc.v4.b32
// CHECK-LABEL: llvm.func @rows
// CHECK:         accx.aligned = [1 : i64, 16 : i64, 16 : i64]
// CHECK-LABEL: llvm.func @calls
// CHECK:         accx.aligned = [16 : i64, 1 : i64]
// CHECK-LABEL: llvm.func @copies
// CHECK:         accx.aligned = [16 : i64, 16 : i64]
void loops(int n, float (*restrict a)[2][4], float *restrict s) {
#pragma acc parallel loop present(a[0:n], s[0:n])
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int r = 0; r < 2; r++)
      for (int c = 0; c < 4; c++)
        sum = sum * 3 + a[i][r][c];
    s[i] = sum;
  }
}
void rows(int n, int *restrict p, double *restrict a, double *restrict s) {
#pragma acc parallel loop present(p[0:n+1], a[0:4*n], s[0:2*n])
  for (int i = 0; i < n; i++) {
    double x = 0, y = 0;
    for (int k = p[i]; k < p[i + 1]; k++) {
      x += a[4 * k] * a[4 * k + 1];
      y += a[4 * k + 2] * a[4 * k + 3];
    }
    s[2 * i] = x;
    s[2 * i + 1] = y;
  }
}
static double norm(const double *v) {
  double s = 0;
  for (int k = 0; k < 4; k++)
    s += v[k] * v[k];
  return s > 1 ? s * s + 3 : 1 / (s + 2);
}
void calls(int n, double *restrict v, double *restrict s) {
#pragma acc parallel loop present(v[0:4*n], s[0:n])
  for (int i = 0; i < n; i++)
    s[i] = norm(v + 4 * i);
}
void copies(int n, number *a, number *b) {
#pragma acc parallel loop present(a[0:n], b[0:n])
  for (int i = 0; i < n; i++)
    b[i] = a[i];
}

// Declined: objects of 12 bytes; neighbours on lanes; two elements a stride apart; few accesses of many; a length known
// only at run time.
// CHECK-LABEL: llvm.func @triples
// CHECK-NOT:     accx.aligned
void triples(int n, triple *restrict a, float *restrict s) {
#pragma acc parallel loop present(a[0:n], s[0:n])
  for (int i = 0; i < n; i++)
    s[i] = a[i].x * a[i].y + a[i].z;
}
// CHECK-LABEL: llvm.func @neighbours
// CHECK-NOT:     accx.aligned
void neighbours(int n, double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:n], s[0:n])
  for (int i = 1; i < n - 1; i++)
    s[i] = a[i - 1] + a[i] + a[i + 1];
}
// CHECK-LABEL: llvm.func @apart
// CHECK-NOT:     accx.aligned
void apart(int n, double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:8*n], s[0:n])
  for (int i = 0; i < n; i++)
    s[i] = a[8 * i] + a[8 * i + 3] + a[8 * i + 5];
}
// CHECK-LABEL: llvm.func @few
// CHECK-NOT:     accx.aligned
void few(int n, int m, number *restrict a, double *restrict x, double *restrict s) {
#pragma acc parallel loop present(a[0:n], x[0:n*m], s[0:n])
  for (int i = 0; i < n; i++) {
    double sum = a[i].re + a[i].im;
    for (int k = 0; k < m; k++)
      sum += x[k * n + i];
    s[i] = sum;
  }
}
// CHECK-LABEL: llvm.func @unknown
// CHECK-NOT:     accx.aligned
void unknown(int n, int m, double *restrict a, double *restrict s) {
#pragma acc parallel loop present(a[0:n*m], s[0:n])
  for (int i = 0; i < n; i++)
    s[i] = a[i * m] + a[i * m + 1] + a[i * m + 2] + a[i * m + 3];
}
