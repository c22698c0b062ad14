// RUN: accopt %s --stop-before infer-routines | filecheck %s
// RUN: accopt %s --stop-before split-kernels | filecheck %s --check-prefix=BEFORE

// An array that the body of a loop declares belongs to its iterations, however it is used; a function that is inlined
// declares its arrays there, too.
// BEFORE-LABEL: @median
// BEFORE:         acc.loop combined(parallel) control(%y
// BEFORE:           scf.for %x
// BEFORE-NEXT:        arith.constant
// BEFORE-NEXT:        %v = llvm.alloca
// CHECK-LABEL: @median
// CHECK:         acc.loop combined(parallel) control(%y
// CHECK:           acc.loop control(%x
// CHECK-NEXT:        arith.constant
// CHECK-NEXT:        %v = llvm.alloca
// CHECK:         llvm.return
void median(int n, int m, const float *restrict c, float *restrict a)
{
#pragma acc parallel loop present(a[0:n*m], c[0:n*m])
    for (int y = 0; y < n; y++)
        for (int x = 1; x < m - 1; x++) {
            float v[3] = {c[y * m + x - 1], c[y * m + x], c[y * m + x + 1]};
            int least = v[0] < v[1] ? 0 : 1;
            v[least] += v[2];
            a[y * m + x] = v[1 - least];
        }
}

// CHECK-LABEL: @inlined
// CHECK:         acc.loop control(%y
// CHECK:           acc.loop control(%x
// CHECK:             llvm.alloca
// CHECK:         llvm.return
static float pick(float x)
{
    float v[2];
    v[(int)x % 2] = x;
    v[1 - (int)x % 2] = 0;
    return v[0];
}
void inlined(int n, int m, const float *restrict c, float *restrict a)
{
#pragma acc kernels present(a[0:n*m], c[0:n*m])
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++)
            a[y * m + x] = pick(c[y * m + x]);
}

// One that the loop around declares is shared by the inner iterations.
// CHECK-LABEL: @shared
// CHECK:         acc.loop combined(parallel) control(%y
// CHECK:           llvm.alloca
// CHECK:           scf.for %x
// CHECK:         llvm.return
void shared(int n, int m, const float *restrict c, float *restrict a)
{
#pragma acc parallel loop present(a[0:n*m], c[0:n*m])
    for (int y = 0; y < n; y++) {
        float v[2] = {0, 0};
        for (int x = 0; x < m; x++) {
            v[(int)c[y * m + x] % 2] += c[y * m + x];
            a[y * m + x] = v[0];
        }
    }
}

// Also where it is declared in a loop that runs in order around the inner one.
// CHECK-LABEL: @between
// CHECK-NOT:     found independent
// CHECK:         llvm.return
void between(int n, int m, const float *restrict c, float *restrict a)
{
#pragma acc parallel loop present(a[0:n*m], c[0:n*m])
    for (int y = 0; y < n; y++)
        for (int t = 0; t < m; t++) {
            float v[2] = {0, 0};
            for (int x = 0; x < m; x++) {
                v[(int)c[x] % 2] += c[x];
                a[y * m + x] += v[0];
            }
        }
}
