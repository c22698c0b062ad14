// RUN: accopt %s --emit=transformed | filecheck %s

// A block of a matrix that every sum of an iteration reads, in rows of a length that is known at run time only. The
// rows of blocks are not side by side in a thread, as each has registers for its own.
// CHECK-LABEL: llvm.func @block
// CHECK:         %a_own{{.*}} = llvm.alloca {{.*}} x !llvm.array<64 x f32>
// CHECK-COUNT-64: llvm.load {{.*}} {accx.speculative}
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             accx.element %a_own
// CHECK:         rows not kept side by side: a row reads elements of its own again and again
// CHECK-LABEL: llvm.func @written
// CHECK:         llvm.array<32 x f32>
void block(int h, int w, const float *restrict a, const float *restrict t, float *restrict b)
{
#pragma acc parallel loop collapse(2) present(a[0:h*w], b[0:h*w], t[0:64])
    for (int i = 0; i < h; i += 8)
        for (int j = 0; j < w; j += 8)
            for (int u = 0; u < 8; u++)
                for (int v = 0; v < 8; v++) {
                    float s = 0;
                    for (int y = 0; y < 8; y++)
                        for (int x = 0; x < 8; x++)
                            s += a[(i + y) * w + j + x] * t[8 * u + y] * t[8 * v + x];
                    b[(i + u) * w + j + v] = s;
                }
}
void written(int h, int w, const float *restrict a, float *restrict b)
{
    int i, j, u, x;
    float s;
#pragma acc parallel loop collapse(2) present(a[0:h*w], b[0:h*w])
    for (i = 0; i < h / 4; i++)
        for (j = 0; j < w / 8; j++)
            for (u = 0; u < 8; u++) {
                const float *p = a + i * 4 * w + j * 8;
                s = 0;
                for (x = 0; x < 8; x++)
                    s += p[x] * u + p[w + x] * (u + x) - p[2 * w + x] + p[3 * w + x] * x;
                b[i * w + j * 8 + u] = s;
            }
}

// Not where the iteration writes the matrix, whose rows might be shorter than those of the block, and not where it
// might not read an element.
// CHECK-LABEL: llvm.func @declined
// CHECK-NOT:     _own
// CHECK:         llvm.return
void declined(int h, int w, int n, float *restrict a, float *restrict b)
{
#pragma acc parallel loop collapse(2) present(a[0:h*w], b[0:h*w])
    for (int i = 0; i < h / 4; i++)
        for (int j = 0; j < w / 4; j++)
            for (int u = 0; u < 8; u++)
                for (int y = 0; y < 4; y++)
                    for (int x = 0; x < 4; x++)
                        a[(4 * i + y) * w + 4 * j + x] += a[4 * i * w + 4 * j + x] * u;
#pragma acc parallel loop collapse(2) present(a[0:h*w], b[0:h*w])
    for (int i = 0; i < h / 4; i++)
        for (int j = 0; j < w / 4; j++)
            for (int u = 0; u < n; u++) {
                float s = 0;
                for (int y = 0; y < 4; y++)
                    for (int x = 0; x < 4; x++)
                        s += a[(4 * i + y) * w + 4 * j + x] * (u + x);
                b[i * w + j] += s;
            }
}
