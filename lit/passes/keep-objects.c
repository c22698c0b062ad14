// RUN: accopt %s --emit transformed | filecheck %s
// RUN: accopt %s --emit transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix SAID
// RUN: accopt %s --target host --emit transformed | filecheck %s --check-prefix HOST
// RUN: accopt %s --pass-option 'keep-objects{target=host}' --emit transformed | filecheck %s --check-prefix HOST
// RUN: accopt %s --emit ptx | filecheck %s --check-prefix PTX

// HOST-NOT: %{{.*}}_own = llvm.alloca

// A matrix eliminated in place, however it is written. Its elements are loaded before, and stored after the loops; in
// registers between. The version for arrays that overlap stays as it is.
// CHECK-LABEL: llvm.func @flat
// CHECK:         acc.loop
// CHECK-NEXT:      {{.*}} arith.constant 1 : i32
// CHECK-NEXT:      %m_own{{.*}} = llvm.alloca {{.*}} x !llvm.array<16 x f64>
// CHECK-COUNT-16:  llvm.load {{.*}} {accx.speculative}
// CHECK:           scf.for
// CHECK:             accx.element %m_own[
// CHECK:           } {accx.unroll = 0 : i32}
// CHECK:           accx.element %m_own[4] of f64
// CHECK-NEXT:      llvm.load
// CHECK-NEXT:      llvm.getelementptr {{.*}}[32]
// CHECK-NEXT:      llvm.store
// CHECK-COUNT-11:  llvm.store
// CHECK-NEXT:      acc.yield
// SAID:        remark: 16 elements of 'm' are kept by each iteration
// PTX-LABEL:   .entry flat_{{[0-9]+}}_kernel
// PTX-COUNT-8:   ld.global.v2.b64
// PTX-COUNT-6:   st.global.v2.b64
// PTX-NOT:       st.
// PTX:           ret
// CHECK-LABEL: llvm.func @subscripts
// CHECK:         %m_own{{.*}} = llvm.alloca {{.*}} x !llvm.array<16 x f64>
// CHECK-LABEL: llvm.func @moved
// CHECK:         %m_own{{.*}} = llvm.alloca {{.*}} x !llvm.array<16 x f64>
void flat(int n, double *m) {
#pragma acc parallel loop present(m[0:16*n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      for (int r = k + 1; r < 4; r++)
        for (int c = 0; c < 4; c++)
          m[16 * i + 4 * r + c] -= m[16 * i + 4 * k + c] * m[16 * i + 4 * r + k];
}
void subscripts(long n, double m[n][4][4]) {
  long i;
  int k, r, c;
#pragma acc kernels loop independent private(k, r, c) present(m[0:n])
  for (i = 0; i < n; i++)
    for (k = 0; k < 4; k++)
      for (r = k + 1; r < 4; r++)
        for (c = 0; c < 4; c++)
          m[i][r][c] -= m[i][k][c] * m[i][r][k];
}
void moved(int n, double *m) {
#pragma acc parallel loop gang vector present(m[0:16*n])
  for (int i = 0; i < n; i++) {
    double *own = m + 16 * i;
    for (int k = 0; k < 4; k++)
      for (int r = k + 1; r < 4; r++)
        for (int c = 0; c < 4; c++)
          own[4 * r + c] -= own[4 * k + c] * own[4 * r + k];
  }
}

// Rows that are chosen, and elements that are written under a condition, which have flags.
// CHECK-LABEL: llvm.func @pivots
// CHECK:         %m_own{{.*}} = llvm.alloca {{.*}} x !llvm.array<9 x f64>
// CHECK:         %m_written{{.*}} = llvm.alloca {{.*}} x !llvm.array<9 x i8>
// CHECK:         arith.select
// CHECK:         %written{{.*}} = arith.cmpi ne
// CHECK-NEXT:    scf.if %written
// PTX-LABEL:   .entry pivots_{{[0-9]+}}_kernel
// PTX-COUNT-9:   ld.global.b64
// PTX-NOT:       ld.
// PTX:           ret
// PTX-LABEL:   .entry
void pivots(int n, double *m) {
#pragma acc parallel loop present(m[0:9*n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      int q = k;
      for (int r = k + 1; r < 3; r++)
        if (m[9 * i + 3 * r + k] > m[9 * i + 3 * q + k])
          q = r;
      if (q != k)
        for (int c = 0; c < 3; c++) {
          double t = m[9 * i + 3 * k + c];
          m[9 * i + 3 * k + c] = m[9 * i + 3 * q + c];
          m[9 * i + 3 * q + c] = t;
        }
      for (int r = k + 1; r < 3; r++)
        for (int c = k; c < 3; c++)
          m[9 * i + 3 * r + c] -= m[9 * i + 3 * k + c];
    }
}

