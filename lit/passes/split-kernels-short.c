// RUN: accopt %s --emit data | filecheck %s
// RUN: accopt %s --emit scheduled | filecheck %s --check-prefix SCHEDULED

// Loops that loops of constant length bound are as short as these, in kernels constructs and where they have directives;
// a triangle over long loops is not.
// CHECK-LABEL: llvm.func @plain
// CHECK:         acc.loop
// CHECK:           scf.for %j
// CHECK:             scf.for %k
// CHECK-NOT:     acc.loop
// CHECK-LABEL: llvm.func @directives
// CHECK-COUNT-2: acc.loop
// SCHEDULED-LABEL: llvm.func @directives
// SCHEDULED:     acc.loop
// SCHEDULED:       scf.for %j
// SCHEDULED:         scf.for %k
// SCHEDULED-NOT: acc.loop
// SCHEDULED-LABEL: llvm.func @long_triangle
// SCHEDULED-COUNT-3: acc.loop
void plain(int n, double (*restrict m)[6][6], double (*restrict x)[6][6]) {
#pragma acc kernels present(m[0:n], x[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < j; k++)
        x[i][j][k] = m[i][k][j];
}
void directives(int n, double (*restrict m)[6][6], double (*restrict x)[6][6]) {
#pragma acc parallel loop present(m[0:n], x[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 6; j++) {
#pragma acc loop
      for (int k = j + 1; k < 6; k++)
        x[i][j][k] = m[i][k][j];
    }
}
void long_triangle(int n, double (*restrict m)[600][600], double (*restrict x)[600][600]) {
#pragma acc parallel loop present(m[0:n], x[0:n])
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < 600; j++)
#pragma acc loop
      for (int k = 0; k < j; k++)
        x[i][j][k] = m[i][k][j];
}
