// RUN: not accopt %s 2>&1 | filecheck %s

// An atomic update must fit the type of its operand.
llvm.func @f(%p: !llvm.ptr, %i: i32) {
  // CHECK: 'fadd' needs a floating-point type, got i32
  %r = llvm.atomicrmw fadd %p, %i monotonic : !llvm.ptr, i32
  llvm.return
}
