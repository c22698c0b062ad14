// RUN: accopt %s -p 'convert-acc-compute-to-gpu{watch=true}' | filecheck %s
// RUN: accopt %s -p convert-acc-compute-to-gpu | filecheck %s --check-prefix OFF
// OFF-NOT: accx.watch

// Lanes assign the gang's scalar `t`; its copies, and the loop, are watched. `own` is the loop's private copy, `once`
// is assigned by code that all threads run: neither is.
// CHECK-LABEL: "gpu.func"
// CHECK: %once = llvm.alloca
// CHECK: %t = llvm.alloca
// CHECK: %own = llvm.alloca
// CHECK: accx.watch "write" 0 : i32 of %t, %k0 : !llvm.ptr, i32 {
// CHECK-NEXT: llvm.store %k0, %t : i32, !llvm.ptr
// CHECK: accx.watch "begin" 0 : i32 {line = {{.*}}, inside = "thread", shared_by = "gang", variables = [0 : i64]}
// CHECK: scf.for
// CHECK: accx.watch "iteration" 0 : i32
// CHECK: llvm.store %{{.*}}, %own : i32, !llvm.ptr
// CHECK-NEXT: %{{.*}} = llvm.load %t : !llvm.ptr -> i32
// CHECK-NEXT: accx.watch "read" 0 : i32 {name = "t", what = "declared at line {{.*}}, one for each gang", loops = [0 : i64], remedies = ["write reduction(OPERATOR:t) on that loop {{.*}}"]}
// CHECK: accx.watch "write" 0 : i32 of %t, %after : !llvm.ptr, i32 {
// CHECK-NEXT: llvm.store %after, %t : i32, !llvm.ptr
// CHECK: accx.watch "end" 0 : i32
// CHECK: llvm.load %t : !llvm.ptr -> i32
// CHECK-NEXT: accx.watch "read" 0 : i32
// CHECK-NOT: accx.watch
acc.private.recipe @private_i32 : !llvm.ptr init {
^bb0(%host: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}
llvm.func @main(%x: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
  %dx = acc.present varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  acc.parallel dataOperands(%dx : !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    %k0 = arith.constant 0 : i32
    %k1 = arith.constant 1 : i32
    %once = llvm.alloca %k1 x i32 : (i32) -> !llvm.ptr
    %t = llvm.alloca %k1 x i32 : (i32) -> !llvm.ptr
    llvm.store %k1, %once : i32, !llvm.ptr
    llvm.store %k0, %t : i32, !llvm.ptr
    %own = acc.private varPtr(%v : !llvm.ptr) varType(i32) recipe(@private_i32) -> !llvm.ptr {name = "own"}
    acc.loop vector private(%own : !llvm.ptr) control(%i : i32) = (%k0 : i32) to (%n : i32) step (%k1 : i32) {
      llvm.store %i, %own : i32, !llvm.ptr
      %before = llvm.load %t : !llvm.ptr -> i32
      %after = arith.addi %before, %i : i32
      llvm.store %after, %t : i32, !llvm.ptr
      acc.yield
    } attributes {inclusiveUpperbound = array<i1: false>, independent = [#acc.device_type<none>]}
    %sum = llvm.load %t : !llvm.ptr -> i32
    llvm.store %sum, %dx : i32, !llvm.ptr
    acc.yield
  }
  llvm.return
}
