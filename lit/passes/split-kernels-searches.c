// RUN: accopt %s --emit=data --target=nvptx | filecheck %s

// A loop that keeps where the greatest value is becomes one that combines values and places, and one iteration of its own.

// CHECK-LABEL: @argmax(
// CHECK: acc.loop combined(parallel) control(%r
// CHECK: recipe(@reduction_max_i64)
// CHECK: acc.loop reduction(%found{{.*}} control(%c
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.bitcast
// CHECK: arith.shli {{.*}} : i64
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpi sgt
// CHECK-NOT: acc.loop reduction
// CHECK: %[[LOW:.*]] = arith.maxsi %[[FIRST:.*]], %c1
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %c1
// CHECK: %[[HIGH:.*]] = arith.minsi %[[NEXT]], %cols
// CHECK: scf.for %[[C:.*]] = %[[LOW]] to %[[HIGH]] step {{.*}} iter_args(%{{.*}} = %prob_elt, {{.*}}) -> (f32, i32)
// CHECK: arith.cmpf ogt
// CHECK: scf.yield {{.*}}, %[[C]] : f32, i32
// CHECK: } {accx.unroll = 1 : i32}
// CHECK-NOT: scf.for
void argmax(int rows, int cols, const float *prob, int *best)
{
#pragma acc parallel loop default(present)
    for (int r = 0; r < rows; r++) {
        float most = prob[r * cols];
        int place = 0;
        for (int c = 1; c < cols; c++)
            if (prob[r * cols + c] > most) {
                most = prob[r * cols + c];
                place = c;
            }
        best[r] = place;
    }
}

// Values or places of 64 bits need two loops, one for each.
// CHECK-LABEL: @wide(
// CHECK: acc.loop reduction(%found{{.*}} control(%c
// CHECK: arith.cmpf ogt
// CHECK: acc.loop reduction(%first{{.*}} control(%c
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpi slt
// CHECK: scf.for
void wide(int rows, long cols, const float *prob, long *best)
{
#pragma acc parallel loop default(present)
    for (int r = 0; r < rows; r++) {
        float most = prob[r * cols];
        long place = 0;
        for (long c = 1; c < cols; c++)
            if (prob[r * cols + c] > most) {
                most = prob[r * cols + c];
                place = c;
            }
        best[r] = place;
    }
}

// Of equal values the last one, and variables that are declared outside.
// CHECK-LABEL: @last_least(
// CHECK: recipe(@reduction_min_f64)
// CHECK: arith.cmpf olt
// CHECK: recipe(@reduction_max_i32)
// CHECK: arith.cmpi sgt
// CHECK: scf.for
// CHECK: llvm.store {{.*}}, %place
int last_least(int n, const double *a)
{
    double least = 1e300;
    int place = -1;
#pragma acc kernels present(a[0:n])
    for (int i = 0; i < n; i++)
        if (least >= a[i]) {
            place = i;
            least = a[i];
        }
    return place;
}

// Values that are not certain to be the same when they are computed again (one rounding or two), and values that
// depend on what is kept.
// CHECK-LABEL: @rounded(
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: acc.loop reduction
// CHECK-LABEL: @dependent(
// CHECK-NOT: acc.loop reduction
// CHECK: llvm.return
void rounded(int rows, int cols, const float *restrict a, int *restrict best)
{
#pragma acc parallel loop default(present)
    for (int r = 0; r < rows; r++) {
        float most = 0;
        int place = 0;
        for (int c = 0; c < cols; c++)
            if (a[r * cols + c] * 3.0f + 1.5f > most) {
                most = a[r * cols + c] * 3.0f + 1.5f;
                place = c;
            }
        best[r] = place;
    }
}

void dependent(int rows, int cols, const float *restrict a, int *restrict best)
{
#pragma acc parallel loop default(present)
    for (int r = 0; r < rows; r++) {
        float most = 0;
        int changes = 0;
        for (int c = 0; c < cols; c++)
            if (a[r * cols + c] > most) {
                most = a[r * cols + c];
                changes = changes + 1;
            }
        best[r] = changes;
    }
}

// The greatest value alone is a reduction.
// CHECK-LABEL: @most(
// CHECK: acc.loop reduction
// CHECK-NOT: arith.cmpf oeq
double most(int n, const double *a)
{
    double m = 0;
#pragma acc kernels present(a[0:n])
    for (int i = 0; i < n; i++)
        if (a[i] > m)
            m = a[i];
    return m;
}

// The last part reads elements of the loop's range only, so that the array's section is known without a clause.
// CHECK-LABEL: @without_clause(
// CHECK: %[[SIZE:.*]] = arith.muli %cols{{.*}}, %rows
// CHECK: acc.copyin varPtr(%a{{.*}} : !llvm.ptr) varType(f64) bounds({{.*}}name = "a"
void without_clause(int rows, int cols, const double *a, int *best)
{
#pragma acc parallel loop
    for (int r = 0; r < rows; r++) {
        double least = 1e300;
        int place = -1;
        for (int c = 0; c < cols; c++)
            if (a[r * cols + c] <= least) {
                least = a[r * cols + c];
                place = c;
            }
        best[r] = place;
    }
}
