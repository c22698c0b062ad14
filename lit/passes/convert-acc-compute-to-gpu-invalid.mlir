// RUN: accopt %s -p convert-acc-compute-to-gpu --split-input-file --verify-diagnostics | filecheck %s

// Device code must not see host variables.
// CHECK: error: global variable 'factor' is used in device code but the device has no copy of it
// CHECK: help: write '#pragma acc declare create(factor)' (or copyin) after its declaration
llvm.mlir.global @factor(7 : i32) : i32
llvm.func @main(%x: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %dx = acc.present varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  acc.parallel dataOperands(%dx : !llvm.ptr) num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c1 : i32) {
    %g = llvm.mlir.addressof @factor : !llvm.ptr
    %f = llvm.load %g : !llvm.ptr -> i32
    llvm.store %f, %dx : i32, !llvm.ptr
    acc.yield
  }
  llvm.return
}

// -----

// A function without a body that is no library function.
// CHECK: error: function 'elsewhere' is called in device code but has no body here
// CHECK: help: add its source file to the command line
llvm.func @elsewhere()
llvm.func @main() {
  %c1 = arith.constant 1 : i32
  acc.parallel num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c1 : i32) {
    llvm.call @elsewhere() : () -> ()
    acc.yield
  }
  llvm.return
}

// -----

// A gang's array whose length is computed in the gang, by more than arithmetic the host repeats.
// CHECK: error: the length of the private array 'work' is not known before the compute construct
llvm.func @main(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  acc.parallel num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c32 : i32) {
    %m = arith.xori %n, %c1 : i32
    %work = llvm.alloca %m x f32 : (i32) -> !llvm.ptr
    acc.yield
  }
  llvm.return
}

// -----

// An if clause that is still there.
// CHECK: error: the compute construct still has an if or self clause
// CHECK: help: run lower-if-clauses before convert-acc-compute-to-gpu
llvm.func @main(%c: i1) {
  %c1 = arith.constant 1 : i32
  acc.parallel num_gangs({%c1 : i32}) num_workers(%c1 : i32) vector_length(%c1 : i32) if(%c) {
    acc.yield
  }
  llvm.return
}
