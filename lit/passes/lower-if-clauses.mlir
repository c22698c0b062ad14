// RUN: accopt %s -p lower-if-clauses | filecheck %s

acc.private.recipe @private_f32 : !llvm.ptr init {
^bb0(%a: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}

// The data operations run only with the device version; the host version uses host values, keeps
// its loop, and has its own private variable.
// CHECK-LABEL: llvm.func @conditional
// CHECK:         %t = llvm.alloca
// CHECK:         scf.if %c {
// CHECK:           %x_dev = acc.copyin
// CHECK:           acc.parallel dataOperands(%x_dev : !llvm.ptr) private(%t_dev : !llvm.ptr) {
// CHECK:             llvm.store %{{.*}}, %x_dev
// CHECK:           acc.copyout accPtr(%x_dev : !llvm.ptr)
// CHECK:         } else {
// CHECK-NEXT:      llvm.store %v, %t : f32, !llvm.ptr
// CHECK-NEXT:      acc.loop
// CHECK:             llvm.store %v, %x : f32, !llvm.ptr
// CHECK-NOT:       acc.copyout
// CHECK:         llvm.return
llvm.func @conditional(%n: i32, %c: i1, %x: !llvm.ptr, %v: f32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %t = llvm.alloca %c1 x f32 : (i32) -> !llvm.ptr
  %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
  %t_dev = acc.private varPtr(%t : !llvm.ptr) varType(f32) recipe(@private_f32) -> !llvm.ptr {name = "t"}
  acc.parallel dataOperands(%x_dev : !llvm.ptr) private(%t_dev : !llvm.ptr) if(%c) {
    llvm.store %v, %t_dev : f32, !llvm.ptr
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.store %v, %x_dev : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.copyout accPtr(%x_dev : !llvm.ptr) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x", dataClause = #acc<data_clause acc_copy>}
  llvm.return
}

// `self` sends the work to the host where it is true; both clauses together must agree.
// CHECK-LABEL: llvm.func @both
// CHECK:         %[[NOT:.*]] = arith.xori %{{.*}}, %{{.*}} : i1
// CHECK:         %[[AND:.*]] = arith.andi %{{.*}}, %[[NOT]] : i1
// CHECK:         scf.if %[[AND]] {
// CHECK:           acc.parallel {
llvm.func @both(%c: i1, %s: i1) {
  acc.parallel self(%s) if(%c) {
    acc.yield
  }
  llvm.return
}

// `self` without a condition leaves only the host version, a true `if` only the device version.
// CHECK-LABEL: llvm.func @constant
// CHECK-NOT:     scf.if
// CHECK:         llvm.store %{{.*}}, %x_1 : f32, !llvm.ptr
// CHECK:         acc.parallel {
// CHECK:         llvm.return
llvm.func @constant(%x: !llvm.ptr, %v: f32) {
  acc.parallel {
    llvm.store %v, %x : f32, !llvm.ptr
    acc.yield
  } attributes {selfAttr}
  %true = arith.constant true
  acc.parallel if(%true) {
    acc.yield
  }
  llvm.return
}
