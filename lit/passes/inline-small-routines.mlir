// RUN: accopt %s -p inline-small-routines --split-input-file | filecheck %s
// RUN: accopt %s -p 'inline-small-routines{limit=3}' --split-input-file | filecheck %s --check-prefix=LIMIT
// RUN: accopt %s -p 'inline-small-routines{growth=4}' --split-input-file | filecheck %s --check-prefix=GROWTH

// An index function goes into the construct, and what it calls with it; the function stays, and host code calls it.
// CHECK-LABEL: llvm.func internal @row
// CHECK-LABEL: llvm.func @caller
// CHECK-SAME:  accx.remarks = [{text = "the call of 'at' is replaced by its body"
// CHECK:       acc.parallel {
// CHECK-NEXT:    {{%row.*}} = arith.muli %n, %n
// CHECK-NEXT:    {{%k.*}} = arith.addi {{%row.*}}, %n
// CHECK:         llvm.store {{%k.*}}, %a
// CHECK-NEXT:    acc.yield
// CHECK:       llvm.call @at(%n, %n, %n)

// Three operations are within the limit, but not the four of @at.
// LIMIT-LABEL: llvm.func @caller
// LIMIT:       acc.parallel
// LIMIT-NEXT:  llvm.call @at
// A construct that may grow by four operations has room for @at, not for what it calls.
// GROWTH-LABEL: llvm.func @caller
// GROWTH:      acc.parallel
// GROWTH-NEXT: llvm.call @row
// GROWTH-NEXT: arith.addi
llvm.func internal @row(%i: i32, %m: i32) -> i32 {
  %row = arith.muli %i, %m overflow<nsw> : i32
  llvm.return %row : i32
}
llvm.func internal @at(%i: i32, %j: i32, %m: i32) -> i32 {
  %row = llvm.call @row(%i, %m) : (i32, i32) -> i32
  %k = arith.addi %row, %j overflow<nsw> : i32
  %unused = arith.constant 0 : i32
  llvm.return %k : i32
}
llvm.func @caller(%n: i32, %a: !llvm.ptr) -> i32 {
  acc.parallel {
    %k = llvm.call @at(%n, %n, %n) : (i32, i32, i32) -> i32
    llvm.store %k, %a : i32, !llvm.ptr
    acc.yield
  }
  %h = llvm.call @at(%n, %n, %n) : (i32, i32, i32) -> i32
  llvm.return %h : i32
}

// -----

