// RUN: accopt %s --target=nvptx --emit scheduled -p promote-cache-to-shared | filecheck %s

// An array that is written and that several sections name has one tile around them.
// CHECK-LABEL: llvm.func @joined
// CHECK:       %w_tile = accx.shared_tile "w" 5120
// CHECK-NOT:   accx.shared_tile
// CHECK:       cache(w): in the tile of the section in line 13, since 'w' is written
// CHECK:       write-back
void joined(int n, int *restrict w)
{
#pragma acc parallel loop present(w[0:n])
    for (int i = 0; i < n - 5; i += 5) {
#pragma acc cache(w[i+1:1], w[i:1])
#pragma acc cache(w[i+4:1])
        for (int k = 0; k < 9; k++) {
            w[i] += w[i + 1] + k;
            w[i + 4] -= w[i];
        }
    }
}

// The distance is known only at run time; far apart, the tile would hold little else but gaps.
// CHECK-LABEL: llvm.func @apart
// CHECK-NOT:   accx.shared_tile
// CHECK:       'w' is written and named by several sections of one scope
// CHECK-LABEL: llvm.func @far
// CHECK-NOT:   accx.shared_tile
// CHECK:       'w' is written and named by several sections of one scope
void apart(int n, int d, int *restrict w)
{
#pragma acc parallel loop present(w[0:2*n])
    for (int i = 0; i < n; i++) {
#pragma acc cache(w[i:1], w[i+d:1])
        for (int k = 0; k < 9; k++)
            w[i] += w[i + d] + k;
    }
}

void far(int n, int *restrict w)
{
#pragma acc parallel loop present(w[0:2*n])
    for (int i = 0; i < n; i++) {
#pragma acc cache(w[i:1], w[i+500:1])
        for (int k = 0; k < 9; k++)
            w[i] += w[i + 500] + k;
    }
}

// A reduction of an array: each iteration has one of its own, each thread of the gang leaves its elements in
// an array of the gang, and a vector loop with the clause adds these up.
// CHECK-LABEL: llvm.func @histogram
// CHECK:       %h_partials = llvm.alloca {{.*}} x !llvm.array<256 x !llvm.array<6 x i32>>
// CHECK:       accx.gang_threads
// CHECK:       accx.shared_tile "a"
// CHECK:       %h_partial = llvm.alloca {{.*}} x !llvm.array<6 x i32>
// CHECK:       scf.for %element
// CHECK:       accx.gang_barrier
// CHECK:       scf.for %element
// CHECK:       acc.loop worker vector reduction(%h
// CHECK:       scf.for %element
// CHECK:       %combined = arith.addi
void histogram(int n, const int *restrict a, int *restrict out)
{
    int h[6] = {0};
#pragma acc parallel loop present(a[0:n]) reduction(+:h)
    for (int i = 20; i < n - 20; i++) {
#pragma acc cache(a[i-20:41])
        int t = 0;
        for (int k = -20; k <= 20; k++)
            t += a[i + k];
        h[t % 6] += t;
    }
    for (int k = 0; k < 6; k++)
        out[k] = h[k];
}

// So many elements for every thread do not fit.
// CHECK-LABEL: llvm.func @long_histogram
// CHECK-NOT:   accx.shared_tile
// CHECK:       the reductions of its 256 threads take 102400 bytes of shared memory
void long_histogram(int n, const int *restrict a, int *restrict out)
{
    int h[100] = {0};
#pragma acc parallel loop present(a[0:n]) reduction(+:h)
    for (int i = 20; i < n - 20; i++) {
#pragma acc cache(a[i-20:41])
        int t = 0;
        for (int k = -20; k <= 20; k++)
            t += a[i + k];
        h[t % 100] += t;
    }
    for (int k = 0; k < 100; k++)
        out[k] = h[k];
}

// What all threads of a block do or leave stays one branch for all outputs of a thread, also without an else.
// CHECK-LABEL: llvm.func @perhaps
// CHECK:       accx.gang_threads
// CHECK:       %[[WANTED:.*]] = arith.cmpi sgt, %mode,
// CHECK-NEXT:  scf.if %[[WANTED]] {
// CHECK-NEXT:  accx.element %c
void perhaps(float a[64][64], float b[64][64], float c[64][64], int mode) {
#pragma acc parallel loop gang vector tile(16, 16) copyin(a[0:64], b[0:64]) copy(c[0:64])
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      float s = 0;
      for (int k0 = 0; k0 < 64; k0 += 16) {
#pragma acc cache(a[i:1][k0:16], b[k0:16][j:1])
        for (int k = k0; k < k0 + 16; k++)
          s += a[i][k] * b[k][j];
      }
      if (mode > 1)
        c[i][j] = s;
    }
}
