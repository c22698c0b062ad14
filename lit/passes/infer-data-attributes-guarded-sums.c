// RUN: accopt %s --target=nvptx --emit=data -o - | filecheck %s

// Conditions on the sum of two loop variables keep a subscript within the rows: the section is h * w elements.

// CHECK-LABEL: llvm.func @rows
// CHECK:         %[[ROWS:.*]] = arith.muli %w{{.*}}, %h{{.*}} : i64
// CHECK:         %[[ALL:.*]] = arith.maxsi %[[ROWS]], %[[ZERO:.*]] : i64
// CHECK:         %in_bounds = acc.bounds lowerbound(%[[ZERO]] : i64) extent(%[[ALL]] : i64)
void rows(int h, int w, const int *in, int *out)
{
#pragma acc parallel loop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int i = -1; i <= 1; i++) {
                int yy = y + i;
                if (yy >= 0 && yy < h)
                    sum += in[yy * w + x];
            }
            out[y * w + x] = sum;
        }
}
