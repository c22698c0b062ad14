// RUN: accopt %s --stop-before infer-routines | filecheck %s
// RUN: accopt %s --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=TESTED

// Blocks in steps of their size are apart if the last one ends in the row, which the host tests.
// CHECK-LABEL: @blocks
// CHECK:         acc.loop control(%y
// CHECK:           acc.loop control(%x
// CHECK:         llvm.return
// TESTED: :[[# @LINE + 5]]:9: remark: loop mapped to {{.*}}; in parallel where its subscripts are apart (tested at launch)
void blocks(int n, int m, float *restrict a)
{
#pragma acc kernels present(a[0:n*m])
    for (int y = 0; y < n; y += 8)
        for (int x = 0; x < m; x += 8)
            for (int u = 0; u < 8; u++)
                for (int v = 0; v < 8; v++)
                    a[(y + u) * m + x + v] += u * v;
}

// Steps that are known at run time.
// CHECK-LABEL: @stage
// CHECK:         acc.loop control(%i
// CHECK:           acc.loop control(%j
// CHECK:         acc.loop control(%i
// CHECK:           acc.loop control(%j
// CHECK:         llvm.return
void stage(int n, int length, int half, float *restrict a)
{
#pragma acc kernels present(a[0:n])
    for (int i = 0; i < n; i += length)
        for (int j = 0; j < length / 2; j++) {
            float x = a[i + j], y = a[i + j + length / 2];
            a[i + j] = x + y;
            a[i + j + length / 2] = x - y;
        }
#pragma acc kernels present(a[0:n])
    for (int i = 0; i < n; i += 2 * half)
        for (int j = 0; j < half; j++) {
            float x = a[i + j], y = a[i + j + half];
            a[i + j] = x + y;
            a[i + j + half] = x - y;
        }
}

// Blocks wider than a step overlap.
// CHECK-LABEL: @wide
// CHECK-NOT:     acc.loop control(%y
// CHECK-NOT:     acc.loop control(%i
// CHECK:         llvm.return
void wide(int n, int m, int half, float *restrict a)
{
#pragma acc kernels present(a[0:n*m])
    for (int y = 0; y < n; y += 8)
        for (int u = 0; u < 9; u++)
            for (int x = 0; x < m; x++)
                a[(y + u) * m + x] += 0.5f * a[y * m];
#pragma acc kernels present(a[0:n])
    for (int i = 0; i < n; i += half)
        for (int j = 0; j <= half; j++)
            a[i + j] = 0.5f * a[i + j] + j;
}

// Blocks of rows, of which the last may be cut off.
// CHECK-LABEL: @cut
// CHECK-COUNT-3: acc.loop control(%block
// CHECK:         llvm.return
void cut(int n, int m, float *restrict a, const float *restrict b)
{
#pragma acc kernels present(a[0:n*m], b[0:n*m])
    for (int block = 0; block < n; block += 32)
        for (int i = block; i < (block + 32 < n ? block + 32 : n); i++)
            for (int j = 0; j < m; j++)
                a[i * m + j] += b[j * n + i];
#pragma acc kernels present(a[0:n*m], b[0:n*m])
    for (int block = 0; block < n; block += 32) {
        int end = block + 32;
        if (end > n)
            end = n;
        for (int i = block; i < end; i++)
            for (int j = 0; j < m; j++)
                a[i * m + j] += b[j * n + i];
    }
#pragma acc kernels present(a[0:n*m])
    for (int block = 0; block < n; block += 32)
        for (int i = block; i < block + 32; i++)
            for (int j = 0; j < m; j++)
                a[i * m + j] *= 2;
}

// Blocks that end at the greater of two bounds, and such that overlap.
// CHECK-LABEL: @overlapping
// CHECK-NOT:     acc.loop control(%block
// CHECK:         llvm.return
void overlapping(int n, int m, float *restrict a)
{
#pragma acc kernels present(a[0:n*m])
    for (int block = 0; block < n; block += 32)
        for (int i = block; i < (block + 32 > n ? block + 32 : n); i++)
            for (int j = 0; j < m; j++)
                a[i * m + j] = 0.5f * a[i * m + j] + block;
#pragma acc kernels present(a[0:n*m])
    for (int block = 0; block < n; block += 32)
        for (int i = block; i < (block + 33 < n ? block + 33 : n); i++)
            for (int j = 0; j < m; j++)
                a[i * m + j] = 0.5f * a[i * m + j] + block;
}
