// RUN: accopt %s --target=nvptx --emit=scheduled | filecheck %s

// A nest of three loops that reduce has a grid of three dimensions. The gangs of the outermost loop are limited so
// that there are about 8448 in all, and each takes several of its iterations.
// CHECK-LABEL: llvm.func @box
// CHECK: %[[ROUNDED:.*]] = arith.addi %c8448{{.*}}, {{.*}} : i64
// CHECK-NEXT: %[[MOST:.*]] = arith.divsi %[[ROUNDED]], {{.*}} : i64
// CHECK-NEXT: arith.minsi {{.*}}, %[[MOST]] : i64
// CHECK: num_workers(%c4{{.*}}) vector_length(%c64{{.*}})
// CHECK: acc.loop {{.*}}gang reduction({{.*}}) control(%i : i32)
// CHECK: acc.loop gang worker reduction({{.*}}) control(%j : i32)
// CHECK: acc.loop gang vector reduction({{.*}}) control(%k : i32)
// CHECK: } attributes {accx.schedule = #accx.schedule<covers>
// CHECK: } attributes {accx.schedule = #accx.schedule<gang_dim = 2, covers>
// CHECK: } attributes {accx.schedule = #accx.schedule<gang_dim = 3, elements = 4>
float box(int n, int m, int l, const float (*restrict a)[m][l], float (*restrict b)[m][l])
{
    float sum = 0.0f;
#pragma acc parallel loop reduction(+:sum) present(a[0:n], b[0:n])
    for (int i = 1; i < n - 1; i++)
#pragma acc loop reduction(+:sum)
        for (int j = 1; j < m - 1; j++)
#pragma acc loop reduction(+:sum)
            for (int k = 1; k < l - 1; k++) {
                b[i][j][k] = a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k];
                sum += b[i][j][k];
            }
    return sum;
}

// Bounds known only on the device: a gang for each row.
// CHECK-LABEL: llvm.func @cone
// CHECK: acc.loop {{.*}}gang reduction({{.*}}) control(%i{{.*}} : i32)
// CHECK: acc.loop {{.*}}reduction({{.*}}) control(%j{{.*}} : i32)
// CHECK-NOT: gang_dim
float cone(int n, const float (*restrict a)[n][n], float (*restrict b)[n][n])
{
    float sum = 0.0f;
#pragma acc parallel loop reduction(+:sum) present(a[0:n], b[0:n])
    for (int i = 1; i < n - 1; i++)
#pragma acc loop reduction(+:sum)
        for (int j = 1; j < i; j++)
#pragma acc loop reduction(+:sum)
            for (int k = 1; k < i; k++) {
                b[i][j][k] = a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k];
                sum += b[i][j][k];
            }
    return sum;
}

// Rows with many accesses are one by one.
// CHECK-LABEL: llvm.func @many_reads
// CHECK: acc.loop {{.*}}gang reduction
// CHECK: } attributes {accx.schedule = #accx.schedule<gang_dim = 3>
float many_reads(int n, int m, int l, const float (*restrict a)[m][l], const float (*restrict w)[m][l][6], float (*restrict b)[m][l])
{
    float sum = 0.0f;
#pragma acc parallel loop collapse(3) reduction(+:sum) present(a[0:n], b[0:n], w[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            for (int k = 1; k < l - 1; k++) {
                b[i][j][k] = a[i - 1][j][k] * w[i][j][k][0] + a[i + 1][j][k] * w[i][j][k][1] + a[i][j - 1][k] * w[i][j][k][2]
                           + a[i][j + 1][k] * w[i][j][k][3] + a[i][j][k - 1] * w[i][j][k][4] + a[i][j][k + 1] * w[i][j][k][5]
                           + a[i - 1][j - 1][k] + a[i + 1][j + 1][k] + a[i + 1][j - 1][k] + a[i - 1][j + 1][k];
                sum += b[i][j][k];
            }
    return sum;
}
