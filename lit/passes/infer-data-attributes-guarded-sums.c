// RUN: accopt %s --target=nvptx --emit=data -o - | filecheck %s

// Conditions on the sum of two loop variables keep a subscript within the rows: the section is h * w elements.

// CHECK-LABEL: llvm.func @rows
// CHECK:         %[[ROWS:.*]] = arith.muli %w{{.*}}, %h{{.*}} : i64
// CHECK:         %[[ALL:.*]] = arith.maxsi %[[ROWS]], %[[ZERO:.*]] : i64
// CHECK:         %[[SOME:.*]] = arith.select %{{.*}}, %[[ALL]], %[[ZERO]] : i64
// CHECK:         %[[SECTION:.*]] = arith.select %{{.*}}, %[[SOME]], %[[ZERO]] : i64
// CHECK:         %in_bounds = acc.bounds lowerbound(%[[ZERO]] : i64) extent(%[[SECTION]] : i64)
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

// A nest without iterations touches nothing: where the bounds alone do not tell, a comparison does.
// CHECK-LABEL: llvm.func @multiples
// CHECK:         %[[RUNS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK:         %[[TOUCHED:.*]] = arith.select %[[RUNS]], %{{.*}}, %{{.*}} : i64
// CHECK:         %a_bounds = acc.bounds lowerbound(%{{.*}}) extent(%[[TOUCHED]] : i64)
void multiples(int n, int m, int *a)
{
#pragma acc parallel loop
    for (int i = 2; i < n; i++)
        a[m * i] = 1;
}

// A subscript that does not depend on a loop is known, though the loop's bounds are not.
// CHECK-LABEL: llvm.func @members
// CHECK:         acc.copyin varPtr(%sums : !llvm.ptr){{.*}}dataClause = #acc<data_clause acc_copy>{{.*}}name = "sums"
// CHECK:         acc.copyin varPtr(%size : !llvm.ptr){{.*}}name = "size"
struct size { int rows, columns; };
void members(int n, const struct size *size, const int *first, const int *all, int *sums)
{
#pragma acc parallel loop present(first, all)
    for (int i = 0; i < n; i++)
        for (int k = first[i]; k < first[i + 1]; k++)
            sums[i] += all[k * size->columns];
}
