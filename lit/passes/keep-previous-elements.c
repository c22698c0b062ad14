// RUN: accopt %s --stop-before split-column-sums | filecheck %s

// What the iteration before has stored is carried. The first value is loaded, if the loop runs at all.
// CHECK-LABEL: @recurrence
// CHECK:         %runs = arith.cmpi slt
// CHECK:         scf.if %runs -> (f32) {
// CHECK-NEXT:      llvm.load
// CHECK:         scf.for %j{{.*}} iter_args(%previous = {{.*}}) -> (f32)
// CHECK:           llvm.load %x
// CHECK-NOT:       llvm.load
// CHECK:           llvm.store %[[NEW:.*]], %y
// CHECK-NEXT:      scf.yield %[[NEW]] : f32
void recurrence(int n, int m, const float *restrict x, float *restrict y)
{
#pragma acc parallel loop present(x[0:n*m], y[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            y[i * m + j] = 0.5f * y[i * m + j - 1] + x[i * m + j];
}

// The first value is what was stored there before the loop; a loop in steps of two, and one that counts down.
// CHECK-LABEL: @stored
// CHECK:         llvm.store %[[FIRST:.*]], %y
// CHECK-NOT:     scf.if
// CHECK:         scf.for %j{{.*}} iter_args(%previous{{.*}} = %[[FIRST]])
// CHECK-LABEL: @steps
// CHECK:         scf.for {{.*}} iter_args(%previous{{.*}} = {{.*}}) -> (f64)
// CHECK:         scf.for {{.*}} iter_args(%previous{{.*}} = {{.*}}) -> (f64)
void stored(int n, int m, const float x[restrict n][m], float y[restrict n][m])
{
#pragma acc parallel loop present(x[0:n][0:m], y[0:n][0:m])
    for (int i = 0; i < n; i++) {
        y[i][0] = x[i][0];
        for (int j = 1; j < m; j++)
            y[i][j] = y[i][j - 1] + x[i][j];
    }
}
void steps(int n, int m, double *restrict y)
{
#pragma acc parallel loop present(y[0:n*m])
    for (int i = 0; i < n; i++) {
        for (int j = 2; j < m; j += 2)
            y[i * m + j] += y[i * m + j - 2];
        for (int j = m - 2; j >= 0; j--)
            y[i * m + j] -= y[i * m + j + 1];
    }
}

// Not carried: an element of two iterations before, one that another store may change, one of an
// address that the loop loads, and a store in a branch.
// CHECK-LABEL: @others
// CHECK-NOT:     %previous
// CHECK:         llvm.return
void others(int n, int m, const float *restrict x, float *restrict y, const int *restrict at)
{
#pragma acc parallel loop present(x[0:n*m], y[0:n*m], at[0:m])
    for (int i = 0; i < n; i++) {
        for (int j = 2; j < m; j++)
            y[i * m + j] = y[i * m + j - 2] + x[i * m + j];
        for (int j = 1; j < m - 1; j++) {
            y[i * m + j] = y[i * m + j - 1] + x[i * m + j];
            y[i * m + m - j] = 0;
        }
        for (int j = 1; j < m; j++)
            y[i * m + at[j] + j] = y[i * m + at[j] + j - 1] + x[j];
        for (int j = 1; j < m; j++)
            if (x[j] > 0)
                y[i * m + j] = y[i * m + j - 1] + x[j];
    }
}
