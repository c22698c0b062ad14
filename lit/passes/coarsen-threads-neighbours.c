// RUN: accopt %s --emit=transformed | filecheck %s
// RUN: accopt %s --emit=gpu | filecheck %s --check-prefix=NUMBERS

// The stores that end a body are those of one iteration after the other, where several are to one array, so that
// LLVM combines those to neighbouring elements.
// CHECK-LABEL: @complex
// CHECK:       accx.side_by_side
// CHECK-COUNT-8: llvm.load
// CHECK:         %[[RE:.*]] = accx.element
// CHECK-NEXT:    %[[RE2:.*]] = accx.element
// CHECK-COUNT-2: accx.element
// CHECK:         %[[IM:.*]] = accx.element
// CHECK-NEXT:    %[[IM2:.*]] = accx.element
// CHECK:         llvm.store %{{.*}}, %[[RE]] :
// CHECK-NEXT:    llvm.store %{{.*}}, %[[IM]] :
// CHECK-NEXT:    llvm.store %{{.*}}, %[[RE2]] :
// CHECK-NEXT:    llvm.store %{{.*}}, %[[IM2]] :

// Collapsed loops of a length that is not known: a gang divides the number of its first iteration, in 64 bits, and
// threads count on from there in 32 bits.
// NUMBERS:       %{{.*}} = arith.divui %start, %{{.*}} : i64
// NUMBERS-NOT:   divui {{.*}} i64
// NUMBERS-COUNT-5: arith.divui %{{.*}}, %{{.*}} : i32
void complex(int n, int m, float *restrict x, float f)
{
#pragma acc parallel loop collapse(2) present(x[0:2*n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float re = x[2 * (i * m + j)], im = x[2 * (i * m + j) + 1];
            x[2 * (i * m + j)] = re * f;
            x[2 * (i * m + j) + 1] = im * f;
        }
}
