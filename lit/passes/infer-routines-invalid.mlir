// RUN: accopt %s -p infer-routines --split-input-file --verify-diagnostics | filecheck %s

// An unknown function.
// CHECK: error: function 'rand' is called in device code, but it is neither defined in the program
// CHECK: help: add '#pragma acc routine seq' to its declaration
llvm.func @rand() -> i32
llvm.func @main() {
  acc.parallel {
    %r = llvm.call @rand() : () -> i32
    acc.yield
  }
  llvm.return
}

// -----

// A routine at a level its caller's loop already uses.
// CHECK: error: routine 'rows' has level vector, but it is called in a loop that is already partitioned over vectors
acc.routine @r func(@rows) vector
llvm.func @rows() {
  llvm.return
}
llvm.func @main(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.parallel {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.call @rows() : () -> ()
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// -----

// A global variable in a routine without declare.
// CHECK: error: global variable 'table' is used in function 'look'
// CHECK: help: add '#pragma acc declare create(table)'
llvm.mlir.global external @table() : !llvm.array<4 x f32>
llvm.func @look() -> f32 {
  %t = llvm.mlir.addressof @table : !llvm.ptr
  %v = llvm.load %t : !llvm.ptr -> f32
  llvm.return %v : f32
}
llvm.func @main() {
  acc.parallel {
    %v = llvm.call @look() : () -> f32
    acc.yield
  }
  llvm.return
}

// -----

// All symbols that device code cannot use are named at once, each at its first use; a library's function of
// another type is not the library's.
// CHECK: error: global variable 'u' is used in function 'f'
// CHECK: error: function 'rand' is called in device code
// CHECK: error: global variable 'v' is used in function 'g'
// CHECK: error: function 'sin' is called in device code, but it is declared with another type than the C library's
// CHECK: help: include the library's header, or define the function in one of the source files
// CHECK-NOT: error: global
llvm.mlir.global external @u() : i32
llvm.mlir.global external @v() : i32
llvm.func @rand() -> i32
llvm.func @sin.1(i32) -> i32 attributes {accx.entry = "sin"}
llvm.func @f() {
  %u = llvm.mlir.addressof @u : !llvm.ptr
  llvm.call @g() : () -> ()
  %u2 = llvm.mlir.addressof @u : !llvm.ptr
  %r = llvm.call @rand() : () -> i32
  llvm.return
}
llvm.func @g() {
  %v = llvm.mlir.addressof @v : !llvm.ptr
  llvm.return
}
llvm.func @main(%n: i32) {
  acc.parallel {
    llvm.call @f() : () -> ()
    %s = llvm.call @sin.1(%n) : (i32) -> i32
    acc.yield
  }
  llvm.return
}

// -----

// Each call in a loop of the routine's level is named.
// CHECK: error: routine 'rows' has level vector
// CHECK: error: routine 'rows' has level vector
acc.routine @r func(@rows) vector
llvm.func @rows() {
  llvm.return
}
llvm.func @main(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.parallel {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.call @rows() : () -> ()
      llvm.call @rows() : () -> ()
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// -----

// A pointer to a function, made on the host.
// CHECK: error: a function is called through 'f', whose value is an address on the host
// CHECK: help: call functions by name in the construct, selected by 'if' or 'switch'
llvm.func @apply(%f: !llvm.ptr, %x: f64) {
  acc.parallel {
    %r = llvm.call %f(%x) : !llvm.ptr, (f64) -> f64
    acc.yield
  }
  llvm.return
}

// -----

// Host code calls a routine that only devices have; the call in the construct is fine.
// CHECK: error: 'only' is a routine for devices only (nohost), and host code calls it
// CHECK: help: call it in a compute construct, or leave out nohost of 'only'
acc.routine @r func(@only) seq nohost
llvm.func @only() {
  llvm.return
}
llvm.func @main() {
  acc.parallel {
    llvm.call @only() : () -> ()
    acc.yield
  }
  llvm.call @only() : () -> ()
  llvm.return
}

// -----

// A routine bound to a function that is nowhere.
// CHECK: error: 'routine' binds 'f' to 'g', and no such function is defined in the program
// CHECK: help: define 'g' in one of the program's files
acc.routine @r func(@f) bind(@g) seq
llvm.func @f() {
  llvm.return
}
llvm.func @main() {
  acc.parallel {
    llvm.call @f() : () -> ()
    acc.yield
  }
  llvm.return
}

// -----

// A loop wider than the level of its routine.
// CHECK: error: a vector loop is in 'fill', a routine of level seq
// CHECK: help: give 'fill' the level vector
acc.routine @r func(@fill) seq
llvm.func @fill(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.yield
  } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
  llvm.return
}

// -----

// A call wider than the level of its routine.
// CHECK: error: a call of 'wide', which has level worker, is in 'narrow', a routine of level seq
acc.routine @r func(@wide) worker
llvm.func @wide() {
  llvm.return
}
acc.routine @s func(@narrow) seq
llvm.func @narrow() {
  llvm.call @wide() : () -> ()
  llvm.return
}

// -----

// Directives for the host in a routine.
// CHECK: error: 'wait' in 'waits', which device code calls
acc.routine @r func(@waits) seq
llvm.func @waits() {
  acc.wait
  llvm.return
}
