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

// Where they do not fill a warp together, the loop around them is part of that loop; also without directives.
// CHECK-LABEL: llvm.func @few
// CHECK:         acc.loop combined(parallel) control(%b{{[_0-9]*}} : i32, %i{{[_0-9]*}} : i32, %j{{[_0-9]*}} : i32)
// CHECK-LABEL: llvm.func @spinors
// CHECK:         acc.loop combined(parallel) control(%i{{[_0-9]*}} : i32, %s{{[_0-9]*}} : i32, %a{{[_0-9]*}} : i32)
// CHECK-LABEL: llvm.func @planes
// CHECK:         acc.loop combined(parallel) {{.*}}control(%y{{[_0-9]*}} : i32)
// CHECK:           acc.loop {{.*}}control(%x{{[_0-9]*}} : i32, %i{{[_0-9]*}} : i32, %j{{[_0-9]*}} : i32)
// WRITTEN-LABEL: llvm.func @spinors
// WRITTEN-NOT:     acc.loop {{.*}}control(%i{{[_0-9]*}} : i32, %s
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

void spinors(int n, double (*restrict u)[3][3][2], double (*restrict in)[4][3][2], double (*restrict out)[4][3][2])
{
#pragma acc parallel loop present(u[0:n], in[0:n], out[0:n])
    for (int i = 0; i < n; i++)
        for (int s = 0; s < 4; s++)
            for (int a = 0; a < 3; a++) {
                double re = 0, im = 0;
                for (int b = 0; b < 3; b++) {
                    re += u[i][a][b][0] * in[i][s][b][0] - u[i][a][b][1] * in[i][s][b][1];
                    im += u[i][a][b][0] * in[i][s][b][1] + u[i][a][b][1] * in[i][s][b][0];
                }
                out[i][s][a][0] = re;
                out[i][s][a][1] = im;
            }
}

void planes(int n, int m, const float (*restrict a)[3][3], const float *restrict v, float (*restrict c)[3][3])
{
#pragma acc parallel loop present(a[0:n*m], v[0:3], c[0:n*m])
    for (int y = 0; y < n; y++)
#pragma acc loop
        for (int x = 0; x < m; x++)
#pragma acc loop
            for (int i = 0; i < 3; i++)
#pragma acc loop
                for (int j = 0; j < 3; j++) {
                    float sum = 0;
                    for (int k = 0; k < 3; k++)
                        sum += a[y * m + x][i][k] * v[k] * a[y * m + x][k][j];
                    c[y * m + x][i][j] = sum;
                }
}

// Left alone: long loops, those without a loop around, code between them, few iterations beside
// code, and matrices whose elements are neighbours of the same elements of other matrices.
// CHECK-LABEL: llvm.func @longer
// CHECK-NOT:     acc.loop control(%i{{[_0-9]*}} : i32, %j
// CHECK-LABEL: llvm.func @outermost
// CHECK-NOT:     control(%i{{[_0-9]*}} : i32, %j
// CHECK-LABEL: llvm.func @between
// CHECK-NOT:     acc.loop control(%i{{[_0-9]*}} : i32, %j
// CHECK-LABEL: llvm.func @beside
// CHECK-NOT:     control(%b{{[_0-9]*}} : i32, %i
// A private variable of the outer loop is one of each iteration of the new one:
// CHECK-LABEL: llvm.func @own_variable
// CHECK:         control(%b{{[_0-9]*}} : i32, %i{{[_0-9]*}} : i32, %j
// CHECK-LABEL: llvm.func @interleaved_few
// CHECK-NOT:     control(%b{{[_0-9]*}} : i32, %i
// CHECK-LABEL: llvm.func @interleaved
// CHECK-NOT:     acc.loop control(%i{{[_0-9]*}} : i32, %j
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

void beside(int n, const float (*restrict a)[3][3], float (*restrict c)[3][3], float *restrict d)
{
#pragma acc parallel loop present(a[0:n], c[0:n], d[0:n])
    for (int b = 0; b < n; b++) {
        d[b] = a[b][0][0];
#pragma acc loop
        for (int i = 0; i < 3; i++)
#pragma acc loop
            for (int j = 0; j < 3; j++) {
                float sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += a[b][i][k] * a[b][k][j];
                c[b][i][j] = sum;
            }
    }
}

void own_variable(int n, const float (*restrict a)[3][3], float (*restrict c)[3][3], float t)
{
#pragma acc parallel loop private(t) present(a[0:n], c[0:n])
    for (int b = 0; b < n; b++) {
#pragma acc loop
        for (int i = 0; i < 3; i++)
#pragma acc loop
            for (int j = 0; j < 3; j++) {
                t = 0;
                for (int k = 0; k < 3; k++)
                    t += a[b][i][k] * a[b][k][j];
                c[b][i][j] = t;
            }
    }
}

void interleaved_few(int n, const float *restrict a, float *restrict c)
{
#pragma acc parallel loop present(a[0:9*n], c[0:9*n])
    for (int b = 0; b < n; b++)
#pragma acc loop
        for (int i = 0; i < 3; i++)
#pragma acc loop
            for (int j = 0; j < 3; j++) {
                float sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += a[(i * 3 + k) * n + b] * a[(k * 3 + j) * n + b];
                c[(i * 3 + j) * n + b] = sum;
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

// Real and imaginary parts side by side in a linear array, as in a structure of both.
// CHECK-LABEL: llvm.func @complex_numbers
// CHECK:         acc.loop combined(parallel) control(%m{{[_0-9]*}} : i32, %i{{[_0-9]*}} : i32, %j{{[_0-9]*}} : i32)
void complex_numbers(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma acc parallel loop present(a[0:18*n], b[0:18*n], c[0:18*n])
    for (int m = 0; m < n; m++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double re = 0, im = 0;
                for (int k = 0; k < 3; k++) {
                    int p = 2 * (m * 9 + i * 3 + k), q = 2 * (m * 9 + k * 3 + j);
                    re += a[p] * b[q] - a[p + 1] * b[q + 1];
                    im += a[p] * b[q + 1] + a[p + 1] * b[q];
                }
                c[2 * (m * 9 + i * 3 + j)] = re;
                c[2 * (m * 9 + i * 3 + j) + 1] = im;
            }
}
