// RUN: accopt %s -p inline-cached-routines --split-input-file | filecheck %s
// RUN: accopt %s -p "inline-cached-routines{target=host}" --split-input-file | filecheck %s --check-prefix=HOST

// The body stands in the loop, its variable at the front of the loop's body; the routine has no directive left.
// CHECK-LABEL: llvm.func @window
// CHECK-SAME:  accx.remarks = [{text = "cache(r) of a seq routine: inlined into the loops that call it, in line 0"
// CHECK-NOT:   acc.cache
// CHECK-LABEL: llvm.func @caller
// CHECK:       acc.loop control(%i_1 : i32)
// CHECK:       %q_1 = llvm.alloca
// CHECK-NOT:   llvm.call
// CHECK:       %view = acc.cache varPtr(%a : !llvm.ptr)
// CHECK-NEXT:  %v_1 = llvm.load %view
// CHECK:       llvm.store %v_1, %b

// A call outside of constructs stays.
// CHECK:       llvm.call @window(%n, %a)

// The host does not cache.
// HOST:        acc.cache varPtr(%r
// HOST:        acc.loop
// HOST:        llvm.call @window
llvm.func @window(%i: i32, %r: !llvm.ptr) -> i32 {
  %one = arith.constant 1 : i32
  %q = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %first = arith.extsi %i : i32 to i64
  %length = arith.constant 9 : i64
  %c4 = arith.constant 4 : i64
  %bounds = acc.bounds lowerbound(%first : i64) extent(%length : i64) stride(%c4 : i64) {strideInBytes = true}
  %view = acc.cache varPtr(%r : !llvm.ptr) varType(i32) bounds(%bounds) -> !llvm.ptr {name = "r"}
  %v = llvm.load %view : !llvm.ptr -> i32
  llvm.store %v, %q : i32, !llvm.ptr
  llvm.return %v : i32
}
acc.routine @acc_routine_0 func(@window) seq
llvm.func @caller(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %r = llvm.call @window(%i, %a) : (i32, !llvm.ptr) -> i32
      llvm.store %r, %b : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  %s = llvm.call @window(%n, %a) : (i32, !llvm.ptr) -> i32
  llvm.return
}

// -----

// A routine that calls itself stays, and its directive says why.
// CHECK-LABEL: llvm.func @again
// CHECK:       acc.cache {{.*}}accx.why = "the routine is recursive"
// CHECK-LABEL: llvm.func @caller
// CHECK:       llvm.call @again
llvm.func @again(%i: i32, %r: !llvm.ptr) {
  %first = arith.extsi %i : i32 to i64
  %c4 = arith.constant 4 : i64
  %bounds = acc.bounds lowerbound(%first : i64) extent(%c4 : i64) stride(%c4 : i64) {strideInBytes = true}
  %view = acc.cache varPtr(%r : !llvm.ptr) varType(i32) bounds(%bounds) -> !llvm.ptr {name = "r"}
  llvm.call @again(%i, %view) : (i32, !llvm.ptr) -> ()
  llvm.return
}
acc.routine @acc_routine_0 func(@again) seq
llvm.func @caller(%n: i32, %a: !llvm.ptr) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.call @again(%i, %a) : (i32, !llvm.ptr) -> ()
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// Nor does one that returns from the middle, or that no loop calls.
// CHECK-LABEL: llvm.func @early
// CHECK:       accx.why = "the routine returns from the middle of its body: let it return at its end"
// CHECK-LABEL: llvm.func @unused
// CHECK:       accx.why = "no loop of a compute construct calls it"
llvm.func @early(%i: i32, %r: !llvm.ptr) {
  %first = arith.extsi %i : i32 to i64
  %c4 = arith.constant 4 : i64
  %bounds = acc.bounds lowerbound(%first : i64) extent(%c4 : i64) stride(%c4 : i64) {strideInBytes = true}
  %view = acc.cache varPtr(%r : !llvm.ptr) varType(i32) bounds(%bounds) -> !llvm.ptr {name = "r"}
  %v = llvm.load %view : !llvm.ptr -> i1
  cf.cond_br %v, ^bb1, ^bb2
^bb1:
  llvm.return
^bb2:
  llvm.return
}
acc.routine @acc_routine_0 func(@early) seq
llvm.func @unused(%i: i32, %r: !llvm.ptr) {
  %first = arith.extsi %i : i32 to i64
  %c4 = arith.constant 4 : i64
  %bounds = acc.bounds lowerbound(%first : i64) extent(%c4 : i64) stride(%c4 : i64) {strideInBytes = true}
  %view = acc.cache varPtr(%r : !llvm.ptr) varType(i32) bounds(%bounds) -> !llvm.ptr {name = "r"}
  llvm.return
}
acc.routine @acc_routine_1 func(@unused) seq
