// RUN: accopt %s --target=nvptx --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s

typedef struct { float v[5]; } node;
typedef struct { float v[40]; } block;

// Structures of up to 128 bytes lie beside each other for the lanes of a warp, and a choice moves as its value that moves.
// CHECK:      records.c:[[# @LINE + 4]]:13: remark: loop mapped to gang (blockIdx), gang dimension 2: tightly nested loops
// CHECK:      records.c:[[# @LINE + 5]]:13: remark: loop mapped to gang (blockIdx), vector (threadIdx.x): tightly nested loops
void nodes(int n, int m, const node *restrict a, node *restrict b)
{
#pragma acc parallel loop present(a[0:n * m], b[0:n * m])
    for (int j = 0; j < n; j++) {
#pragma acc loop
        for (int i = 0; i < m; i++) {
            b[j * m + i].v[0] = a[j * m + (i > 0 ? i - 1 : 0)].v[0] + a[j * m + (i < m - 1 ? i + 1 : 0)].v[4];
        }
    }
}

// Larger ones are apart.
// CHECK:      records.c:[[# @LINE + 3]]:13: remark: loop mapped to gang (blockIdx): outermost parallel loop
void blocks(int n, int m, const block *restrict a, block *restrict b)
{
#pragma acc parallel loop present(a[0:n * m], b[0:n * m])
    for (int j = 0; j < n; j++) {
#pragma acc loop
        for (int i = 0; i < m; i++)
            b[j * m + i].v[0] = a[j * m + i].v[1];
    }
}

// A choice between values that move in different ways is not contiguous.
// CHECK:      records.c:[[# @LINE + 3]]:13: remark: loop mapped to gang (blockIdx): outermost parallel loop
void turned(int n, int m, int back, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n * m], b[0:n * m])
    for (int j = 0; j < n; j++) {
#pragma acc loop
        for (int i = 0; i < m; i++)
            b[(i * n + j)] = a[j * m + (back ? m - 1 - i : i)];
    }
}

// The loop along structures becomes the innermost.
// CHECK:      records.c:[[# @LINE + 3]]:13: remark: loop over 'i' made the innermost
void columns(int n, int m, const node *restrict a, node *restrict b)
{
#pragma acc parallel loop present(a[0:n * m], b[0:n * m])
    for (int i = 0; i < m; i++) {
#pragma acc loop
        for (int j = 0; j < n; j++)
            b[j * m + i].v[0] = a[j * m + i].v[1];
    }
}
