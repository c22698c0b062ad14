// RUN: accopt %s --emit=acc | filecheck %s

// An access is one operation with its subscripts as written; the rows of the array are in the IR.
struct cell { int id; float v[3]; };
double table[4][5];
void accesses(int n, int m, unsigned u, double a[n][m], double (*b)[7], struct cell *s, double **rows, float *p) {
  a[n - 1][u] = b[n][2];
  s[n].v[m] = s->v[1] + s[n].id;
  table[n][m] = rows[n][m];
  *p = *(p + n) + p[-u];
  double *row = a[n];
  row += m;
  *row = 0;
}
// CHECK:      llvm.func @accesses
// CHECK:        %[[M:.*]] = arith.extsi %m : i32 to i64
// CHECK:        %[[LESS:.*]] = arith.subi %n
// CHECK:        accx.element %a[%[[LESS]], %u] rows(%[[M]]) of f64 : i32, ui32
// CHECK:        accx.element %b[%n, 2] of !llvm.array<7 x f64> : i32
// CHECK:        accx.element %s[%n, 1, %m] of !llvm.struct<"struct.cell", (i32, !llvm.array<3 x f32>)> : i32, i32
// CHECK:        accx.element %s[0, 1, 1] of !llvm.struct
// CHECK:        accx.element %s[%n, 0] of !llvm.struct
// CHECK:        accx.element %table{{.*}}[%n, %m] of !llvm.array<5 x f64> : i32, i32
// CHECK:        %[[ROW:.*]] = accx.element %rows[%n] of !llvm.ptr : i32
// CHECK-NEXT:   %[[LOADED:.*]] = llvm.load %[[ROW]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:   accx.element %[[LOADED]][%m] of f64 : i32
// CHECK:        accx.element %p[%n] of f32 : i32
// CHECK:        accx.element %p[%{{.*}}] of f32 : ui32
// CHECK:        %[[START:.*]] = accx.element %a[%n] rows(%[[M]]) of f64 : i32
// CHECK:        llvm.getelementptr inbounds %[[START]][
