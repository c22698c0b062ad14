// RUN: accopt %s --stop-before infer-routines | filecheck %s
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAID

// Elements of one colour of a checkerboard, by the first column, and by a condition: neighbours have the other colour.
// CHECK-LABEL: @first
// CHECK:         acc.loop control(%i
// CHECK:           acc.loop control(%j
// CHECK:         llvm.return
void first(int n, int m, double *restrict u, int colour)
{
#pragma acc kernels present(u[0:n*m])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + colour) % 2; j < m - 1; j += 2)
            u[i * m + j] = u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] + u[i * m + j + 1];
}

// CHECK-LABEL: @condition
// CHECK:         acc.loop combined(parallel) control(%i
// CHECK:           acc.loop control(%j
// CHECK:         acc.loop control(%i
// CHECK:           acc.loop control(%j
// CHECK:         llvm.return
void condition(int n, int m, double (*restrict u)[m], int colour)
{
#pragma acc parallel loop present(u[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            if ((i + j) % 2 == colour)
                u[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
#pragma acc kernels present(u[0:n])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            if (!((i + j) & 1))
                continue;
            u[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
        }
}

// Around the border of a periodic grid colours differ if its sides are even, which the host tests.
// CHECK-LABEL: @periodic
// CHECK:         acc.loop control(%i
// CHECK:           acc.loop control(%j
// CHECK:         llvm.return
// SAID: :[[# @LINE + 4]]:5: remark: loop mapped to {{.*}} in parallel where its subscripts are apart (tested at launch)
void periodic(int n, int m, double *restrict u, int colour)
{
#pragma acc kernels present(u[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = (i + colour) % 2; j < m; j += 2) {
            int up = i == 0 ? n - 1 : i - 1, left = j == 0 ? m - 1 : j - 1;
            u[i * m + j] = u[up * m + j] + u[i * m + left] + u[(i + 1) % n * m + j] + u[i * m + (j + 1) % m];
        }
}

// Not the diagonal neighbours, which have the same colour, nor those that another condition selects. The remark names
// the accesses.
// CHECK-LABEL: @same
// CHECK-NOT:     acc.loop control(%i
// CHECK:         llvm.return
// SAID: :[[# @LINE + 4]]:5: remark: loop runs sequentially: iterations may depend on each other through 'u': u[i * m - m + j - 1] is read in line [[# @LINE + 7]] and u[i * m + j] is assigned in line [[# @LINE + 6]]
void same(int n, int m, double *restrict u, int colour)
{
#pragma acc kernels present(u[0:n*m])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + colour) % 2; j < m - 1; j += 2)
            u[i * m + j] =
                u[(i - 1) * m + j - 1];
#pragma acc kernels present(u[0:n*m])
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            if ((i + j) % 3 != colour)
                u[i * m + j] = u[(i - 1) * m + j];
}

// Inner loops that lanes do not share have a remark, too.
// SAID: :[[# @LINE + 5]]:9: remark: loop runs sequentially: iterations may depend on each other through 'u': u[i][j - 1] is read in line [[# @LINE + 6]] and u[i][j] is assigned in line [[# @LINE + 6]]
void recurrence(int n, int m, double (*restrict u)[m])
{
#pragma acc parallel loop present(u[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            u[i][j] += u[i][j - 1];
}

// A subscript that wraps around 64 bits is of one element, whatever its polynomial says.
// CHECK-LABEL: @wide
// CHECK-NOT:     acc.loop control(%i
// CHECK:         llvm.return
void wide(unsigned long n, int *restrict u)
{
#pragma acc kernels copy(u[0:n])
    for (unsigned long i = 0; i < n; i++)
        u[(i << 32) * 4294967296ul + 7] += i;
}