// Numbers that a loop of unknown length advances.
// CHECK-LABEL: llvm.func @advanced
// CHECK:         %z_own{{.*}} = llvm.alloca {{.*}} x !llvm.array<2 x f64>
void advanced(int n, double (*z)[2], double limit) {
#pragma acc parallel loop present(z[0:n])
  for (int i = 0; i < n; i++) {
    z[i][0] = 1;
    z[i][1] = 2;
    while (z[i][0] < limit) {
      z[i][0] += z[i][1];
      z[i][1] *= z[i][0];
    }
  }
}

// An object that is only read is read whole before it is used.
// CHECK-LABEL: llvm.func @products
// CHECK:         acc.loop
// CHECK-COUNT-9:   llvm.load {{.*}} {accx.speculative}
// CHECK:           scf.for
// CHECK:         accx.resident = 8 : i32
// SAID:        remark: 9 elements of 'm' are read by each iteration at once
void products(int n, double (*restrict m)[3][3], double (*restrict x)[3], double (*restrict y)[3]) {
#pragma acc parallel loop present(m[0:n], x[0:n], y[0:n])
  for (int i = 0; i < n; i++)
    for (int r = 0; r < 3; r++) {
      double s = 0;
      for (int c = 0; c < 3; c++)
        s += m[i][r][c] * x[i][c];
      y[i][r] = s;
    }
}

// Declined: an element that not every iteration accesses; one accessed once; a neighbour's element; elements at places
// that are not known; an array that another may overlap, though not known before the launch; atomic updates; two types.
// CHECK-LABEL: llvm.func @perhaps
// CHECK-NOT:     _own
void perhaps(int n, int *at, double *m) {
#pragma acc parallel loop present(m[0:4*n], at[0:n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      for (int r = 0; r < 4; r++)
        if (at[i] > r)
          m[4 * i + r] += m[4 * i] * m[4 * i + 1];
}
// CHECK-LABEL: llvm.func @once
// CHECK-NOT:     _own
void once(int n, double *m) {
#pragma acc parallel loop present(m[0:4*n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      m[4 * i + k] += 1;
}
// CHECK-LABEL: llvm.func @neighbour
// CHECK-NOT:     _own
void neighbour(int n, double *m) {
#pragma acc parallel loop present(m[0:8*n+8])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      for (int r = 0; r < 4; r++)
        m[8 * i + r] += m[8 * i + k] * m[4 + k];
}
// CHECK-LABEL: llvm.func @anywhere
// CHECK-NOT:     _own
void anywhere(int n, const int *restrict at, double *restrict m) {
#pragma acc parallel loop present(m[0:4*n], at[0:4*n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      for (int r = 0; r < 4; r++)
        m[4 * i + at[4 * i + k]] += m[4 * i + r];
}
// CHECK-LABEL: llvm.func @overlaps
// CHECK-NOT:     _own
void overlaps(int n, double **m, double *x) {
#pragma acc parallel loop present(x[0:4*n], m[0:n][0:4])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      for (int r = 0; r < 4; r++)
        x[4 * i + r] += x[4 * i + k] * m[i][r];
}
// CHECK-LABEL: llvm.func @updates
// CHECK-NOT:     _own
void updates(int n, double *m) {
#pragma acc parallel loop present(m[0:4*n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      for (int r = 0; r < 4; r++)
#pragma acc atomic update
        m[4 * i + r] += m[4 * i + k];
}
// CHECK-LABEL: llvm.func @punned
// CHECK-NOT:     _own
void punned(int n, double *m) {
#pragma acc parallel loop present(m[0:4*n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      for (int r = 0; r < 4; r++)
        m[4 * i + r] += m[4 * i + k] + *(char *)&m[4 * i];
}
