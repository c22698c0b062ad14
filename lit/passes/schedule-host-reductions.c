// RUN: accopt --target host --emit host %s | filecheck %s
// Gangs that reduce a plain loop have 64 iterations at least, as each leaves a part to combine; there are as many
// gangs as threads may be useful where iterations hold loops or leave nothing to combine.
#include <math.h>

// CHECK-LABEL: llvm.func @few
// CHECK: launch_host @few_{{[0-9]+}}_host gangs(%c16
float few(const float *restrict a)
{
    float sum = 0;
#pragma acc parallel loop reduction(+ : sum) copyin(a[0 : 1000])
    for (int i = 0; i < 1000; i++)
        sum += a[i];
    return sum;
}

// CHECK-LABEL: llvm.func @largest
// CHECK: launch_host @largest_{{[0-9]+}}_host gangs(%c1_
float largest(const float *restrict a)
{
    float most = 0;
#pragma acc parallel loop reduction(max : most) copyin(a[0 : 64])
    for (int i = 0; i < 64; i++)
        most = fmaxf(most, a[i]);
    return most;
}

// CHECK-LABEL: llvm.func @pair
// CHECK: launch_host @pair_{{[0-9]+}}_host gangs(%c157
float pair(float a[100][100])
{
    float sum = 0;
#pragma acc parallel loop collapse(2) reduction(+ : sum) copyin(a[0 : 100])
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++)
            sum += a[i][j];
    return sum;
}

// CHECK-LABEL: llvm.func @many
// CHECK: launch_host @many_{{[0-9]+}}_host gangs(%c256
double many(const float *restrict a)
{
    double sum = 0;
#pragma acc parallel loop reduction(+ : sum) copyin(a[0 : 1000000])
    for (int i = 0; i < 1000000; i++)
        sum += a[i];
    return sum;
}

// CHECK-LABEL: llvm.func @rows
// CHECK: launch_host @rows_{{[0-9]+}}_host gangs(%c100
float rows(float a[100][1000])
{
    float sum = 0;
#pragma acc parallel loop reduction(+ : sum) copyin(a[0 : 100])
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 1000; j++)
            sum += a[i][j];
    return sum;
}
