// RUN: accopt %s --target=nvptx --emit=data --pass-option 'compute-borders-first{always=true}' | filecheck %s
// RUN: accopt %s --target=nvptx --emit=data --pass-option 'compute-borders-first{enabled=false}' | filecheck %s --check-prefix=OFF
// RUN: accopt %s --target=nvptx --emit=data | filecheck %s --check-prefix=PAYS
// RUN: accopt %s --target=host --emit=data --pass-option 'compute-borders-first{always=true}' | filecheck %s --check-prefix=OFF
// RUN: accopt %s --target=nvptx --emit=data --no-fma --pass-option 'compute-borders-first{always=true}' | filecheck %s --check-prefix=EXACT
// RUN: accopt %s --target=nvptx --emit=data --fast-math --pass-option 'compute-borders-first{always=true}' | filecheck %s --check-prefix=FAST
// RUN: accopt %s --target=nvptx --emit=runtime --pass-option 'compute-borders-first{always=true}' | filecheck %s --check-prefix=CALLS

#include <math.h>
#include <openacc.h>
#define DATA present(a[0:m]) present(b[0:m]) present(c[0:m]) async(1)

// OFF-NOT: border
// FAST-COUNT-14: its border is not computed first: with fast mathematics its results might differ from kernel to kernel

// The footprint: construct 0 on queue 1, its rows, two arrays; b is written from column 1 to column n - 2.
// CHECK-LABEL: @collapsed
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %cm9 : i64
// CHECK: %[[ROWS:.*]] = llvm.call @__accopt_border_begin(%footprint) : (!llvm.ptr) -> i64
// CHECK: arith.cmpi ne, %[[ROWS]], %{{.*}} : i64
// CHECK: %[[LOW:.*]] = arith.andi %[[ROWS]], %c4294967295
// CHECK: %[[HIGH:.*]] = arith.shrui %[[ROWS]], %c32
// CHECK: %[[COUNT:.*]] = arith.addi %[[LOW]], %[[HIGH]]
// CHECK: %[[SKIPPED:.*]] = arith.subi %{{.*}}, %[[COUNT]]
// CHECK: scf.if
// CHECK: acc.parallel {{.*}}async(%cm1073741823 : i64)
// CHECK: %[[FIRST:.*]] = arith.trunci %[[LOW]] : i64 to i32
// CHECK: %[[MANY:.*]] = arith.trunci %[[COUNT]] : i64 to i32
// CHECK: %[[GAP:.*]] = arith.trunci %[[SKIPPED]] : i64 to i32
// CHECK: acc.loop {{.*}}control(%[[T:.*]] : i32, %j : i32) = (%{{.*}}, %{{.*}} : i32, i32) to (%[[MANY]], %{{.*}} : i32, i32)
// CHECK: arith.cmpi sge, %[[T]], %[[FIRST]] : i32
// CHECK: arith.select %{{.*}}, %[[GAP]], %{{.*}} : i32
// CHECK: acc.parallel {{.*}}async(%{{.*}} : i32)
// CHECK: its border may be computed first, for copies to other devices
// CHECK: llvm.call @__accopt_border_end(%footprint)
// Data operations belong to the construct, not to its border.
// CALLS-LABEL: @collapsed
// CALLS: llvm.call @__accopt_data_enter(%{{.*}}, %{{.*}}, %{{.*}}, %[[QUEUE:.*]]) :
// CALLS: llvm.call @__accopt_border_begin
// CALLS: scf.if
// CALLS: llvm.call @__accopt_launch
// CALLS: llvm.call @__accopt_launch
// CALLS: llvm.call @__accopt_border_end
// CALLS: llvm.call @__accopt_data_exit(%{{.*}}, %{{.*}}, %{{.*}}, %[[QUEUE]]) :
void collapsed(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.25 * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
}

// Either branch of a condition may store.
// CHECK-LABEL: @branches
// CHECK: __accopt_border_begin
void branches(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            if (j == 0)
                b[i * n + j] = a[i * n + j];
            else
                b[i * n + j] = a[i * n + j - 1] + c[i];
}

// CHECK-LABEL: @in_place
// CHECK: its border is not computed first: it reads and writes 'b'
void in_place(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] += a[i * n + j];
}

