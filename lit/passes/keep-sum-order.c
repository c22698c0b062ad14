// RUN: accopt %s --target=nvptx --stop-before expand-scans | filecheck %s
// RUN: accopt %s --target=nvptx --stop-before keep-sum-order | filecheck %s --check-prefix=MARKED
// RUN: accopt %s --target=nvptx --stop-before expand-scans --fast-math | filecheck %s --check-prefix=FREE
// RUN: accopt %s --target=host --stop-before expand-scans | filecheck %s --check-prefix=FREE

// Several loops in a row, of which one adds up floats: 8 lanes of a warp store 128 terms, and each of them adds
// up these, 16 at a time. A warp stores 512 where rows are long.
// CHECK-LABEL: @three
// CHECK:         acc.parallel {{.*}}num_workers(%c32{{.*}} vector_length(%c8
// CHECK:           acc.loop {{.*}}gang worker
// CHECK:             %terms{{.*}} = llvm.alloca %c132{{.*}} x f32
// CHECK:             acc.loop vector reduction({{.*}}) control(%j
// CHECK:             %[[PIECES:.*]] = arith.divsi {{.*}}, %c128
// CHECK:             scf.for %piece{{.*}} = %{{.*}} to %[[PIECES]]
// CHECK:               acc.loop vector control(%j{{.*}} : i32) = (%[[LOW:.*]] : i32) to (%[[HIGH:.*]] : i32)
// CHECK:                 llvm.store %{{.*}}, %b
// CHECK:                 llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr
// CHECK:                 acc.yield
// CHECK-NEXT:          } {{.*}}elements = 8
// CHECK:               scf.for %group
// CHECK-COUNT-16:        llvm.load %{{.*}} {alignment
// CHECK:                 %[[OLD:.*]] = llvm.load %[[SUM:.*]] : !llvm.ptr -> f32
// CHECK:                 arith.addf %[[OLD]]
// CHECK:                 llvm.store %{{.*}}, %[[SUM]] : f32
// CHECK:               scf.for %term
// CHECK:             acc.loop vector control(%j
// CHECK:         acc.parallel {{.*}}num_workers(%c8{{.*}} vector_length(%c32
// CHECK:             llvm.alloca %c516{{.*}} x f32
// MARKED-LABEL: @three
// MARKED:         acc.loop vector reduction
// MARKED-NOT:     accx.in_order
// MARKED:         acc.loop vector reduction
// MARKED:         } attributes {{{.*}}accx.in_order
// FREE-NOT:     %terms
// FREE-NOT:     accx.in_order
void three(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        float most = 0, sum = 0;
        for (int j = 0; j < m; j++)
            most = a[i * m + j] > most ? a[i * m + j] : most;
        for (int j = 0; j < m; j++) {
            b[i * m + j] = a[i * m + j] - most;
            sum += b[i * m + j];
        }
        for (int j = 0; j < m; j++)
            b[i * m + j] /= sum;
    }
}

// A sum and a product in one loop: terms of both, in arrays of which the other loop uses one, too.
// CHECK-LABEL: @two
// CHECK:         acc.parallel {{.*}}num_workers(%c8{{.*}} vector_length(%c32
// CHECK-COUNT-2:   llvm.alloca %c132{{.*}} x f64
// CHECK-NOT:       llvm.alloca %c132
// CHECK:           scf.for %group
// CHECK:           scf.for %group
// CHECK:         llvm.return
void two(int n, int m, const double *restrict a, double *restrict s, double *restrict t)
{
#pragma acc parallel loop present(a[0:n*m], s[0:n], t[0:n])
    for (int i = 0; i < n; i++) {
        double sum = 1, other = 0, product = 1;
        for (int j = 0; j < m; j++)
            sum += a[i * m + j];
        for (int j = 0; j < m; j++) {
            other -= (a[i * m + j] - sum) * j;
            product *= 1 + a[i * m + j];
        }
        s[i] = sum * product;
        t[i] = other;
    }
}

// Sums in elements of arrays are variables of the row first.
// CHECK-LABEL: @elements
// CHECK:         llvm.alloca %c516{{.*}} x f32
// CHECK:           scf.for %group
// CHECK:           llvm.store %{{.*}}, %mean
// CHECK:           scf.for %group
// CHECK:           llvm.store %{{.*}}, %var
// CHECK:         llvm.return
void elements(int n, int m, const float *restrict a, float *restrict mean, float *restrict var)
{
#pragma acc parallel loop present(a[0:n*m], mean[0:n], var[0:n])
    for (int i = 0; i < n; i++) {
        mean[i] = var[i] = 0;
        for (int j = 0; j < m; j++)
            mean[i] += a[i * m + j];
        for (int j = 0; j < m; j++)
            var[i] += (a[i * m + j] - mean[i]) * (a[i * m + j] - mean[i]);
    }
}

// Where arrays overlap, a thread has a whole row.
// CHECK-LABEL: @same
// CHECK:         acc.parallel {{.*}} vector_length(%c32
// CHECK:         acc.parallel
// CHECK-NOT:       acc.loop vector
// CHECK-COUNT-2:   } {accx.why = "fallback: arrays overlap"}
// CHECK:         llvm.return
void same(int n, int m, const float *a, float *b)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            sum += a[i * m + j];
        for (int j = 0; j < m; j++)
            b[i * m + j] = a[i * m + j] / sum;
    }
}

// A single loop (stage-ordered-sums takes it), and sums of which each is stored.
// CHECK-LABEL: @others
// CHECK-NOT:     %terms
void others(int n, int m, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n*m], b[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++)
            sum += a[i * m + j];
        b[i] = sum;
    }
#pragma acc parallel loop present(a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++) {
            sum += a[i * m + j];
            b[i * m + j] = sum;
        }
        for (int j = 0; j < m; j++)
            b[i * m + j] *= sum;
    }
}
