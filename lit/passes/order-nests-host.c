// RUN: accopt %s --target=host --emit=scheduled | filecheck %s

// For CPU threads, nests in column order change places whatever their clauses say, also where the inner loop has no
// directive; other nests keep their clauses.

// CHECK-LABEL: llvm.func @clauses
// CHECK:         acc.loop {{.*}}gang control(%i{{[_0-9]*}} : i32)
// CHECK:           acc.loop vector control(%j{{[_0-9]*}} : i32)
void clauses(int n, int m, float (*restrict a)[m])
{
#pragma acc parallel loop gang num_gangs(100) present(a[0:n])
    for (int j = 0; j < m; j++)
#pragma acc loop vector
        for (int i = 0; i < n; i++)
            a[i][j] += 1;
}

// CHECK-LABEL: llvm.func @plain
// CHECK:         acc.loop {{.*}}gang control(%i{{[_0-9]*}} : i32)
// CHECK:           acc.loop vector control(%j{{[_0-9]*}} : i32)
void plain(int n, int m, float (*restrict a)[m])
{
#pragma acc parallel loop present(a[0:n])
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            a[i][j] += 1;
}

// Rows: as written.
// CHECK-LABEL: llvm.func @rows
// CHECK:         num_gangs({%c100
// CHECK:         acc.loop {{.*}}gang control(%i{{[_0-9]*}} : i32)
// CHECK:           acc.loop vector control(%j{{[_0-9]*}} : i32)
void rows(int n, int m, float (*restrict a)[m])
{
#pragma acc parallel loop gang num_gangs(100) present(a[0:n])
    for (int i = 0; i < n; i++)
#pragma acc loop vector
        for (int j = 0; j < m; j++)
            a[i][j] += 1;
}

// Too few iterations for the threads.
// CHECK-LABEL: llvm.func @few
// CHECK:         acc.loop {{.*}}gang control(%j{{[_0-9]*}} : i32)
void few(int m, float (*restrict a)[m])
{
#pragma acc parallel loop gang present(a[0:5])
    for (int j = 0; j < m; j++)
#pragma acc loop vector
        for (int i = 0; i < 5; i++)
            a[i][j] += 1;
}

// A gang's own array: the mapping is observable.
// CHECK-LABEL: llvm.func @own
// CHECK:         acc.loop gang control(%j{{[_0-9]*}} : i32)
void own(int n, int m, float (*restrict a)[m])
{
    float w[64];
#pragma acc parallel present(a[0:n]) private(w)
#pragma acc loop gang
    for (int j = 0; j < m; j++)
#pragma acc loop vector
        for (int i = 0; i < n; i++) {
            w[i % 64] = i;
            a[i][j] += w[i % 64];
        }
}

// Each iteration needs the one before it.
// CHECK-LABEL: llvm.func @ordered
// CHECK:         acc.loop {{.*}}gang vector control(%j{{[_0-9]*}} : i32)
// CHECK:           scf.for
void ordered(int n, int m, float (*restrict a)[m])
{
#pragma acc parallel loop present(a[0:n])
    for (int j = 0; j < m; j++)
        for (int i = 1; i < n; i++)
            a[i][j] += a[i - 1][j];
}

// A transposition stays as it is, and its inner loop gets the lanes, so that it can have tiles; without proof it does not.
// CHECK-LABEL: llvm.func @transposed
// CHECK:         acc.loop {{.*}}gang control(%i{{[_0-9]*}} : i32)
// CHECK:           acc.loop vector control(%j{{[_0-9]*}} : i32)
void transposed(int n, const float (*restrict b)[n], float (*restrict a)[n])
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = b[j][i];
}

// CHECK-LABEL: llvm.func @perhaps
// CHECK:         acc.loop {{.*}}gang vector control(%i
// CHECK:           scf.for %j
void perhaps(int n, const float (*b)[n], float (*a)[n])
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = b[j][i];
}
