// RUN: accopt %s --stop-before hoist-invariant-loops --skip-pass tell-arrays-apart | filecheck %s

// The loop over terms leaves the condition, which stays around what uses its sum.
// CHECK-LABEL: llvm.func @scores
// CHECK:         acc.loop control(%j
// CHECK:           %[[INSIDE:.*]] = arith.cmpi sle, %j{{[_0-9]*}}, %i
// CHECK:           %near = accx.holds_in_block %[[INSIDE]]
// CHECK:           %[[SUM:.*]] = scf.if %near -> (f32) {
// CHECK:             scf.for %piece
// CHECK:               acc.cache
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %{{.*}} : f32
// CHECK-NEXT:      }
// CHECK:           scf.if %[[INSIDE]] -> (f32) {
// CHECK:             arith.mulf %[[SUM]]
void scores(int n, int d, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float v = -100.0f;
            if (j <= i) {
                v = 0.0f;
                for (int c = 0; c < d; c++)
                    v += q[i * d + c] * k[j * d + c];
                v *= 0.125f;
            }
            s[i * n + j] = v;
        }
}

// Sums in memory and the other branch: the first value is read under the condition only.
// CHECK-LABEL: llvm.func @kept
// CHECK:         %[[OUT:.*]] = arith.cmpi sgt, %j{{[_0-9]*}}, %i
// CHECK:         %start{{.*}} = scf.if %[[OUT]] -> (f32) {
// CHECK-NEXT:      arith.constant 0.0
// CHECK:         } else {
// CHECK:           llvm.load %{{.*}} -> f32
// CHECK:         %[[IN:.*]] = arith.xori %[[OUT]], %c1
// CHECK:         accx.holds_in_block %[[IN]]
// CHECK:         scf.for %piece
// CHECK:         scf.if %[[OUT]] {
// CHECK:         } else {
// CHECK:           llvm.store
void kept(int n, int d, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (j > i)
                s[i * n + j] = 0.0f;
            else
                for (int c = 0; c < d; c++)
                    s[i * n + j] += q[i * d + c] * k[j * d + c];
        }
}

// Nested conditions are conditions together; of a band, both ends; the inner loop's reduction clause.
// CHECK-LABEL: llvm.func @nested
// CHECK:         %[[BOTH:.*]] = arith.andi %{{.*}} : i1
// CHECK-NEXT:    %near{{.*}} = accx.holds_in_block %[[BOTH]]
// CHECK-LABEL: llvm.func @band
// CHECK:         accx.holds_in_block
// CHECK:         acc.cache
void nested(int n, int d, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j <= i)
                if (i - j < 24) {
                    float v = 0.0f;
                    for (int c = 0; c < d; c++)
                        v += q[i * d + c] * k[j * d + c];
                    s[i * n + j] = v;
                }
}

void band(int n, int d, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i - j <= 8 && j < i + 8) {
                float v = 0.0f;
#pragma acc loop reduction(+:v)
                for (int c = 0; c < d; c++)
                    v += q[i * d + c] * k[j * d + c];
                s[i * n + j] = v;
            }
}

// Where only the host knows whether each row is read by some iteration, it chooses: a band of a width known at run
// time, all pairs of two different rows, and pairs of one array.
// CHECK-LABEL: llvm.func @wide
// CHECK:         %all_read{{.*}} = arith.cmpi sge
// CHECK:         scf.if %all_read
// CHECK:           accx.holds_in_block
// CHECK-LABEL: llvm.func @different
// CHECK:         scf.if
// CHECK:           accx.holds_in_block
// CHECK-LABEL: llvm.func @pairs
// CHECK:         scf.if
// CHECK:           accx.holds_in_block
void wide(int n, int d, int w, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j <= i && j > i - w) {
                float v = 0.0f;
                for (int c = 0; c < d; c++)
                    v += q[i * d + c] * k[j * d + c];
                s[i * n + j] = v;
            }
}

void different(int n, int d, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j) {
                float v = 0.0f;
                for (int c = 0; c < d; c++)
                    v += (q[i * d + c] - k[j * d + c]) * (q[i * d + c] - k[j * d + c]);
                s[i * n + j] = v;
            }
}

void pairs(int n, int d, const float *restrict q, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j < i) {
                float v = 0.0f;
                for (int c = 0; c < d; c++)
                    v += q[i * d + c] * q[j * d + c];
                s[i * n + j] = v;
            }
}

// Left alone: conditions that leave rows unread (the first of q; any, by data; those at the end), and sums that may
// be elements of what only one iteration reads.
// CHECK-LABEL: llvm.func @strictly
// CHECK-NOT:     accx.holds_in_block
// CHECK-LABEL: llvm.func @by_data
// CHECK-NOT:     accx.holds_in_block
// CHECK-LABEL: llvm.func @padded
// CHECK-NOT:     accx.holds_in_block
// CHECK-LABEL: llvm.func @overlapping
// CHECK-NOT:     accx.holds_in_block
void strictly(int n, int d, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j < i) {
                float v = 0.0f;
                for (int c = 0; c < d; c++)
                    v += q[i * d + c] * k[j * d + c];
                s[i * n + j] = v;
            }
}

void by_data(int n, int d, const int *restrict mask, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(mask[0:n*n], q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (mask[i * n + j]) {
                float v = 0.0f;
                for (int c = 0; c < d; c++)
                    v += q[i * d + c] * k[j * d + c];
                s[i * n + j] = v;
            }
}

void padded(int n, int m, int d, const float *restrict q, const float *restrict k, float *restrict s)
{
#pragma acc parallel loop collapse(2) present(q[0:m*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i < m) {
                float v = 0.0f;
                for (int c = 0; c < d; c++)
                    v += q[i * d + c] * k[j * d + c];
                s[i * n + j] = v;
            }
}

void overlapping(int n, int d, const float *q, const float *k, float *s)
{
#pragma acc parallel loop collapse(2) present(q[0:n*d], k[0:n*d], s[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j <= i)
                for (int c = 0; c < d; c++)
                    s[i * n + j] += q[i * d + c] * k[j * d + c];
}
