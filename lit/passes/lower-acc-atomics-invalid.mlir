// RUN: accopt %s -p lower-acc-atomics --verify-diagnostics | filecheck %s

// CHECK: error: there is no atomic operation on values of type f80
// CHECK: help: use an integer of at most 64 bits, float or double
llvm.func @wide(%x: !llvm.ptr, %e: f80) {
  acc.atomic.update %x : !llvm.ptr {
  ^bb0(%old: f80):
    %new = arith.addf %old, %e : f80
    acc.yield %new : f80
  }
  llvm.return
}
