// RUN: not accopt %s 2>&1 | filecheck %s

// The verifier's messages say what was expected and found.
llvm.func @f(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>) {
  // CHECK: expected a size of 4, 8 or 16 bytes, got 5
  nvvm.cp.async.shared.global %s, %g, 5, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}
