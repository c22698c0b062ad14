// RUN: accopt %s -p infer-data-attributes --split-input-file --verify-diagnostics | filecheck %s

// An array without a clause under default(none).
// CHECK: error: variable 'x' has no data attribute, which default(none) demands
// CHECK: help: add a clause that names it, for example copyin(x) or firstprivate(x)
llvm.func @array(%x: !llvm.ptr) {
  acc.parallel {
    %v = llvm.load %x : !llvm.ptr -> f32
    acc.yield
  } attributes {defaultAttr = #acc<defaultvalue none>}
  llvm.return
}

// -----

// A scalar, with the default on the enclosing data construct.
// CHECK: error: variable 'n' has no data attribute, which default(none) demands
llvm.func @scalar(%n: i32) {
  acc.data {
    acc.parallel {
      %v = arith.addi %n, %n : i32
      acc.yield
    }
    acc.terminator
  } attributes {defaultAttr = #acc<defaultvalue none>}
  llvm.return
}
