// RUN: accopt %s --stop-before hoist-invariant-loops --skip-pass tell-arrays-apart | filecheck %s
// RUN: accopt %s --stop-before hoist-invariant-loops | filecheck %s --check-prefix APART
// RUN: accopt %s --stop-before hoist-invariant-loops --pass-option "find-shared-sections{enabled=false}" | filecheck %s --check-prefix OFF
// OFF-NOT: acc.cache

// Pieces of 16 terms of both factors; a version for sums of whole pieces, and one with the rest apart. Rows of
// the arrays are dimensions of the sections.
// CHECK-LABEL: llvm.func @product
// CHECK:         %whole_pieces = arith.cmpi eq
// CHECK:         scf.if %whole_pieces {
// CHECK:           %[[SUM:.*]] = scf.for %piece = %{{.*}} to %t step %{{.*}} iter_args(
// CHECK:             acc.bounds lowerbound(%{{.*}}) extent(%c1{{[_0-9]*}} : i64)
// CHECK:             acc.bounds lowerbound(%{{.*}}) extent(%c16{{[_0-9]*}} : i64) stride(%c4
// CHECK:             acc.cache varPtr(%a{{.*}} -> !llvm.ptr {accx.restrict, name = "a"}
// CHECK:             acc.cache varPtr(%b
// CHECK:             scf.for %k = %piece to %piece_end step
// CHECK-NOT:       scf.for
// CHECK:         } else {
// CHECK:           %[[PART:.*]] = scf.for %piece{{[_0-9]*}} = %{{.*}} to %{{.*}} step
// CHECK:             scf.for %k{{[_0-9]*}} = %piece
// CHECK:           scf.for %k{{[_0-9]*}} = %{{.*}} to %t step %{{.*}} iter_args(%{{.*}} = %[[PART]]) -> (f32)
void product(int m, int n, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:m*t], b[0:t*n], c[0:m*n])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < t; k++)
                sum += a[i * t + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

// A sum in memory waits in a register, and is stored if there are terms at all.
// CHECK-LABEL: llvm.func @memory
// CHECK:           %runs = arith.cmpi slt
// CHECK:           scf.if %runs -> (f64) {
// CHECK:           scf.for %piece
// CHECK-NOT:         llvm.store
// CHECK:           scf.if %runs {
// CHECK-NEXT:        llvm.store
void memory(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// What is written may be what is read only if loops have one iteration: else others would read it too.
// The host's test whether arrays overlap, before the construct, leaves no doubt.
// APART-LABEL: llvm.func @overlapping
// APART:         scf.if %apart
// APART-NOT:       %several
// APART:           scf.if %whole_pieces
// APART:             acc.cache varPtr(%a
// CHECK-LABEL: llvm.func @overlapping
// CHECK:         arith.cmpi sgt, %{{.*}}, %c1
// CHECK:         scf.if %several {
// CHECK:           scf.if %whole_pieces
// CHECK:             acc.cache varPtr(%a{{.*}} -> !llvm.ptr {accx.restrict, name = "a"}
// CHECK:           } else {
// CHECK:             acc.cache varPtr(%b
// CHECK:         } else {
// CHECK:           acc.loop
// CHECK-NOT:       acc.cache
void overlapping(int m, int n, const float *a, const float *b, float *c)
{
#pragma acc parallel loop collapse(2) present(a[0:m*n], b[0:n*n], c[0:m*n])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// Left alone: the sum's array is read in other places too, or there is too little to share.
// CHECK-LABEL: llvm.func @same
// CHECK-NOT:     acc.cache
void same(int n, const float *a, float *c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], c[0:2*n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * c[(n + k) * n + j];
}

void narrow(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], b[0:n*4], c[0:n*4])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * 32 + j];
            c[i * 4 + j] = sum;
        }
}

void stencil(int n, const float *restrict a, const float *restrict w, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], w[0:64], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n - 64; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 64; k++)
                sum += a[i * n + j + k] * w[k];
            c[i * n + j] = sum;
        }
}

// A triangle is a rectangle whose other part is dropped: only the factors are read there. Rows without columns are
// left out, whose elements nobody may read.
// CHECK-LABEL: llvm.func @triangle
// CHECK:         acc.loop combined(parallel) control(%i{{[_0-9]*}} : i32) = (%c1{{[_0-9]*}} : i32) to
// CHECK:           acc.loop control(%j{{[_0-9]*}} : i32) = (%c0{{[_0-9]*}} : i32) to (%{{.*}} : i32)
// CHECK:             %wanted = arith.cmpi slt, %j{{[_0-9]*}}, %i{{[_0-9]*}} :
// CHECK:             scf.if %wanted -> (f32) {
// CHECK-NEXT:          llvm.load
// CHECK:             acc.cache
// CHECK:             scf.if %wanted {
// CHECK:               llvm.store
// CHECK:               llvm.store
// CHECK:           accx.wanted = "below"
void triangle(int n, int m, const float *restrict a, const float *restrict b, float (*restrict c)[n])
{
#pragma acc parallel loop present(a[0:n*m], b[0:m*n], c[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < i; j++) {
            float sum = c[i][j];
            for (int k = 0; k < m; k++)
                sum += a[i * m + k] * b[k * n + j];
            c[i][j] = sum;
            c[j][i] = sum;
        }
}

