// RUN: accopt %s --target=nvptx --emit=transformed | filecheck %s

// A loop that writes its row: the thread that adds up a row leaves the results where the terms were; all threads
// store those of the piece before, and of the last one when it is complete.
// CHECK-LABEL: llvm.func @prefixes
// CHECK:         accx.gang_threads [256 : i64] {
// CHECK:           accx.shared_tile "terms" 33792
// CHECK-NOT:       accx.shared_tile
// CHECK:           scf.for %piece
// CHECK:             accx.gang_barrier
// CHECK-COUNT-16:    llvm.load %a
// CHECK:             arith.cmpi sgt, %piece
// CHECK:             scf.if
// CHECK-COUNT-16:      llvm.load %slot
// CHECK-COUNT-16:      llvm.store {{.*}}, %b
// CHECK:             scf.if %adds
// CHECK:               llvm.load %slot
// CHECK:               arith.addf
// CHECK:               llvm.store {{.*}}, %slot
// CHECK:           accx.gang_barrier
// CHECK-COUNT-16:  llvm.store {{.*}}, %b
// CHECK:           accx.gang_barrier
// CHECK:           scf.if %finishes{{.*}} {
// CHECK:             llvm.store {{.*}}, %t
void prefixes(int n, int m, const float *restrict a, float *restrict b, float *restrict t)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m], t[0:n])
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < m; j++) {
            s += a[i * m + j];
            b[i * m + j] = s;
        }
        t[i] = s;
    }
}

// Through the result's own elements, also of integers; what is stored before the loop is stored by one thread.
// CHECK-LABEL: llvm.func @own
// CHECK:         accx.gang_threads
// CHECK:           scf.if %finishes{{.*}} {
// CHECK-NEXT:        llvm.store {{.*}}, %b
// CHECK:           scf.for %piece
void own(int n, int m, const int *restrict a, int *restrict b)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        b[i * m] = a[i * m];
        for (int j = 1; j < m; j++)
            b[i * m + j] = b[i * m + j - 1] + a[i * m + j];
    }
}

// The greatest of prefixes: the element in the branch is the one in the condition. Two results, one of another type.
// CHECK-LABEL: llvm.func @greatest
// CHECK:         accx.gang_threads
// CHECK:           accx.shared_tile "terms" 16896
// CHECK:           accx.shared_tile "terms" 16896
// CHECK-NOT:       accx.shared_tile
// CHECK:         llvm.return
void greatest(int n, int m, const float *restrict a, float *restrict b, int *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m], c[0:n*m])
    for (int i = 0; i < n; i++) {
        float s = 0;
        int count = 0;
        for (int j = 0; j < m; j++) {
            if (a[i * m + j] > s) {
                s = a[i * m + j];
                count++;
            }
            b[i * m + j] = s;
            c[i * m + j] = count;
        }
    }
}

// What does not depend on the sum is stored from the places of the terms, which the sum leaves as they are.
// CHECK-LABEL: llvm.func @apart
// CHECK:         accx.gang_threads
// CHECK:           accx.shared_tile
// CHECK:           accx.shared_tile
// CHECK-NOT:       accx.shared_tile
// CHECK:             scf.for %term
// CHECK:               llvm.store
// CHECK-NOT:           llvm.store
// CHECK:             accx.unroll = 16
void apart(int n, int m, const float *restrict a, float *restrict b, float *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m], c[0:n*m])
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < m; j++) {
            s += a[i * m + j];
            b[i * m + j] = s;
            c[i * m + j] = a[i * m + j];
        }
    }
}
// Not staged: a loop that reads what it wrote in an earlier iteration, or may read it through another pointer, that
// writes across rows, every element twice, or what is the same in all iterations, and that reads what is stored before.
// CHECK-LABEL: llvm.func @earlier
// CHECK-NOT:     accx.shared_tile
// CHECK:         llvm.func @end
void earlier(int n, int m, float *restrict b)
{
#pragma acc parallel loop present(b[0:n*m])
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 2; j < m; j++) {
            s += b[i * m + j - 2];
            b[i * m + j] = s;
        }
    }
}
void across(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < m; j++) {
            s += a[i * m + j];
            b[j * n + i] = s;
        }
    }
}
void twice(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m+1])
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < m - 1; j++) {
            s += a[i * m + j];
            b[i * m + j] = s;
            b[i * m + j + 1] = 2 * s;
        }
    }
}
void same(int n, int m, const float *restrict a, float *restrict b, float *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m], c[0:n*m])
    for (int i = 0; i < n; i++) {
        float s = 0, first = a[i * m];
        for (int j = 0; j < m; j++) {
            s += a[i * m + j];
            b[i * m + j] = s;
            c[i * m + j] = first;
        }
    }
}
void before(int n, int m, const float *restrict a, float *restrict b, float *restrict c)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m], c[0:n])
    for (int i = 0; i < n; i++) {
        float s = 0;
        c[i] = a[i * m];
        for (int j = 0; j < m; j++) {
            s += a[i * m + j] * c[i];
            b[i * m + j] = s;
        }
    }
}
void end(void) {}
