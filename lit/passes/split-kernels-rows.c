// RUN: accopt %s --emit=data | filecheck %s

// Subscripts of a variable-length array stay within its rows, as C demands, and rows are not tested at launch:
// without them, k could be more than the length of a row.
void scale(int n, int m, int k, double a[n][m], double *b) {
#pragma acc kernels copy(a[0:n][0:m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k; j++)
      a[i][j] = 2 * a[i][j];
#pragma acc kernels copy(b[0:n * m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k; j++)
      b[i * m + j] = 2 * b[i * m + j];
}
// CHECK-LABEL: @scale
// CHECK-NOT:     scf.if
// CHECK:         acc.parallel
// CHECK:           acc.loop {{.*}}control(%i
// CHECK:             acc.loop {{.*}}control(%j
// CHECK:               accx.element %a{{.*}}[%i, %j] rows(%{{.*}}) of f64 : i32, i32
// CHECK:             independent = [#acc.device_type<none>]
// CHECK:           independent = [#acc.device_type<none>]
// CHECK:         scf.if %independent {
// CHECK:           accx.element %b{{.*}} of f64 : i32
