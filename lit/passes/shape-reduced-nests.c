// RUN: accopt %s --stop-before order-cached-loops | filecheck %s
// RUN: accopt %s --stop-before order-cached-loops --target host | filecheck %s --check-prefix HOST
#include <math.h>

// Rows that stream through memory are one loop with one reduction.
// CHECK-LABEL: llvm.func @rows
// CHECK: %[[R:.*]] = acc.reduction
// CHECK-NEXT: acc.loop {{.*}}reduction(%[[R]] : !llvm.ptr) control(%i : i32, %j : i32)
// CHECK-NOT: acc.loop
// CHECK: llvm.store {{.*}}, %[[R]] : f64
// CHECK-LABEL: llvm.func @cube
// CHECK: acc.loop {{.*}}control(%{{.*}} : i32, %{{.*}} : i32, %{{.*}} : i32)
// CHECK-NOT: acc.loop
// HOST-LABEL: llvm.func @rows
// HOST: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
// HOST: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
double rows(int n, int m, const double *restrict a)
{
    double sum = 0.0;
#pragma acc parallel loop gang reduction(+:sum) copyin(a[0:n * m])
    for (int i = 0; i < n; i++) {
        int row = i * m;
#pragma acc loop vector
        for (int j = 0; j < m; j++)
            sum += fabs(a[row + j]);
    }
    return sum;
}

double cube(int n, double (*restrict a)[n][n])
{
    double largest = 0.0;
#pragma acc parallel loop reduction(max:largest) present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < n; j++)
#pragma acc loop
            for (int k = 0; k < n; k++)
                largest = fmax(largest, a[i][j][k]);
    return largest;
}

// Stencils that read neighbouring rows are nests, whose rows lie on gangs.
// CHECK-LABEL: llvm.func @stencil
// CHECK: %[[R:.*]] = acc.reduction varPtr(%change
// CHECK: acc.loop {{.*}}reduction(%[[R]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK-NEXT: %[[S:.*]] = acc.reduction varPtr(%[[R]] : !llvm.ptr)
// CHECK-NEXT: acc.loop {{.*}}reduction(%[[S]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK: llvm.store {{.*}}, %[[S]] : f32
float stencil(int n, const float *restrict a, float *restrict b)
{
    float change = 0.0f;
#pragma acc parallel loop collapse(2) reduction(max:change) present(a[0:n*n], b[0:n*n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            b[i * n + j] = 0.5f * (a[(i - 1) * n + j] + a[(i + 1) * n + j]);
            change = fmaxf(change, fabsf(b[i * n + j] - a[i * n + j]));
        }
    return change;
}

// Pairs keep what belongs to a row in registers; triangles, other variables, code between, and levels that are kept: two loops.
// CHECK-LABEL: llvm.func @pairs
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
double pairs(int n, const double *restrict x)
{
    double energy = 0.0;
#pragma acc parallel loop reduction(+:energy) copyin(x[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < n; j++)
            energy += 1.0 / (1.0 + (x[i] - x[j]) * (x[i] - x[j]));
    return energy;
}

// CHECK-LABEL: llvm.func @triangle
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
double triangle(int n, double (*restrict a)[n])
{
    double sum = 0.0;
#pragma acc parallel loop reduction(+:sum) present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < i; j++)
            sum += a[i][j];
    return sum;
}

// CHECK-LABEL: llvm.func @first_of_row
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
double first_of_row(int n, double (*restrict a)[n])
{
    double sum = 0.0;
#pragma acc parallel loop reduction(+:sum) present(a[0:n])
    for (int i = 0; i < n; i++) {
        double first = a[i][0];
#pragma acc loop
        for (int j = 0; j < n; j++) {
            sum += a[i][j] * first;
            a[i][j] = 0.0;
        }
    }
    return sum;
}

// CHECK-LABEL: llvm.func @one_gang
// CHECK: acc.loop {{.*}}gang {{.*}}control(%{{[^,]*}} : i32) =
// CHECK: acc.loop vector {{.*}}control(%{{[^,]*}} : i32) =
double one_gang(int n, double (*restrict a)[n])
{
    double sum = 0.0;
#pragma acc parallel loop gang num_gangs(1) reduction(+:sum) present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            sum += a[i][j];
    return sum;
}

