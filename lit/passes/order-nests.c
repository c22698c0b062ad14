// RUN: accopt %s --stop-before split-collapsed-loops | filecheck %s
// RUN: accopt %s --target=host --stop-before split-collapsed-loops | filecheck %s --check-prefix=HOST
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS

// Columns outside: rows go outside, and what stands between the loops into the body.
// CHECK-LABEL: llvm.func @columns
// CHECK:         acc.loop combined(parallel) control(%j : i32) = (%{{.*}} : i32) to (%m
// CHECK-NEXT:      acc.loop control(%i : i64) = (%{{.*}} : i64) to (%n
// CHECK-NEXT:        arith.constant 3
// HOST-LABEL:  llvm.func @columns
// HOST:          acc.loop {{.*}}control(%j : i32)
// HOST:            acc.loop control(%i : i64)
// SAYS-COUNT-5: remark: loop over 'i' made the innermost
// SAYS:         remark: loop over 'j' made the innermost
// SAYS:         remark: loop over 'j' made the innermost: its few iterations read the same elements
// SAYS-COUNT-2: remark: loop over 'x' made the innermost
// SAYS-NOT:     made the innermost
void columns(long n, int m, float *restrict a)
{
#pragma acc parallel loop present(a[0:n*m])
    for (long i = 0; i < n; i++) {
        long w = 3 * i;
#pragma acc loop
        for (int j = 0; j < m; j++)
            a[j * n + i] += w;
    }
}

// A nest from the other end turns around, collapsed as well, with reductions, and with variables of an iteration
// (which are values by then).
// CHECK-LABEL: llvm.func @turned
// CHECK:         control(%k : i32, %j{{[_0-9]*}} : i32, %i{{[_0-9]*}} : i32)
// CHECK:         acc.loop {{.*}}reduction({{.*}} control(%j{{[_0-9]*}} : i32, %i{{[_0-9]*}} : i32)
// CHECK:         acc.loop {{.*}}reduction({{.*}} control(%j
// CHECK:           acc.loop reduction({{.*}} control(%i
// CHECK:         acc.loop combined(parallel) control(%j
// CHECK:           acc.loop control(%i
float turned(int n, float (*restrict a)[n][n], const float (*restrict b)[n])
{
    float sum = 0, t;
#pragma acc parallel loop collapse(3) present(a[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                a[k][j][i] += 1;
#pragma acc parallel loop collapse(2) reduction(+:sum) present(b[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += b[j][i];
#pragma acc parallel loop reduction(+:sum) present(b[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < n; j++)
            sum += b[j][i];
#pragma acc parallel loop private(t) present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop private(t)
        for (int j = 0; j < n; j++) {
            t = b[j][i];
            a[0][j][i] = t * t;
        }
    return sum;
}

// The middle one: the others keep their order.
// CHECK-LABEL: llvm.func @middle
// CHECK:         control(%i{{[_0-9]*}} : i32, %k{{[_0-9]*}} : i32, %j{{[_0-9]*}} : i32)
void middle(int n, float (*restrict a)[n][n])
{
#pragma acc parallel loop collapse(3) present(a[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                a[i][k][j] += 1;
}

// What a block copies before is read from there: stores count.
// CHECK-LABEL: llvm.func @cached
// CHECK:         control(%i{{[_0-9]*}} : i32, %j
void cached(int n, float (*restrict a)[n], const float (*restrict b)[n])
{
#pragma acc parallel loop collapse(2) present(a[0:n], b[0:n])
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++) {
#pragma acc cache(b[j-1:2][i-1:2])
            a[i][j] = b[j][i] + b[j - 1][i] + b[j][i - 1];
        }
}

// Left alone: levels that are kept, triangles, code between the loops that reads what the nest may write, as many accesses along
// memory as across, sums of an iteration.
// CHECK-LABEL: llvm.func @others
// CHECK:         acc.loop {{.*}}gang control(%chunk
// CHECK:           acc.loop vector control(%j
// CHECK:         acc.loop {{.*}}control(%i
// CHECK:           acc.loop {{.*}}control(%j{{[_0-9]*}} : i32) = (%i
// CHECK:         acc.loop {{.*}}control(%i
// CHECK:           llvm.load
// CHECK:           acc.loop {{.*}}control(%j
// CHECK:         control(%i{{[_0-9]*}} : i32, %j
// CHECK:         acc.loop {{.*}}control(%i
// CHECK:           acc.loop reduction({{.*}}control(%j
void others(int n, float (*a)[n], float (*b)[n])
{
#pragma acc parallel loop gang(static:2) present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            a[j][i] += 1;
#pragma acc parallel loop present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = i; j < n; j++)
            a[j][i] += 1;
#pragma acc parallel loop present(a[0:n])
    for (int i = 0; i < n; i++) {
        float first = a[0][i];
#pragma acc loop
        for (int j = 0; j < n; j++)
            a[j][i] += first;
    }
#pragma acc parallel loop collapse(2) present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[j][i] = b[i][j];
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < n; j++)
            sum += a[j][i];
        b[0][i] = sum;
    }
}

// A few passes over the same elements become one, but not if each iteration stores elements of its own.
// CHECK-LABEL: llvm.func @counters
// CHECK:         acc.loop combined(parallel) control(%i{{[_0-9]*}} : i32) = (%{{.*}} : i32) to (%n
// CHECK-NEXT:      acc.loop control(%j{{[_0-9]*}} : i32)
// HOST-LABEL:  llvm.func @counters
// HOST:          acc.loop {{.*}}control(%j{{[_0-9]*}} : i32)
void counters(int n, const int *kind, int *count)
{
#pragma acc parallel loop present(kind[0:n], count[0:6])
    for (int j = 0; j < 6; j++)
#pragma acc loop
        for (int i = 0; i < n; i++)
            if (kind[i] == j) {
#pragma acc atomic
                count[j]++;
            }
}

// CHECK-LABEL: llvm.func @scaled
// CHECK:         acc.loop combined(parallel) control(%j{{[_0-9]*}} : i32)
void scaled(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n], b[0:6*n])
    for (int j = 0; j < 6; j++)
#pragma acc loop
        for (int i = 0; i < n; i++)
            b[j * n + i] = a[i] * j;
}

// Elements at rounded positions, or chosen by data, say nothing about the order: the results do.
// CHECK-LABEL: llvm.func @resized
// CHECK:         acc.loop combined(parallel) control(%y{{[_0-9]*}} : i32, %x
// CHECK:         acc.loop combined(parallel) control(%y{{[_0-9]*}} : i32, %x
void resized(int h, int w, float sy, float sx, const float *restrict a, const int *restrict k, float *restrict b)
{
#pragma acc parallel loop collapse(2) present(a[0:h*w], b[0:h*w])
    for (int x = 0; x < w; x++)
        for (int y = 0; y < h; y++) {
            int i = (int)(y * sy), j = (int)(x * sx), l = j + 1 < w ? j + 1 : w - 1;
            b[y * w + x] = a[i * w + j] + a[i * w + l];
        }
#pragma acc parallel loop collapse(2) present(a[0:h*w], b[0:h*w], k[0:h*w])
    for (int x = 0; x < w; x++)
        for (int y = 0; y < h; y++)
            b[y * w + x] = a[k[y * w + x]] + a[k[y * w + x] + 1];
}
