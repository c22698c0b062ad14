// RUN: accopt %s --stop-before sign-subscripts | filecheck %s
// RUN: accopt %s --stop-before sign-subscripts --sizes=as-written | filecheck %s --check-prefix=OTHER
// RUN: accopt %s --target=host --stop-before sign-subscripts | filecheck %s --check-prefix=OTHER
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

// The same with directives on the loop, whatever their levels and sizes, with a collapsed loop, and where the
// nest is turned around.
// CHECK-LABEL: @spelled
// CHECK-COUNT-7: scf.if %long_rows
// CHECK:         llvm.return
void spelled(int n, int m, float *restrict a)
{
#pragma acc parallel loop present(a[0:n*m])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < m; j++)
            a[i * m + j] += 1;
#pragma acc parallel loop gang vector_length(128) present(a[0:n*m])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < m; j++)
            a[i * m + j] += 1;
#pragma acc parallel loop collapse(2) gang vector present(a[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] += 1;
#pragma acc parallel loop tile(8, 32) present(a[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] += 1;
#pragma acc kernels loop independent present(a[0:n*m])
    for (int i = 0; i < n; i++)
#pragma acc loop independent
        for (int j = 0; j < m; j++)
            a[i * m + j] += 1;
#pragma acc parallel loop present(a[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[j * n + i] += 1;
    float t;
#pragma acc parallel loop gang worker num_workers(8) present(a[0:n*m])
    for (int i = 0; i < n; i++)
#pragma acc loop vector private(t)
        for (int j = 0; j < m; j++) {
            t = a[i * m + j];
            a[i * m + j] = t * t;
        }
}

// Sums of rows: many of them take a thread each up to a greater length, as a row takes a gang otherwise. With
// stores in the loops, up to a smaller one; of several loops, by the longest. Rows need not follow one another.
// CHECK-LABEL: @sums
// CHECK:         %[[SOME:.*]] = arith.cmpi sge, %{{.*}}, %c8
// CHECK:         %[[FEW:.*]] = arith.cmpi slt, %{{.*}}, %c32768
// CHECK:         %[[MANY:.*]] = arith.cmpi sge, %{{.*}}, %c192
// CHECK:         %[[EITHER:.*]] = arith.ori %[[FEW]], %[[MANY]]
// CHECK:         %[[LONG:.*]] = arith.andi %[[SOME]], %[[EITHER]]
// CHECK:         scf.if %[[LONG]]
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop {{.*}}reduction(
// CHECK:             } {{.*}}seq
// CHECK:         arith.cmpi sge, %{{.*}}, %c40
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop
// CHECK:             } {{.*}}seq
// CHECK:         %[[MOST:.*]] = arith.maxsi
// CHECK:         arith.cmpi sge, %[[MOST]], %c20
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop
// CHECK:             } {{.*}}seq
// CHECK:             acc.loop
// CHECK:             } {{.*}}seq
// SAYS:          keep-short-rows.c:[[# @LINE + 6]]:13: remark: loop over 'j': lanes share it if it has 192 iterations or more, or 8 in fewer than 32768 rows (tested at launch), else
void sums(int n, int m, int l, const float *restrict a, float *restrict s, float *restrict b)
{
#pragma acc parallel loop gang present(a[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        float t = 0;
#pragma acc loop vector reduction(+:t)
        for (int j = 0; j < m; j++)
            t += a[i * m + j];
        s[i] = t;
    }
#pragma acc parallel loop present(b[0:n*l], s[0:n])
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < m; j++)
            b[i * l + j] = 0;
    }
#pragma acc parallel loop present(b[0:n*m], s[0:n])
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            b[i * m + j] = 0;
        for (int j = 0; j < l; j++)
            b[i * m + j] += s[i];
    }
}

// One version: parts of longer rows, a transposition, another loop inside, a
// reduction over rows, two nests, a constant length, a clause that versions cannot have,
// levels that are kept.
// CHECK-LABEL: @single
// CHECK-NOT:     long_rows
// CHECK:         llvm.return
void single(int n, int m, int l, float *restrict a, const float *restrict b)
{
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
    float sum = 0;
#pragma acc parallel loop reduction(+:sum) present(a[0:n*m])
    for (int i = 0; i < n; i++)
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < m; j++)
            sum += a[i * m + j];
    a[0] = sum;
#pragma acc parallel loop num_gangs(1) present(a[0:n*m])
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
