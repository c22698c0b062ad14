// RUN: accopt %s --emit=acc | filecheck %s

// A pointer's value is mapped, with the section as bounds; the region uses the result.
void saxpy(int n, float a, float *x, float *y) {
#pragma acc parallel loop copyin(x[0:n]) copy(y[0:n])
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
// CHECK:      llvm.func @saxpy(%n: i32, %a: f32, %x: !llvm.ptr, %y: !llvm.ptr) {
// CHECK:        %bounds = acc.bounds lowerbound(%c0_i64 : i64) extent(%n_1 : i64) stride(%c4_i64 : i64) startIdx(%c0_i64 : i64) {strideInBytes = true}
// CHECK-NEXT:   %x_1 = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%bounds) -> !llvm.ptr {name = "x"}
// CHECK:        %y_1 = acc.copyin varPtr(%y : !llvm.ptr) varType(f32) bounds(%bounds_1) -> !llvm.ptr {dataClause = #acc<data_clause acc_copy>, name = "y"}
// CHECK-NEXT:   acc.parallel combined(loop) dataOperands(%x_1, %y_1 : !llvm.ptr, !llvm.ptr) {
// CHECK-NEXT:     acc.loop combined(parallel) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
// CHECK:            accx.element %y_1[%i] of f32 : i32
// CHECK:            accx.element %x_1[%i] of f32 : i32
// CHECK:          } attributes {inclusiveUpperbound = array<i1: false>, independent = [#acc.device_type<none>]}
// CHECK:        acc.copyout accPtr(%y_1 : !llvm.ptr) bounds(%bounds_1) to varPtr(%y : !llvm.ptr) varType(f32) {dataClause = #acc<data_clause acc_copy>, name = "y"}
// CHECK-NEXT:   acc.delete accPtr(%x_1 : !llvm.ptr) bounds(%bounds) {dataClause = #acc<data_clause acc_copyin>, name = "x"}

// Host code in a data region keeps using host values.
struct list { int n; double *x; };
double matrix[8][16];
void regions(struct list *p, int n) {
#pragma acc data copyin(p->x[0:n]) create(zero: matrix[2:3][:]) if(n > 4)
  { p->x[0] = 1; }
}
// CHECK:      llvm.func @regions
// CHECK:        %[[COND:.*]] = arith.cmpi sgt
// CHECK:        %[[AT:p_x.*]] = llvm.getelementptr inbounds %p[0, 1]
// CHECK-NEXT:   %[[X:.*]] = llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK:        %[[DX:.*]] = acc.copyin varPtr(%[[X]] : !llvm.ptr) varType(f64) varPtrPtr(%[[AT]] : !llvm.ptr) bounds(
// CHECK:        acc.create varPtr(%matrix{{.*}} : !llvm.ptr) varType(!llvm.array<8 x !llvm.array<16 x f64>>) bounds(%{{.*}}, %{{.*}}) -> !llvm.ptr {dataClause = #acc<data_clause acc_create_zero>, modifiers = #acc<data_clause_modifier zero>, name = "matrix"}
// CHECK-NEXT:   acc.data if(%[[COND]]) dataOperands(
// CHECK:          %[[HOST:.*]] = llvm.load
// CHECK:          llvm.store %{{.*}}, %{{.*}} : f64, !llvm.ptr
// CHECK:          acc.terminator

// Statements: entry operations before enter data, exit operations after exit data and update.
void statements(int n, float *a) {
#pragma acc enter data copyin(a[0:n]) async(1)
#pragma acc update self(a[2:4]) if_present
#pragma acc exit data copyout(a[0:n]) finalize wait
}
// CHECK:      llvm.func @statements
// CHECK:        %[[E:.*]] = acc.copyin varPtr(%a{{.*}} : !llvm.ptr) varType(f32) bounds(%{{.*}}) -> !llvm.ptr {structured = false, name = "a"}
// CHECK-NEXT:   acc.enter_data async(%{{.*}} : i32) dataOperands(%[[E]] : !llvm.ptr)
// CHECK:        %[[U:.*]] = acc.getdeviceptr
// CHECK-NEXT:   acc.update dataOperands(%[[U]] : !llvm.ptr) attributes {ifPresent}
// CHECK-NEXT:   acc.update_host accPtr(%[[U]] : !llvm.ptr)
// CHECK:        %[[G:.*]] = acc.getdeviceptr
// CHECK-NEXT:   acc.exit_data wait dataOperands(%[[G]] : !llvm.ptr) attributes {finalize}
// CHECK-NEXT:   acc.copyout accPtr(%[[G]] : !llvm.ptr)
