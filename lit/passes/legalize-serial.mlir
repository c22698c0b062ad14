// RUN: accopt %s -p legalize-serial | filecheck %s

// Sizes become 1; data clauses, default and async stay.
// CHECK-LABEL: llvm.func @clauses
// CHECK:       %one = arith.constant 1 : i32
// CHECK-NEXT:  acc.parallel dataOperands(%x_dev : !llvm.ptr) async(%q : i32) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%one : i32) {
// CHECK-NEXT:    llvm.store %v, %x_dev : f32, !llvm.ptr
// CHECK:       } attributes {accx.from_serial, defaultAttr = #acc<defaultvalue none>}
llvm.func @clauses(%x: !llvm.ptr, %v: f32, %q: i32) {
  %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  acc.serial dataOperands(%x_dev : !llvm.ptr) async(%q : i32) {
    llvm.store %v, %x_dev : f32, !llvm.ptr
    acc.yield
  } attributes {defaultAttr = #acc<defaultvalue none>}
  llvm.return
}

// Parallel and kernels constructs are left alone.
// CHECK-LABEL: llvm.func @others
// CHECK:         acc.parallel {
// CHECK:         acc.kernels {
llvm.func @others() {
  acc.parallel {
    acc.yield
  }
  acc.kernels {
    acc.terminator
  }
  llvm.return
}
