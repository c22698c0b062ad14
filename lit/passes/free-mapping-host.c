// RUN: accopt %s --target=host --stop-before hoist-loop-bounds | filecheck %s
// RUN: accopt %s --target=host --sizes=as-written --emit=host -o /dev/null --remarks 2>&1 | filecheck %s --check-prefix KEPT
// RUN: accopt %s --target=host --emit=host -o /dev/null --remarks 2>&1 | filecheck %s --check-prefix SAYS

// A CPU thread runs whole gangs: without a gang level, a single thread would run all iterations.
// CHECK-LABEL: llvm.func @lanes
// CHECK:         acc.loop combined(kernels) control(%i
// SAYS: 12:13: remark: vector: treated as advice
// KEPT: 12:13: remark: kernel with num_gangs(1)
void lanes(int n, const int *restrict s, const double *restrict a, double *restrict b)
{
#pragma acc kernels loop independent vector(256) present(s[0:n+1], a[0:n], b[0:n])
    for (int i = 0; i < n; i++) {
        double t = 0;
        for (int k = s[i]; k < s[i + 1]; k++)
            t += a[k];
        b[i] = t;
    }
}

// CHECK-LABEL: llvm.func @workers
// CHECK:         acc.loop control(%i
// CHECK:           acc.loop control(%j
// SAYS: worker, vector: treated as advice
void workers(int n, float (*restrict a)[n])
{
#pragma acc parallel present(a[0:n])
#pragma acc loop worker
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            a[i][j] += 1.0f;
}

// The number was meant for a smaller machine.
// CHECK-LABEL: llvm.func @few
// CHECK:         acc.parallel combined(loop) dataOperands(%{{.*}}) {
// SAYS: num_gangs(8), gang, vector: treated as advice
void few(int n, float *restrict a)
{
#pragma acc parallel loop gang vector num_gangs(8) present(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] += 1.0f;
}

// Its workers do not become threads.
// CHECK-LABEL: llvm.func @computed
// CHECK:         acc.parallel combined(loop) dataOperands(%{{.*}}) {
// SAYS: num_gangs(…), num_workers(128), gang, worker: treated as advice
void computed(int n, float *restrict a)
{
#pragma acc parallel loop gang worker num_gangs(n / 128) num_workers(128) present(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] += 1.0f;
}

// These keep all threads busy, and stay.
// CHECK-LABEL: llvm.func @enough
// CHECK:         acc.loop {{.*}}gang control(%i
// CHECK:           acc.loop {{.*}}vector control(%j
void enough(int n, float (*restrict a)[n])
{
#pragma acc parallel loop gang num_gangs(64) present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            a[i][j] += 1.0f;
}

// SAYS: mapped as written (num_gangs(1), vector): the program requests one gang
// CHECK-LABEL: llvm.func @one
// CHECK:         acc.loop {{.*}}vector control(%i
void one(int n, float *restrict a)
{
#pragma acc parallel loop num_gangs(1) vector present(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] += 1.0f;
}

// SAYS: tile: treated as advice
// CHECK-LABEL: llvm.func @across
// CHECK-NOT:     tile
// CHECK:         acc.loop combined(parallel) control(%i{{[_0-9]*}} : i32, %j
void across(int n, const float (*restrict b)[n], float (*restrict a)[n])
{
#pragma acc parallel loop tile(32, 16) present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = b[j][i];
}

// SAYS: tile: treated as advice
// CHECK-LABEL: llvm.func @along
// CHECK-NOT:     tile
// CHECK:         acc.loop combined(parallel) control(%i
void along(int n, const float (*restrict b)[n], float (*restrict a)[n])
{
#pragma acc parallel loop tile(32, 16) present(a[0:n], b[0:n])
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = b[i - 1][j];
}

// A transposition with all levels on a collapsed loop, and rows.
// SAYS: gang, worker, vector: treated as advice
// CHECK-LABEL: llvm.func @levels
// CHECK:         acc.loop combined(parallel) control(%i
void levels(int n, const float (*restrict b)[n], float (*restrict a)[n])
{
#pragma acc parallel loop collapse(2) gang worker vector present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = b[j][i];
}

// CHECK-LABEL: llvm.func @in_rows
// CHECK:         acc.loop combined(parallel) gang worker vector control(%i
void in_rows(int n, const float (*restrict b)[n], float (*restrict a)[n])
{
#pragma acc parallel loop collapse(2) gang worker vector present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = b[i][j];
}
