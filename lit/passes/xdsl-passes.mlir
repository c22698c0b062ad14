// RUN: accopt %s -p canonicalize,cse,dce | filecheck %s

// Passes of xDSL keep atomic updates, whose effect on the variable upstream's description leaves out.
// CHECK:         acc.atomic.update %x : !llvm.ptr {
// CHECK:         acc.atomic.capture {
llvm.func @count(%x: !llvm.ptr, %y: !llvm.ptr) {
  %one = arith.constant 1 : i32
  acc.parallel {
    acc.atomic.update %x : !llvm.ptr {
    ^bb0(%old: i32):
      %new = arith.addi %old, %one : i32
      acc.yield %new : i32
    }
    acc.atomic.capture {
      acc.atomic.update %x : !llvm.ptr {
      ^bb0(%old: i32):
        %new = arith.addi %old, %one : i32
        acc.yield %new : i32
      }
      acc.atomic.read %y = %x : !llvm.ptr, !llvm.ptr, i32
      acc.terminator
    }
    acc.yield
  }
  llvm.return
}