// A variable of the routine is one of the innermost loop around the call.
// CHECK-LABEL: llvm.func @in_loop
// CHECK:       acc.loop control
// CHECK:         {{%t.*}} = llvm.alloca {{%.*}} x f64
// CHECK-NEXT:    llvm.store %v_1
// CHECK-NEXT:    acc.yield
// LIMIT-LABEL: llvm.func @in_loop
// GROWTH-LABEL: llvm.func @in_loop
llvm.func internal @put(%a: !llvm.ptr, %v: f64) {
  %one = arith.constant 1 : i32
  %t = llvm.alloca %one x f64 : (i32) -> !llvm.ptr
  llvm.store %v, %t : f64, !llvm.ptr
  llvm.return
}
llvm.func @in_loop(%n: i32, %a: !llvm.ptr, %v: f64) {
  acc.parallel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.call @put(%a, %v) : (!llvm.ptr, f64) -> ()
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// -----

// Loops that one thread runs go along: those marked seq, with their variables, and in a routine seq those without a
// level, which become seq.
// CHECK-LABEL: llvm.func @calls_loops
// CHECK:       acc.parallel {
// CHECK:         [[S:%.*]] = acc.private varPtr
// CHECK-NEXT:    acc.loop private([[S]] : !llvm.ptr) control
// CHECK:         } attributes {seq = [#acc.device_type<none>]}
// CHECK:         acc.loop control
// CHECK:         } attributes {accx.why = "one thread runs 'free', a routine seq", seq = [#acc.device_type<none>]}
// CHECK-NEXT:    llvm.call @unmarked
// CHECK-NEXT:    acc.yield
// LIMIT-LABEL: llvm.func @calls_loops
// GROWTH-LABEL: llvm.func @calls_loops
acc.private.recipe @private_i32 : !llvm.ptr init {
^bb0(%p: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}
acc.routine @r1 func(@free) seq
llvm.func @marked(%n: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = acc.private varPtr(%p : !llvm.ptr) varType(i32) recipe(@private_i32) -> !llvm.ptr {name = "s"}
  acc.loop private(%s : !llvm.ptr) control(%k : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    llvm.store %k, %s : i32, !llvm.ptr
    acc.yield
  } attributes {seq = [#acc.device_type<none>]}
  llvm.return
}
llvm.func @free(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.loop control(%k : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.yield
  } attributes {independent = [#acc.device_type<none>]}
  llvm.return
}
llvm.func @unmarked(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.loop control(%k : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.yield
  } attributes {independent = [#acc.device_type<none>]}
  llvm.return
}
llvm.func @calls_loops(%n: i32, %p: !llvm.ptr) {
  acc.parallel {
    llvm.call @marked(%n, %p) : (i32, !llvm.ptr) -> ()
    llvm.call @free(%n) : (i32) -> ()
    llvm.call @unmarked(%n) : (i32) -> ()
    acc.yield
  }
  llvm.return
}

// -----

// These calls stay: of a function that calls itself, of a vector routine, of one with other code bound to it, of one
// that returns from the middle, of one with a loop for lanes, of one that names a variable which is not on the
// device, and with other types than the function takes.
// CHECK-LABEL: llvm.func @stays
// CHECK:       acc.parallel
// CHECK-NEXT:    llvm.call @again
// CHECK-NEXT:    llvm.call @wide
// CHECK-NEXT:    llvm.call @bound
// CHECK-NEXT:    llvm.call @middle
// CHECK-NEXT:    llvm.call @looping
// CHECK-NEXT:    llvm.call @counting
// CHECK-NEXT:    llvm.call @plain
// CHECK-NEXT:    acc.yield
// LIMIT-LABEL: llvm.func @stays
// GROWTH-LABEL: llvm.func @stays
llvm.mlir.global internal @count() : i32
acc.routine @r1 func(@wide) vector
acc.routine @r2 func(@bound) bind(@again) seq
llvm.func @again(%i: i32) {
  llvm.call @again(%i) : (i32) -> ()
  llvm.return
}
llvm.func @wide(%i: i32) {
  llvm.return
}
llvm.func @bound(%i: i32) {
  llvm.return
}
llvm.func @middle(%i: i32, %c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  llvm.return
^b:
  llvm.return
}
llvm.func @looping(%i: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.loop control(%k : i32) = (%c0 : i32) to (%i : i32) step (%c1 : i32) {
    acc.yield
  } attributes {vector = [#acc.device_type<none>], independent = [#acc.device_type<none>]}
  llvm.return
}
llvm.func @counting(%i: i32) {
  %p = llvm.mlir.addressof @count : !llvm.ptr
  llvm.store %i, %p : i32, !llvm.ptr
  llvm.return
}
llvm.func @plain(%i: i32) {
  llvm.return
}
llvm.func @stays(%i: i32, %c: i1, %wide: i64) {
  acc.parallel {
    llvm.call @again(%i) : (i32) -> ()
    llvm.call @wide(%i) : (i32) -> ()
    llvm.call @bound(%i) : (i32) -> ()
    llvm.call @middle(%i, %c) : (i32, i1) -> ()
    llvm.call @looping(%i) : (i32) -> ()
    llvm.call @counting(%i) : (i32) -> ()
    llvm.call @plain(%wide) : (i64) -> ()
    acc.yield
  }
  llvm.return
}