// Left alone: bands, and triangles beside code that changes what they read.
// CHECK-LABEL: llvm.func @band
// CHECK-NOT:     acc.cache
// CHECK-LABEL: llvm.func @diagonal
// CHECK-NOT:     acc.cache
void band(int n, int m, const float *restrict a, float (*restrict c)[n])
{
#pragma acc parallel loop present(a[0:n*m], c[0:n])
    for (int i = 8; i < n - 8; i++)
#pragma acc loop
        for (int j = i - 8; j < i + 8; j++) {
            float sum = 0.0f;
            for (int k = 0; k < m; k++)
                sum += a[i * m + k] * a[j * m + k];
            c[i][j] = sum;
        }
}

void diagonal(int n, int m, const float *restrict a, float (*restrict c)[n])
{
#pragma acc parallel loop present(a[0:n*m], c[0:n])
    for (int i = 0; i < n; i++) {
        float start = c[i][i];
        c[i][i] = 1.0f;
#pragma acc loop
        for (int j = 0; j < i; j++) {
            float sum = start;
            for (int k = 0; k < m; k++)
                sum += a[i * m + k] * a[j * m + k];
            c[i][j] = sum;
        }
    }
}

// Variables of the iteration may be in private clauses, counters wider than lengths, sums by C's functions.
// CHECK-LABEL: llvm.func @private_sum
// CHECK:         scf.for %piece
// CHECK-LABEL: llvm.func @counted_wider
// CHECK:         scf.for %piece
// CHECK-LABEL: llvm.func @by_function
// CHECK:         scf.for %piece
void private_sum(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    int i, j, k;
    float sum;
#pragma acc parallel loop collapse(2) private(sum) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            sum = 0.0f;
            for (k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void counted_wider(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (long i = 1; i <= n; i++)
        for (long j = 1; j <= n; j++) {
            float sum = 0.0f;
            for (long k = 1; k <= n; k++)
                sum += a[(i - 1) * n + k - 1] * b[(k - 1) * n + j - 1];
            c[(i - 1) * n + j - 1] = sum;
        }
}

float fminf(float x, float y);
void by_function(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float least = 1e30f;
            for (int k = 0; k < n; k++)
                least = fminf(least, a[i * n + k] + b[k * n + j]);
            c[i * n + j] = least;
        }
}

// Subscripts that may wrap around, of which `first` may be what makes a small one: only where the host sees that they do not.
// CHECK-LABEL: llvm.func @wrapping
// CHECK:         scf.if %no_wrap
// CHECK:           acc.cache varPtr(%a
// CHECK:         } else {
// CHECK-NOT:     acc.cache
void wrapping(int n, unsigned first, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:64*n], b[0:64*n], c[0:n*n])
    for (unsigned i = 0; i < 256; i++)
        for (unsigned j = 0; j < 256; j++) {
            float sum = 0.0f;
            for (unsigned k = 0; k < 64; k++)
                sum += a[(i + first) * 64 + k] * b[(j + first) * 64 + k];
            c[i * 256 + j] = sum;
        }
}

// Arrays and lengths may be members of structures; the lengths are loaded once.
// CHECK-LABEL: llvm.func @members
// CHECK:         %a_cols{{[_0-9]*}} = llvm.load
// CHECK:         acc.loop
// CHECK-NOT:     llvm.load %a_cols
// CHECK:         scf.for %piece
// CHECK:         acc.cache varPtr(%{{.*}}) {{.*}}name = "a->data"
struct matrix {
    int rows, cols;
    float *data;
};

void members(struct matrix *a, struct matrix *b, struct matrix *c)
{
#pragma acc parallel loop collapse(2) present(a[0:1], b[0:1], c[0:1], a->data[0:a->rows * a->cols], \
                                              b->data[0:b->rows * b->cols], c->data[0:c->rows * c->cols])
    for (int i = 0; i < c->rows; i++)
        for (int j = 0; j < c->cols; j++) {
            float sum = 0.0f;
            for (int k = 0; k < a->cols; k++)
                sum += a->data[i * a->cols + k] * b->data[k * b->cols + j];
            c->data[i * c->cols + j] = sum;
        }
}

// A factor that is read from its end: its piece begins where the last term reads.
// CHECK-LABEL: llvm.func @backwards
// CHECK:         scf.for %[[PIECE:piece.*]] = %{{.*}} to %t
// CHECK:           %[[LAST:last.*]] = arith.addi %[[PIECE]], %c15
// CHECK:           acc.cache varPtr(%a
// CHECK:           %[[WIDE:last.*]] = arith.extsi %[[LAST]] : i32 to i64
// CHECK:           arith.muli %[[WIDE]], %cm1
// CHECK:           acc.cache varPtr(%b
void backwards(int m, int n, int t, const float *restrict a, const float *restrict b, float *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:m*t], b[0:t*n], c[0:m*n])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < t; k++)
                sum += a[i * t + k] * b[(t - 1 - k) * n + j];
            c[i * n + j] = sum;
        }
}

// Products of doubles have a version for full blocks, which loops over multiples of their sides, and one for blocks at the
// edges of the arrays.
// CHECK-LABEL: llvm.func @doubles
// CHECK:         %whole_pieces{{.*}} = arith.cmpi eq
// CHECK:         scf.if %whole_pieces
// CHECK:           %filled{{.*}} = arith.muli %{{.*}}, %c64{{.*}} overflow<nsw> : i32
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32) = (%c0{{.*}}) to (%filled
// CHECK:             acc.cache {{.*}} {accx.restrict, name = "a"}
// CHECK:         } else {
// CHECK:           acc.loop combined(parallel) control(%i{{.*}} : i32) = (%c0{{.*}}) to (%n
// CHECK:             acc.cache {{.*}} {accx.restrict, accx.edges, name = "a"}
void doubles(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma acc parallel loop collapse(2) present(a[0:n*n], b[0:n*n], c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