// So are those of three loops, also collapsed ones; beside another nest, or with loops inside, three are one loop.
// CHECK-LABEL: llvm.func @change
// CHECK: %[[R:.*]] = acc.reduction varPtr(%most
// CHECK: acc.loop {{.*}}reduction(%[[R]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK-NEXT: %[[S:.*]] = acc.reduction varPtr(%[[R]] : !llvm.ptr)
// CHECK-NEXT: acc.loop {{.*}}reduction(%[[S]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK-NEXT: %[[T:.*]] = acc.reduction varPtr(%[[S]] : !llvm.ptr)
// CHECK-NEXT: acc.loop {{.*}}reduction(%[[T]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK: llvm.store {{.*}}, %[[T]] : f64
// CHECK-LABEL: llvm.func @change_collapsed
// CHECK: %[[R:.*]] = acc.reduction varPtr(%most
// CHECK: acc.loop {{.*}}reduction(%[[R]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK-NEXT: %[[S:.*]] = acc.reduction varPtr(%[[R]] : !llvm.ptr)
// CHECK-NEXT: acc.loop {{.*}}reduction(%[[S]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK-NEXT: %[[T:.*]] = acc.reduction varPtr(%[[S]] : !llvm.ptr)
// CHECK-NEXT: acc.loop {{.*}}reduction(%[[T]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK: llvm.store {{.*}}, %[[T]] : f64
double change(int n, const double (*restrict a)[n][n], double (*restrict b)[n][n])
{
    double most = 0.0;
#pragma acc parallel loop gang reduction(max:most) present(a[0:n], b[0:n])
    for (int i = 1; i < n - 1; i++)
#pragma acc loop worker reduction(max:most)
        for (int j = 1; j < n - 1; j++)
#pragma acc loop vector reduction(max:most)
            for (int k = 1; k < n - 1; k++) {
                b[i][j][k] = a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k];
                most = fmax(most, fabs(b[i][j][k]));
            }
    return most;
}

double change_collapsed(int n, const double (*restrict a)[n][n], double (*restrict b)[n][n])
{
    double most = 0.0;
#pragma acc parallel loop collapse(3) reduction(max:most) present(a[0:n], b[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                b[i][j][k] = a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k];
                most = fmax(most, fabs(b[i][j][k]));
            }
    return most;
}

// CHECK-LABEL: llvm.func @two_nests
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32, %{{[^,]*}} : i32, %{{[^,]*}} : i32)
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
void two_nests(int n, const double (*restrict a)[n][n], double (*restrict b)[n][n], double *restrict c)
{
    double most = 0.0;
#pragma acc parallel present(a[0:n], b[0:n], c[0:n]) copy(most)
    {
#pragma acc loop collapse(3) reduction(max:most)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++) {
                    b[i][j][k] = a[i - 1][j][k] + a[i + 1][j][k];
                    most = fmax(most, fabs(b[i][j][k]));
                }
#pragma acc loop
        for (int i = 0; i < n; i++)
            c[i] = 0.0;
    }
}

// CHECK-LABEL: llvm.func @taps
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32, %{{[^,]*}} : i32, %{{[^,]*}} : i32)
double taps(int n, const double (*restrict a)[n][n], double (*restrict b)[n][n])
{
    double most = 0.0;
#pragma acc parallel loop collapse(3) reduction(max:most) present(a[0:n], b[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                double sum = 0.0;
#pragma acc loop seq
                for (int t = -1; t < 2; t++)
                    sum += a[i + t][j][k];
                b[i][j][k] = sum;
                most = fmax(most, fabs(sum));
            }
    return most;
}

// What each iteration of a parallel loop reduces over several variables is shared by workers and lanes.
// CHECK-LABEL: llvm.func @channels
// CHECK: acc.loop {{.*}}control(%{{[^,]*}} : i32) =
// CHECK: %[[S:.*]] = acc.reduction varPtr(%sum
// CHECK-NEXT: acc.loop {{.*}}reduction(%[[S]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK-NEXT: %[[T:.*]] = acc.reduction varPtr(%[[S]] : !llvm.ptr)
// CHECK-NEXT: acc.loop {{.*}}reduction(%[[T]] : !llvm.ptr) control(%{{[^,]*}} : i32) =
// CHECK: llvm.store {{.*}}, %[[T]] : f32
// HOST-LABEL: llvm.func @channels
// HOST: control(%{{[^,]*}} : i32, %{{[^,]*}} : i32) =
void channels(int images, int count, int size, const float *restrict x, float *restrict total)
{
#pragma acc parallel loop present(x[0:images * count * size], total[0:count])
    for (int c = 0; c < count; c++) {
        float sum = 0.0f;
#pragma acc loop reduction(+:sum) collapse(2)
        for (int n = 0; n < images; n++)
            for (int i = 0; i < size; i++)
                sum += x[(n * count + c) * size + i];
        total[c] = sum;
    }
}

// Short rows stay one sequence, which fills the lanes.
// CHECK-LABEL: llvm.func @window
// CHECK: control(%{{[^,]*}} : i32, %{{[^,]*}} : i32) =
void window(int images, int count, const float *restrict x, float *restrict total)
{
#pragma acc parallel loop present(x[0:images * count * 9], total[0:count])
    for (int c = 0; c < count; c++) {
        float sum = 0.0f;
#pragma acc loop reduction(+:sum) collapse(2)
        for (int n = 0; n < images; n++)
            for (int i = 0; i < 9; i++)
                sum += x[(n * count + c) * 9 + i];
        total[c] = sum;
    }
}
