// RUN: accopt %s --stop-before split-collapsed-loops | filecheck %s
// RUN: accopt %s --stop-before split-collapsed-loops --sizes=as-written | filecheck %s --check-prefix=OTHER
// RUN: accopt %s --target=host --stop-before split-collapsed-loops | filecheck %s --check-prefix=OTHER
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS

// Rows of m elements, one after the other: lanes share rows of 8 elements and more, threads take shorter ones.
// CHECK-LABEL: @packed
// CHECK:         %long_rows = arith.cmpi sge, %{{.*}}, %c8
// CHECK:         scf.if %long_rows {
// CHECK:           acc.loop combined(parallel) control(%i : i32)
// CHECK:             acc.loop control(%j : i32)
// CHECK:             } attributes {accx.why = "found independent: {{.*}}independent
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32)
// CHECK:             acc.loop control(%j{{.*}} : i32)
// CHECK:             } attributes {accx.why = "it has too few iterations {{.*}}seq
// OTHER-NOT:     long_rows
// SAYS:          keep-short-rows.c:[[# @LINE + 7]]:9: remark: loop over 'j': lanes share it if it has 8 iterations or more (tested at launch), else a thread runs all of them
void packed(int n, int m, float *restrict a, const float *restrict b)
{
#pragma acc parallel loop gang vector present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        // A value of the row does not matter.
        float scale = b[i];
        for (int j = 0; j < m; j++)
            a[i * m + j] = scale * b[i * m + j];
    }
}

// The same of arrays with dimensions, from another first element, of small structures, in three loops.
// CHECK-LABEL: @dimensions
// CHECK:         scf.if %long_rows
// CHECK:         scf.if %long_rows
void dimensions(int n, int m, double (*restrict a)[m], int first)
{
#pragma acc parallel loop present(a[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] += 1;
    double *restrict flat = a[0];
#pragma acc parallel loop present(flat[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = first; j < m; j++)
            flat[i * (m - first) + j] += 1;
}
// CHECK-LABEL: @structures
// CHECK:         scf.if %long_rows
struct point { float x, y, z; };
void structures(int n, int m, struct point *restrict p)
{
#pragma acc parallel loop present(p[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            p[i * m + j].x += p[i * m + j].y;
}
// CHECK-LABEL: @three
// CHECK:         scf.if %long_rows
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop control(%j
// CHECK:               acc.loop control(%k
// CHECK:               } {{.*}}seq
// CHECK:             } {{.*}}independent
void three(int n, int m, int l, float *restrict a)
{
#pragma acc parallel loop present(a[0:n*m*l])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++)
                a[(i * m + j) * l + k] *= 2;
}

// One version: columns (the nest turns around), parts of longer rows, a transposition, another loop inside, a
// directive on the loop, two nests, a constant length, a clause that versions cannot have.
// CHECK-LABEL: @single
// CHECK-NOT:     long_rows
// CHECK:         llvm.return
void single(int n, int m, int l, float *restrict a, const float *restrict b)
{
#pragma acc parallel loop present(a[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[j * n + i] += 1;
#pragma acc parallel loop present(a[0:n*l])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * l + j] += 1;
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] = b[j * n + i];
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++)
                a[i * m + j] += b[k];
#pragma acc parallel loop present(a[0:n*m])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < m; j++)
            a[i * m + j] += 1;
#pragma acc parallel present(a[0:n*m])
    {
#pragma acc loop
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                a[i * m + j] += 1;
#pragma acc loop
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                a[i * m + j] += 1;
    }
#pragma acc parallel loop present(a[0:n*100])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 100; j++)
            a[i * 100 + j] += 1;
#pragma acc parallel loop present(a[0:n*m]) wait(1)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] += 1;
}
