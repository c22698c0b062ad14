// RUN: accopt --target=host --emit=data %s | filecheck %s --check-prefix=HOST
// RUN: accopt --target=nvptx --emit=data %s | filecheck %s --check-prefix=GPU

// For CPU threads, loops without a directive in a parallel loop, and around another loop, go side by side
// where no iteration depends on another; what is in order stays so.
enum { N = 64 };
float A[N][N], B[N][N], C[N][N];

// HOST-LABEL: llvm.func @columns
// HOST: acc.loop combined(parallel) control(%i
// HOST: acc.loop control(%j
// HOST: scf.for %k
// HOST: found independent: no iteration depends on another
// GPU-LABEL: llvm.func @columns
// GPU: scf.for %j
void columns(void)
{
#pragma acc parallel loop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float s = 0;
            for (int k = 0; k < N; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
}

// Each column needs the one before it.
// HOST-LABEL: llvm.func @carried
// HOST: scf.for %j
void carried(void)
{
#pragma acc parallel loop
    for (int i = 0; i < N; i++)
        for (int j = 1; j < N; j++) {
            float s = 0;
            for (int k = 0; k < N; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = C[i][j - 1] + s;
        }
}

// A sum over all columns keeps its order.
// HOST-LABEL: llvm.func @summed
// HOST: scf.for %j{{.*}} iter_args
void summed(float *sums)
{
#pragma acc parallel loop copyout(sums[0:N])
    for (int i = 0; i < N; i++) {
        float s = 0;
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                s += A[i][k] * B[k][j];
        sums[i] = s;
    }
}

// Pointers may overlap: the host asks before the launch.
// HOST-LABEL: llvm.func @pointers
// HOST: scf.if %independent
// HOST: acc.loop control(%j
// HOST: in parallel where 'a' and 'c', 'b' and 'c' do not overlap (tested at launch)
// HOST: acc.loop control(%j{{.*}}
// HOST: fallback: arrays overlap
void pointers(float *a, float *b, float *c, int n)
{
#pragma acc parallel loop copyin(a[0:n*n], b[0:n*n]) copyout(c[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}