// A copy might see the first value.
// CHECK-LABEL: @twice
// CHECK: its border is not computed first: elements of 'b' may be written several times
void twice(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            b[i * n + j] = 0;
            if (a[i * n + j] > 0)
                b[i * n + j] = a[i * n + j];
        }
}

// CHECK-LABEL: @in_sequence
// CHECK: its border is not computed first: 'b' is written in a sequential loop
void in_sequence(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop DATA
    for (int i = 0; i < rows; i++)
#pragma acc loop seq
        for (int j = 0; j < n; j++)
            b[i * n + j / 2] = a[i * n + j];
}

// CHECK-LABEL: @reduced
// CHECK: its border is not computed first: it contains 'acc.reduction'
void reduced(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
    double sum = 0;
#pragma acc parallel loop reduction(+:sum) DATA
    for (int i = 0; i < rows; i++) {
        b[i] = a[i];
        sum += a[i];
    }
    c[0] = sum;
}

// CHECK-LABEL: @counted
// CHECK: its border is not computed first: it contains 'acc.atomic.update'
void counted(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop DATA
    for (int i = 0; i < rows; i++) {
#pragma acc atomic update
        c[0] += 1;
        b[i] = a[i];
    }
}

// CHECK-LABEL: @scattered
// CHECK: its border is not computed first: the subscripts of 'b' are not linear in its outermost variable
void scattered(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop DATA
    for (int i = 0; i < rows; i++)
        b[i * 5 % rows] = a[i];
}

// CHECK-LABEL: @gathered
// CHECK: its border is not computed first: which part of 'a' it reads is not known before it
void gathered(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop DATA
    for (int i = 0; i < rows; i++)
        b[i] = a[(int)c[i]];
}

// A product that is added may be fused with the sum in one kernel and not in the other.
// CHECK-LABEL: @products
// CHECK: its border is not computed first: a product may be added, and fused in one kernel only (see --no-fma)
// EXACT-LABEL: @products
// EXACT: its border may be computed first
void products(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop DATA
    for (int i = 1; i < rows; i++)
        b[i] = a[i] + 0.5 * c[i];
}

// CHECK-LABEL: @functions
// CHECK: its border is not computed first: it contains 'llvm.call'
void functions(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop DATA
    for (int i = 1; i < rows; i++)
        b[i] = exp(a[i]);
}

// CHECK-LABEL: @waited
// CHECK: its border is not computed first: it has a wait clause
void waited(double *restrict a, double *restrict b, double *restrict c, int rows, int n, int m)
{
#pragma acc parallel loop DATA wait(2)
    for (int i = 1; i < rows; i++)
        b[i] = a[i];
}

// Lengths that are known here: the last one is twice as long as is needed.
// PAYS-LABEL: @collapsed
// PAYS: its border may be computed first, for copies to other devices, when it accesses 123 MB or more (two devices)
// PAYS-LABEL: @small
// PAYS-NOT: border_begin
// PAYS: its border is not computed first: its kernel accesses 64480 bytes, about 0.016 us, too little to hide a copy: at least 61.5 MB are needed
// CHECK-LABEL: @small
// CHECK: border_begin
void small(double *restrict a, double *restrict b, double *restrict c, int m)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 1; i < 63; i++)
        for (int j = 1; j < 63; j++)
            b[i * 64 + j] = a[(i - 1) * 64 + j] + a[(i + 1) * 64 + j];
}

// PAYS-LABEL: @few_rows
// PAYS: its border is not computed first: the border's 134 MB take about 33 us, longer than a copy of it
void few_rows(double *restrict a, double *restrict b, double *restrict c, int m)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 0; i < 4; i++)
        for (long j = 0; j < 1l << 23; j++)
            b[i * (1l << 23) + j] = a[i * (1l << 23) + j];
}

// PAYS-LABEL: @large
// PAYS: border_begin
// PAYS: its border may be computed first, for copies to other devices
// PAYS-NOT: when it accesses
void large(double *restrict a, double *restrict b, double *restrict c, int m)
{
#pragma acc parallel loop collapse(2) DATA
    for (int i = 0; i < 4096; i++)
        for (int j = 0; j < 4096; j++)
            b[i * 4096 + j] = a[i * 4096 + j];
}

void exchange(double *a, double *b, int n)
{
    acc_update_peer(a, 1, b, 0, n * sizeof(double));
}
