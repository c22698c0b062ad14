// RUN: not accopt %s -p convert-to-llvm 2>&1 | filecheck %s

// Structured control flow must be lowered before; the message says how.
llvm.func @f(%c: i1) {
  // CHECK: 'scf.if' has no counterpart in llvm
  // CHECK: lower-scf-to-cf
  scf.if %c {
    "test.op"() : () -> ()
  }
  llvm.return
}
