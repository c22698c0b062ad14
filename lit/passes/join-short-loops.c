// RUN: accopt %s --stop-before sign-subscripts | filecheck %s
// RUN: accopt %s --stop-before sign-subscripts --sizes=as-written | filecheck %s --check-prefix WRITTEN

// Lanes share the elements of small matrices: loops of 8 and 6 iterations are one, with a sequential loop or a
// reduction of few terms inside; the loop over matrices stays.
// CHECK-LABEL: llvm.func @products
// CHECK:         acc.loop combined(parallel) {{.*}}control(%b{{[_0-9]*}} : i32)
// CHECK:           acc.loop control(%i{{[_0-9]*}} : i32, %j{{[_0-9]*}} : i32) = (%{{.*}}, %{{.*}} : i32, i32) to (%c8{{.*}}, %c6{{.*}} : i32, i32)
// CHECK:             scf.for
// CHECK-LABEL: llvm.func @elements
// CHECK:           acc.loop control(%k{{[_0-9]*}} : i32, %j{{[_0-9]*}} : i32, %i{{[_0-9]*}} : i32)
// CHECK:             acc.loop {{.*}}reduction(
// WRITTEN-LABEL: llvm.func @products
// WRITTEN-NOT:     acc.loop control(%i{{[_0-9]*}} : i32, %j
void products(int n, const float (*restrict a)[8][5], const float (*restrict b)[5][6], float (*restrict c)[8][6])
{
#pragma acc parallel loop gang vector_length(128) present(a[0:n], b[0:n], c[0:n])
    for (int b_ = 0; b_ < n; b_++)
#pragma acc loop vector
        for (int i = 0; i < 8; i++)
#pragma acc loop
            for (int j = 0; j < 6; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 5; k++)
                    sum += a[b_][i][k] * b[b_][k][j];
                c[b_][i][j] = sum;
            }
}

void elements(int n, const double (*restrict u)[4][4][4], const double (*restrict d)[4], double (*restrict r)[4][4][4])
{
#pragma acc parallel loop present(u[0:n], d[0:4], r[0:n])
    for (int e = 0; e < n; e++)
#pragma acc loop
        for (int k = 0; k < 4; k++)
#pragma acc loop
            for (int j = 0; j < 4; j++)
#pragma acc loop
                for (int i = 0; i < 4; i++) {
                    double sum = 0;
#pragma acc loop reduction(+:sum)
                    for (int l = 0; l < 4; l++)
                        sum += d[i][l] * u[e][k][j][l];
                    r[e][k][j][i] = sum;
                }
}

// Left alone: loops that together do not fill a warp, long ones, those without a loop around, code between them,
// and matrices whose elements are neighbours of the same elements of other matrices.
// CHECK-LABEL: llvm.func @few
// CHECK-NOT:     acc.loop control(%i{{[_0-9]*}} : i32, %j
// CHECK-LABEL: llvm.func @longer
// CHECK-NOT:     acc.loop control(%i{{[_0-9]*}} : i32, %j
// CHECK-LABEL: llvm.func @outermost
// CHECK-NOT:     control(%i{{[_0-9]*}} : i32, %j
// CHECK-LABEL: llvm.func @between
// CHECK-NOT:     acc.loop control(%i{{[_0-9]*}} : i32, %j
// CHECK-LABEL: llvm.func @interleaved
// CHECK-NOT:     acc.loop control(%i{{[_0-9]*}} : i32, %j
void few(int n, const float (*restrict a)[5][5], float (*restrict c)[5][5])
{
#pragma acc parallel loop present(a[0:n], c[0:n])
    for (int b = 0; b < n; b++)
#pragma acc loop
        for (int i = 0; i < 5; i++)
#pragma acc loop
            for (int j = 0; j < 5; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 5; k++)
                    sum += a[b][i][k] * a[b][k][j];
                c[b][i][j] = sum;
            }
}

void longer(int n, const float (*restrict a)[16][16], float (*restrict c)[16][16])
{
#pragma acc parallel loop present(a[0:n], c[0:n])
    for (int b = 0; b < n; b++)
#pragma acc loop
        for (int i = 0; i < 16; i++)
#pragma acc loop
            for (int j = 0; j < 16; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 16; k++)
                    sum += a[b][i][k] * a[b][k][j];
                c[b][i][j] = sum;
            }
}

void outermost(const float (*restrict a)[8], float (*restrict c)[8])
{
#pragma acc parallel loop present(a[0:8], c[0:8])
    for (int i = 0; i < 8; i++)
#pragma acc loop
        for (int j = 0; j < 8; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 8; k++)
                sum += a[i][k] * a[k][j];
            c[i][j] = sum;
        }
}

void between(int n, const float (*restrict a)[8][8], float (*restrict c)[8][8], float (*restrict d)[8])
{
#pragma acc parallel loop present(a[0:n], c[0:n], d[0:n])
    for (int b = 0; b < n; b++)
#pragma acc loop
        for (int i = 0; i < 8; i++) {
            d[b][i] = a[b][i][i];
#pragma acc loop
            for (int j = 0; j < 8; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 8; k++)
                    sum += a[b][i][k] * a[b][k][j];
                c[b][i][j] = sum;
            }
        }
}

void interleaved(int n, const float *restrict a, float *restrict c)
{
#pragma acc parallel loop present(a[0:64*n], c[0:64*n])
    for (int b = 0; b < n; b++)
#pragma acc loop
        for (int i = 0; i < 8; i++)
#pragma acc loop
            for (int j = 0; j < 8; j++) {
                float sum = 0.0f;
                for (int k = 0; k < 8; k++)
                    sum += a[(i * 8 + k) * n + b] * a[(k * 8 + j) * n + b];
                c[(i * 8 + j) * n + b] = sum;
            }
}
