// RUN: accopt %s --target=nvptx --emit scheduled -p "promote-cache-to-shared" | filecheck %s
// RUN: accopt %s --target=nvptx --emit scheduled -p "promote-cache-to-shared{rows=8 columns=8}" | filecheck %s --check-prefix=GIVEN
// RUN: accopt %s --target=nvptx --emit scheduled -p "promote-cache-to-shared" -DN=600 | filecheck %s --check-prefix=CONST
// RUN: accopt %s --target=nvptx --emit scheduled -p "promote-cache-to-shared{multiprocessors=1}" -DN=600 | filecheck %s --check-prefix=SMALL
// RUN: accopt %s --target=nvptx --emit scheduled -p "promote-cache-to-shared" -DWAIT | filecheck %s --check-prefix=WAIT

// Four versions of a product, the largest blocks first; each is taken where those behind it take longer, by
// the rounds of blocks that 132 multiprocessors run.
// CHECK:       %fastest = arith.cmpi sle
// CHECK:       %fastest_1 = arith.cmpi sle
// CHECK:       %fastest_2 = arith.cmpi sle
// CHECK:       scf.if %fastest_2
// CHECK:       accx.gang_threads [16 : i64, 16 : i64]
// CHECK:       the host chooses at launch, by the number of blocks, from blocks of 128 
// CHECK:       scf.if %fastest_1
// CHECK:       accx.gang_threads [8 : i64, 16 : i64]
// CHECK:       scf.if %fastest {
// CHECK:       accx.gang_threads [8 : i64, 8 : i64]
// CHECK:       accx.gang_threads [8 : i64, 8 : i64]
// CHECK-NOT:   accx.gang_threads

// What the user asks for, and what is known now.
// GIVEN:       accx.gang_threads [16 : i64, 16 : i64]
// GIVEN-NOT:   accx.gang_threads
// CONST:       accx.gang_threads [8 : i64, 16 : i64]
// CONST:       tile of 64 
// CONST-NOT:   accx.gang_threads
// SMALL:       accx.gang_threads [16 : i64, 16 : i64]
// SMALL:       tile of 128 
// SMALL-NOT:   accx.gang_threads

// A wait clause concerns the data operations, so that there is one version.
// WAIT:        accx.gang_threads [16 : i64, 16 : i64]
// WAIT:        its queue or wait clause allows no versions
// WAIT-NOT:    accx.gang_threads
#ifdef WAIT
#define QUEUE wait(1)
#else
#define QUEUE async(1)
#endif
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifndef N
#define N n
#endif

void product(int n, float (*restrict a)[N], float (*restrict b)[N], float (*restrict c)[N])
{
    PRAGMA(acc parallel loop collapse(2) QUEUE present(a[0:N], b[0:N], c[0:N]))
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k += 16) {
#pragma acc cache(a[i:1][k:16], b[k:16][j:1])
                for (int q = k; q < k + 16; q++)
                    sum += a[i][q] * b[q][j];
            }
            c[i][j] = sum;
        }
}
