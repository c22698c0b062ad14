// RUN: accopt %s --stop-before sign-subscripts | filecheck %s
// RUN: accopt %s --stop-before sign-subscripts --sizes=as-written | filecheck %s --check-prefix=OTHER
// RUN: accopt %s --target=host --stop-before sign-subscripts | filecheck %s --check-prefix=OTHER
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS

// Rows of m elements, one after the other: iterations of rows of fewer than 128 elements are one sequence.
// CHECK-LABEL: @packed
// CHECK:         %short_rows = arith.cmpi slt, %{{.*}}, %c128
// CHECK:         scf.if %short_rows {
// CHECK:           acc.loop combined(parallel) control(%i : i32, %j : i32) = (%{{.*}}, %{{.*}} : i32, i32) to (%n, %m : i32, i32)
// CHECK-NOT:       acc.loop
// CHECK:             %b_i = llvm.load
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32)
// CHECK:             acc.loop control(%j{{.*}} : i32)
// CHECK:             } attributes {accx.why = "found independent: {{.*}}independent
// OTHER-NOT:     short_rows
// SAYS:          keep-short-rows.c:[[# @LINE + 7]]:9: remark: loop over 'j': the iterations of all rows are one sequence for rows of fewer than 128 iterations (tested at launch)
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
// CHECK:         scf.if %short_rows
// CHECK:         scf.if %short_rows
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
// CHECK-LABEL: @parts
// CHECK:         scf.if %short_rows
// CHECK-LABEL: @structures
// CHECK:         scf.if %short_rows
void parts(int n, int m, float (*restrict a)[100])
{
#pragma acc parallel loop present(a[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            a[i][j] += 1;
}
struct point { float x, y, z; };
void structures(int n, int m, struct point *restrict p)
{
#pragma acc parallel loop present(p[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            p[i * m + j].x += p[i * m + j].y;
}
// CHECK-LABEL: @three
// CHECK:         scf.if %short_rows
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32, %j{{.*}} : i32, %k : i32)
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop control(%j
// CHECK:               acc.loop control(%k
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
// CHECK-COUNT-7: scf.if %short_rows
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

// Sums of rows: a thread each for rows shorter than a cache line, then 8 lanes, if rows are enough to fill a
// device. With stores, a thread for fewer elements, then 4 lanes and 8; of several loops, by the longest. Rows
// need not follow one another.
// CHECK-LABEL: @sums
// CHECK:         %[[LINE:.*]] = arith.cmpi slt, %{{.*}}, %c32
// CHECK:         %[[MANY:.*]] = arith.cmpi sge, %{{.*}}, %c32768
// CHECK:         %[[THREAD:.*]] = arith.andi %[[LINE]], %[[MANY]]
// CHECK:         arith.cmpi slt, %{{.*}}, %c1024
// CHECK:         arith.cmpi sge, %{{.*}}, %c4096
// CHECK:         %[[LANES:.*]] = arith.andi
// CHECK:         scf.if %[[THREAD]]
// CHECK:           acc.parallel {{.*}} num_workers(%c1{{.*}}) vector_length(%c128
// CHECK:           acc.loop combined(parallel) control(%i
// CHECK:             acc.loop {{.*}}reduction(
// CHECK:             } {{.*}}seq
// CHECK:         } else {
// CHECK:           scf.if %[[LANES]]
// CHECK:             acc.parallel {{.*}} num_workers(%c32{{.*}}) vector_length(%c8{{.*}})
// CHECK:               acc.loop {{.*}}reduction(
// CHECK:               } attributes {accx.note = "the version for rows of fewer than 1024 iterations", accx.schedule = #accx.schedule<elements = 2>
// CHECK:           } else {
// CHECK:             acc.parallel
// CHECK-NOT:         num_workers
// CHECK:         arith.cmpi slt, %{{.*}}, %c4
// CHECK:         arith.cmpi slt, %{{.*}}, %c16
// CHECK:         arith.cmpi slt, %{{.*}}, %c1024
// CHECK:         acc.parallel
// CHECK:         acc.parallel {{.*}} num_workers(%c64{{.*}}) vector_length(%c4
// CHECK:         acc.parallel {{.*}} num_workers(%c32{{.*}}) vector_length(%c8
// CHECK:         %[[MOST:.*]] = arith.maxsi
// CHECK:         arith.cmpi slt, %[[MOST]], %c4
// CHECK:         arith.cmpi slt, %[[MOST]], %c16
// CHECK:         arith.cmpi slt, %[[MOST]], %c341
// SAYS:          keep-short-rows.c:[[# @LINE + 6]]:13: remark: loop over 'j': one thread takes a row of fewer than 32 iterations, 8 lanes take a row of fewer than 1024 iterations (tested at launch)
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

// Rows of a known length need one version, or two, if there may be too few of them.
// CHECK-LABEL: @known
// CHECK-NOT:     scf.if
// CHECK:         acc.loop combined(parallel) control(%i{{.*}} : i32, %j{{.*}} : i32)
// CHECK:         scf.if %short_rows
// CHECK:           acc.parallel {{.*}} num_workers(%c32{{.*}}) vector_length(%c8
// CHECK:         } else {
// CHECK:           acc.parallel
// CHECK-NOT:     acc.parallel
// CHECK:         llvm.return
void known(int n, float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n*20])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 20; j++)
            a[i * 20 + j] += 1;
#pragma acc parallel loop present(a[0:n*20], b[0:n])
    for (int i = 0; i < n; i++) {
        b[i] = 0;
        for (int j = 0; j < 20; j++)
            a[i * 20 + j] += 1;
    }
}

// Rows that are parts of blocks of a size that the program chooses, such as the halves of those of a Fourier
// transform: by the distance of blocks, by their number, and where the length is a quotient.
// CHECK-LABEL: @blocks
// CHECK-COUNT-3: scf.if %short_rows
// CHECK:         llvm.return
void blocks(int n, int len, int half, float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int i = 0; i < n; i += 2 * half)
        for (int j = 0; j < half; j++) {
            a[i + j] += a[i + half + j];
            b[i + j] += b[i + half + j];
        }
#pragma acc parallel loop collapse(2) present(a[0:n], b[0:n])
    for (int i = 0; i < n / half / 2; i++)
        for (int j = 0; j < half; j++) {
            a[i * 2 * half + j] += a[(i * 2 + 1) * half + j];
            b[i * 2 * half + j] += b[(i * 2 + 1) * half + j];
        }
    half = len / 2;
#pragma acc kernels loop independent present(a[0:n], b[0:n])
    for (int i = 0; i < n; i += len)
#pragma acc loop independent
        for (int j = 0; j < half; j++) {
            a[i + j] += a[i + half + j];
            b[i + j] += b[i + half + j];
        }
}

// One version: parts of longer rows with several accesses, a transposition, another loop inside, a
// reduction over rows, two nests, a constant length, a clause that versions cannot have,
// levels that are kept.
// CHECK-LABEL: @single
// CHECK-NOT:     short_rows
// CHECK:         llvm.return
void single(int n, int m, int l, float *restrict a, const float *restrict b)
{
#pragma acc parallel loop present(a[0:n*l], b[0:n*l+1])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * l + j] += b[i * l + j] + b[i * l + j + 1];
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
