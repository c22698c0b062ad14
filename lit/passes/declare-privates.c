// RUN: accopt %s --target=nvptx --stop-before free-mapping | filecheck %s

// The value of a scalar from outside of the nest goes straight to its use.

// CHECK-LABEL: llvm.func @mean
// CHECK: acc.parallel
// CHECK-NOT: private
// CHECK: [[L:%.*]] = llvm.load
// CHECK: [[R:%.*]] = llvm.load
// CHECK: [[SUM:%.*]] = arith.addf [[L]], [[R]]
// CHECK-NOT: llvm.alloca
// CHECK: [[MEAN:%.*]] = arith.mulf {{.*}}[[SUM]]
// CHECK: llvm.store [[MEAN]]
void mean(int n, const float *restrict a, float *restrict b)
{
    float t;
#pragma acc parallel loop private(t)
    for (int i = 1; i < n - 1; i++) {
        t = a[i - 1] + a[i + 1];
        b[i] = 0.5f * t;
    }
}

// Conditionals, loops and while loops pass it on; without a clause, too.

// CHECK-LABEL: llvm.func @escape
// CHECK: acc.loop
// CHECK-NOT: llvm.alloca
// CHECK: scf.while
// CHECK: arith.mulf
// CHECK-NOT: llvm.alloca
// CHECK: acc.yield
void escape(int n, const float *restrict c, int *restrict out)
{
    float z;
    int turns;
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        z = c[i];
        turns = 0;
        while (z < 4 && turns < 50) {
            z = z * z + c[i];
            turns++;
        }
        out[i] = turns;
    }
}

// CHECK-LABEL: llvm.func @clamped
// CHECK: acc.loop
// CHECK: [[TOTAL:%.*]] = scf.for {{.*}} iter_args
// CHECK: scf.if {{.*}} -> (f32)
// CHECK: scf.yield {{.*}} : f32
// CHECK: llvm.store [[TOTAL]]
void clamped(int n, int m, const float *restrict a, float *restrict b)
{
    float t, s;
#pragma acc parallel loop private(s, t)
    for (int i = 0; i < n; i++) {
        s = 0;
        for (int j = 0; j < m; j++) {
            t = a[i * m + j];
            if (t < 0)
                t = 0;
            s += t;
        }
        b[i] = s;
    }
}

// One that an inner loop reduces is a variable of the iteration.

// CHECK-LABEL: llvm.func @rows
// CHECK: acc.loop
// CHECK: [[S:%.*]] = llvm.alloca
// CHECK: acc.reduction varPtr([[S]]
// CHECK: llvm.load [[S]]
void rows(int n, int m, const float *restrict a, float *restrict b)
{
    float s;
#pragma acc parallel loop private(s)
    for (int i = 0; i < n; i++) {
        s = 0;
#pragma acc loop reduction(+:s)
        for (int j = 0; j < m; j++)
            s += a[i * m + j];
        b[i] = s;
    }
}

// One that may be read without a value stays in memory, and arrays keep their clause.

// CHECK-LABEL: llvm.func @some
// CHECK: acc.loop {{.*}}private(%buffer
// CHECK: [[T:%.*]] = llvm.alloca {{.*}} x f32
// CHECK: scf.if
// CHECK: llvm.store {{.*}}, [[T]]
// CHECK: llvm.load [[T]]
void some(int n, const float *restrict a, float *restrict b)
{
    float t, buffer[4];
#pragma acc parallel loop private(t, buffer)
    for (int i = 0; i < n; i++) {
        if (a[i] > 0)
            t = a[i];
        buffer[i % 4] = 2;
        b[i] = a[i] > 0 ? t : buffer[i % 4];
    }
}
